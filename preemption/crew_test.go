package preemption_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
)

// TestCrewsDoNotMatter: nodes that are shared out among several searches give what one
// search gives, to the last count; in chunks of another size, all but the count of
// checks.
func TestCrewsDoNotMatter(t *testing.T) {
	profile := gen.Everything()
	profile.Guards, profile.MaxNodes, profile.MaxPods = true, 12, 60
	seen, refused := map[preemption.Verdict]int{}, 0
	for seed := range uint64(300) {
		q := gen.Random(seed, profile)
		o := seededOptions(seed)
		if seed%4 == 0 {
			o.Cost.Objective = true
		}
		whole, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil {
			refused++
			continue
		}
		one, err := o.PreemptInChunks(q.Preemptor, &q.Snapshot, 1, 2)
		require.NoError(t, err)
		for _, goroutines := range []int{2, 5} {
			several, err := o.PreemptInChunks(q.Preemptor, &q.Snapshot, goroutines, 2)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(one, several), "seed %d, %d goroutines", seed, goroutines)
		}
		seen[one.Verdict]++
		one.Stats.Trials, whole.Stats.Trials = 0, 0
		require.Empty(t, cmp.Diff(whole, one), "seed %d", seed)
	}
	require.Less(t, refused, 100, "questions that can't be asked")
	for _, v := range []preemption.Verdict{preemption.Fits, preemption.Feasible, preemption.Infeasible} {
		require.Greater(t, seen[v], 20, v)
	}
}
