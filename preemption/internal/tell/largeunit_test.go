package tell_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestCandidatesShareALargeUnit: a group that goes whole and has pods on every node is a victim on each of them, and its
// pods are told once.
func TestCandidatesShareALargeUnit(t *testing.T) {
	const nodes = 40
	low, high, one, two := int32(1), int32(9), int32(1), int32(2)
	s := &preemption.Snapshot{
		PodGroups: []preemption.PodGroup{{Namespace: "default", Name: "all", Mode: disruption.All, MinCount: &one, Priority: &low}},
		Budgets:   []preemption.Budget{{Namespace: "default", Name: "web", Allowed: 100, Selector: &disruption.Selector{}}},
	}
	for i := range nodes {
		n := cluster.Node{Name: fmt.Sprintf("n%02d", i), Allocatable: cluster.Resources{cluster.CPU: 2}, Labels: map[string]string{"host": fmt.Sprint(i)}}
		s.Nodes = append(s.Nodes, n)
		s.Pods = append(s.Pods, preemption.Pod{Namespace: "default", Name: "p" + n.Name, Node: n.Name, Group: "all", Priority: &low, Requests: cluster.Resources{cluster.CPU: 2}})
	}
	pod := func(name, group string) preemption.Pod {
		return preemption.Pod{Namespace: "default", Name: name, Group: group, Priority: &high, Requests: cluster.Resources{cluster.CPU: 1}}
	}
	for name, p := range map[string]preemption.Preemptor{
		"pod": {Pods: []preemption.Pod{pod("a", "")}},
		"gang": {
			Group: &preemption.PodGroup{Namespace: "default", Name: "gang", MinCount: &two, Priority: &high, Topology: []cluster.TopologyConstraint{{Key: "host"}}},
			Pods:  []preemption.Pod{pod("a", "gang"), pod("b", "gang")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := preemption.Options{Candidates: true}.Preempt(p, s)
			require.NoError(t, err)
			require.Equal(t, preemption.Feasible, r.Verdict)
			require.Len(t, r.Candidates, nodes)
			for _, c := range r.Candidates {
				require.Len(t, c.Victims, 1)
				v := c.Victims[0]
				require.Len(t, v.Pods, nodes)
				require.Equal(t, nodes, cap(v.Pods), "what is appended is nobody else's")
				require.Same(t, &r.Candidates[0].Victims[0].Pods[0], &v.Pods[0])
				require.Equal(t, []string{"default/web"}, v.Budgets)
				for i, told := range v.Pods {
					require.Equal(t, preemption.PodRef{Namespace: "default", Name: s.Pods[i].Name}, told.PodRef)
					require.Equal(t, s.Pods[i].Node, told.Node)
				}
			}
		})
	}
}
