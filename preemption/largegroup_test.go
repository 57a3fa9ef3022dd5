package preemption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// largeGroup is a group that goes whole and has a pod on each of many full nodes of one zone, the pods of
// priorities in turn.
func largeGroup(priorities ...int32) preemption.Snapshot {
	level := priorities[0]
	s := preemption.Snapshot{PodGroups: []preemption.PodGroup{{Name: "batch", Mode: disruption.All, Priority: &level}}}
	core := preemption.Resources{cluster.CPU: 1_000}
	for i := range 40 {
		n := preemption.Node{Name: fmt.Sprintf("n%02d", i), Allocatable: core, Labels: map[string]string{"zone": "z"}}
		p := preemption.Pod{Name: fmt.Sprintf("b%02d", i), Node: n.Name, Group: "batch", Priority: &priorities[i%len(priorities)], Requests: core, Labels: map[string]string{"app": "batch"}}
		s.Nodes, s.Pods = append(s.Nodes, n), append(s.Pods, p)
	}
	return s
}

// TestALargeGroupLeavesWhereverAConstraintLooks: whoever keeps apart from the pods of a group in the whole zone has
// none of them in its way once the group is evicted, though it goes to the node of one.
func TestALargeGroupLeavesWhereverAConstraintLooks(t *testing.T) {
	s, high := largeGroup(1), int32(9)
	web := preemption.Preemptor{Pods: []preemption.Pod{{
		Name: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1_000},
		AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "batch"}}}},
	}}}
	for _, o := range []preemption.Options{{}, {Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionPods}}} {
		r, err := o.Preempt(web, &s)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
		require.Len(t, r.Victims[0].Pods, 40)
		require.Empty(t, check.Verify(&s, o, web, r))
	}
}

// TestALargeGroupOfSeveralPriorities: the highest priority is read from the group's first pod, so that where its pods
// differ it is not proved that nothing has a lower one. Where they do not, it is.
func TestALargeGroupOfSeveralPriorities(t *testing.T) {
	high := int32(9)
	web := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1_000}}}}
	for _, c := range []struct {
		priorities []int32
		proved     bool
	}{{[]int32{3}, true}, {[]int32{3, 5, 1}, false}} {
		s := largeGroup(c.priorities...)
		o := preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionHighest, preemption.CriterionPods}}
		r, err := o.Preempt(web, &s)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
		require.Equal(t, c.proved, r.Optimal, "%v", c.priorities)
		require.Empty(t, check.Verify(&s, o, web, r))
	}
}
