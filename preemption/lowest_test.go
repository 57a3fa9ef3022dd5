package preemption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestVictimsBelowTheLowestLevelViolate: who violates a budget is tried twice where the
// lowest level is looked for, and violates it all the same.
func TestVictimsBelowTheLowestLevelViolate(t *testing.T) {
	low, high := int32(10), int32(1000)
	cpu := func(milli int64) preemption.Resources { return preemption.Resources{cluster.CPU: milli} }
	s := preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cpu(2000)}},
		Pods: []preemption.Pod{
			{Name: "a", Node: "n1", Labels: map[string]string{"app": "web"}, Priority: &low, Requests: cpu(2000)},
			{Name: "p", Priority: &high, Requests: cpu(2000)},
		},
		Budgets: []preemption.Budget{{Name: "b", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "web"}}}},
	}
	r, err := preemption.Options{LowestLevel: true}.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "p"}, &s)
	require.NoError(t, err)
	require.Equal(t, 1, r.Violations)
	require.True(t, r.Victims[0].Violates)
}

// TestLowestGangsHold: a gang that moves while those come back who violate budgets keeps its seats where
// the placers find no other placement for as many; every answer is verified.
func TestLowestGangsHold(t *testing.T) {
	t.Parallel()
	one, asked := int32(1), 0
	for seed := range seeds(2500) {
		q := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 3, MaxPods: 12, Budgets: seed%2 == 0, Nominations: seed%4 == 0}, MaxMembers: 4})
		if !asksSomething(q) {
			continue
		}
		for i := range q.Snapshot.PodGroups {
			q.Snapshot.PodGroups[i].MinCount, q.Snapshot.PodGroups[i].Basic = &one, false
		}
		o := preemption.Options{LowestLevel: true, Rules: preemption.Kubernetes136, Members: preemption.AllThatFit}
		pl, err := preemption.NewPlanner(&q.Snapshot, o)
		require.NoError(t, err)
		r, err := pl.Preempt(q.Preemptor)
		require.NoError(t, err, "seed %d", seed)
		if r.Verdict != preemption.Feasible {
			require.False(t, r.Verdict == preemption.Fits && len(r.Nominations) == 0, "seed %d: %s", seed, r.Message)
			continue
		}
		asked++
		require.NoError(t, pl.Evict(r), "seed %d", seed)
		for _, n := range r.Nominations {
			require.NoError(t, pl.Bind(n.Pod, n.Node), "seed %d", seed)
		}
	}
	require.Greater(t, asked, int(seeds(2500))/4)
}
