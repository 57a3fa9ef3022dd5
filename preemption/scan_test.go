package preemption_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
)

// columnsSayTheSame: what is found by columns is what every node by itself gives.
func columnsSayTheSame(t fatal, o preemption.Options, seed uint64) *preemption.Result {
	q := gen.Crowd(seed)
	want, err := o.PreemptPlainly(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	have, err := o.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	warm, err := o.PreemptWarm(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if diff := cmp.Diff(have, warm); diff != "" {
		t.Fatalf("seed %d: (-first answer +third):\n%s", seed, diff)
	}
	want.Stats.Trials, have.Stats.Trials = 0, 0
	if diff := cmp.Diff(want, have); diff != "" {
		t.Fatalf("seed %d: (-each node +columns):\n%s", seed, diff)
	}
	return have
}

func TestColumnsSayTheSame(t *testing.T) {
	t.Parallel()
	seen := map[preemption.Verdict]int{}
	asked, violating := 0, 0
	for seed := uint64(0); seed < 250; seed += 50 / seeds(50) {
		for _, rules := range []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136} {
			r := columnsSayTheSame(t, preemption.Options{Rules: rules}, seed)
			asked++
			seen[r.Verdict]++
			if r.Violations > 0 {
				violating++
			}
		}
	}
	require.Greater(t, seen[preemption.Feasible], asked/5)
	require.Greater(t, seen[preemption.Infeasible], asked*6/100)
	require.Greater(t, seen[preemption.Fits], asked*6/100)
	require.Greater(t, violating, asked/100)
}

func FuzzColumnsSayTheSame(f *testing.F) {
	f.Fuzz(func(t *testing.T, seed uint64, older bool) {
		o := preemption.Options{}
		if older {
			o.Rules = preemption.Kubernetes136
		}
		columnsSayTheSame(t, o, seed)
	})
}
