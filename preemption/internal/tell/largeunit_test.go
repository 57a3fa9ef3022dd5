package tell_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
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

// TestCandidatesListSoManyPods: where a large group is a victim on every node, the answer does not grow with the square of it. Those
// who need nobody elsewhere to go list their victims to the end, and so does the one that is chosen.
func TestCandidatesListSoManyPods(t *testing.T) {
	const nodes = 600
	low, high, one := int32(1), int32(9), int32(1)
	s := &preemption.Snapshot{PodGroups: []preemption.PodGroup{{Name: "all", Mode: disruption.All, MinCount: &one, Priority: &low}}}
	for i := range nodes + 2 {
		n := cluster.Node{Name: fmt.Sprintf("n%03d", i), Allocatable: cluster.Resources{cluster.CPU: 2}, Labels: map[string]string{"host": fmt.Sprintf("%03d", i)}}
		p := preemption.Pod{Name: "p" + n.Name, Node: n.Name, Group: "all", Priority: &low, Requests: cluster.Resources{cluster.CPU: 2}}
		if i >= nodes {
			p.Group = "" // nobody elsewhere goes with it
		}
		s.Nodes, s.Pods = append(s.Nodes, n), append(s.Pods, p)
	}
	first := 262_144 / (nodes - 1) // so many list the others of the group
	pod := preemption.Pod{Name: "a", Requests: cluster.Resources{cluster.CPU: 1}, Priority: &high}
	member := pod
	member.Group = "gang"
	for name, p := range map[string]preemption.Preemptor{
		"pod":  {Pods: []preemption.Pod{pod}},
		"gang": {Group: &preemption.PodGroup{Name: "gang", MinCount: &one, Priority: &high, Topology: []cluster.TopologyConstraint{{Key: "host"}}}, Pods: []preemption.Pod{member}},
	} {
		t.Run(name, func(t *testing.T) {
			o := preemption.Options{Candidates: true, Objective: []preemption.CriterionName{preemption.CriterionPods}}
			r, err := o.Preempt(p, s)
			require.NoError(t, err)
			require.Len(t, r.Candidates, nodes+2)
			require.Equal(t, r.Candidates[nodes].Domain, r.Domain)
			for i, c := range r.Candidates[:nodes] {
				if i < first {
					require.Len(t, c.Victims[0].Pods, nodes, c.Domain)
					require.Zero(t, c.Unlisted)
				} else {
					require.Empty(t, c.Victims)
					require.Equal(t, nodes, c.Unlisted)
				}
			}
			require.Len(t, r.Candidates[nodes].Victims, 1)
			require.Len(t, r.Candidates[nodes+1].Victims, 1)
			require.Empty(t, check.Verify(s, o, p, r))
			for i, forge := range []func(c *preemption.Candidate){
				func(c *preemption.Candidate) { c.Unlisted, c.Victims = nodes, nil },
				func(c *preemption.Candidate) { c.Victims, c.Unlisted = r.Candidates[0].Victims, 0 },
			} {
				forged := *r
				forged.Candidates = slices.Clone(r.Candidates)
				forge(&forged.Candidates[[]int{1, first}[i]])
				require.NotEmpty(t, check.Verify(s, o, p, &forged), "forgery %d", i)
			}
		})
	}
}
