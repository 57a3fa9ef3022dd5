package preemption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// decidesAlike: a decision is its result in short, whatever was asked before.
func decidesAlike(t fatal, pl *preemption.Planner, p preemption.Preemptor) preemption.Decision {
	r, err := pl.Preempt(p)
	if err != nil {
		t.Fatalf("%v", err)
	}
	want := preemption.Decision{Verdict: r.Verdict, Domain: r.Domain, Violations: r.Violations}
	for i, v := range r.Victims {
		want.Pods += len(v.Pods)
		if i == 0 {
			want.Highest = v.Pods[0].Priority
		}
	}
	for i := range 3 { // the first time, with what the first left, at once
		have, err := pl.Decide(p)
		if err != nil || have != want {
			t.Fatalf("Decide %d: %+v, %v, want %+v", i, have, err, want)
		}
	}
	return want
}

func TestDecideIsTheResultInShort(t *testing.T) {
	verdicts := map[preemption.Verdict]int{}
	for seed := range uint64(60) {
		q := gen.Crowd(seed)
		pl, err := preemption.NewPlanner(&q.Snapshot, preemption.Options{})
		require.NoError(t, err)
		verdicts[decidesAlike(t, pl, q.Preemptor).Verdict]++
	}
	require.Greater(t, verdicts[preemption.Feasible], 10)
	require.Greater(t, verdicts[preemption.Infeasible], 2)
	require.Greater(t, verdicts[preemption.Fits], 2)
	for seed := range uint64(300) {
		q := gen.Random(seed, gen.Everything())
		pl, err := preemption.NewPlanner(&q.Snapshot, preemption.Options{Rules: preemption.Kubernetes136})
		require.NoError(t, err)
		verdicts[decidesAlike(t, pl, q.Preemptor).Verdict]++
	}
	require.Greater(t, verdicts[preemption.Waiting]+verdicts[preemption.NotEligible], 2)
}

// TestDecideAgainAllocatesNothing: a shape that was asked about before, by name. A
// pod given inline costs the check of what it says.
func TestDecideAgainAllocatesNothing(t *testing.T) {
	snap := gen.Fleet(100, 30, 1, gen.Uniform)
	p := gen.FleetPod(1)
	snap.Pods = append(snap.Pods, p.Pods[0])
	pl, err := preemption.NewPlanner(&snap, preemption.Options{})
	require.NoError(t, err)
	named := preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Pods[0].Namespace, Name: p.Pods[0].Name}
	p.Pods[0].Name = "another"
	for _, c := range []struct {
		p    preemption.Preemptor
		most float64
	}{{named, 0}, {p, 1}} {
		decidesAlike(t, pl, c.p)
		require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
			if d, err := pl.Decide(c.p); err != nil || d.Verdict != preemption.Feasible {
				t.Fatal(d, err)
			}
		}), c.most)
	}
}
