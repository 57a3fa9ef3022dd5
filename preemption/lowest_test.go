package preemption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
