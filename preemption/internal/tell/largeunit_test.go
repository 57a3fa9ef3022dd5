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

// TestCandidatesListSoManyPods: where a large group is a victim on every node, the answer does not grow with the square of it: it is
// told with its pods on the node, and how many more go. The one that is chosen lists all.
func TestCandidatesListSoManyPods(t *testing.T) {
	const nodes = 760
	low, high, one, many := int32(1), int32(9), int32(1), int32(2*nodes)
	s := &preemption.Snapshot{PodGroups: []preemption.PodGroup{
		{Name: "all", Mode: disruption.All, MinCount: &one, Priority: &low},
		{Name: "broken", Mode: disruption.All, MinCount: &many, Priority: &low}, // costs nothing where the options say so
	}}
	for i := range nodes + 2 {
		n := cluster.Node{Name: fmt.Sprintf("n%04d", i), Allocatable: cluster.Resources{cluster.CPU: 2}, Labels: map[string]string{"host": fmt.Sprintf("%04d", i)}}
		p := preemption.Pod{Name: "p" + n.Name, Node: n.Name, Group: "all", Priority: &low, Requests: cluster.Resources{cluster.CPU: 2}}
		if i >= nodes {
			p.Group = "" // nobody elsewhere goes with it
		} else if i%2 == 0 {
			p.Group = "broken"
		}
		s.Nodes, s.Pods = append(s.Nodes, n), append(s.Pods, p)
	}
	const size = nodes / 2
	first := 262_144 / (size - 1) // so many list the others of a group
	pod := preemption.Pod{Name: "a", Requests: cluster.Resources{cluster.CPU: 1}, Priority: &high}
	member := pod
	member.Group = "gang"
	for name, p := range map[string]preemption.Preemptor{
		"pod":  {Pods: []preemption.Pod{pod}},
		"gang": {Group: &preemption.PodGroup{Name: "gang", MinCount: &one, Priority: &high, Topology: []cluster.TopologyConstraint{{Key: "host"}}}, Pods: []preemption.Pod{member}},
	} {
		for _, free := range []bool{false, true} {
			t.Run(fmt.Sprint(name, free), func(t *testing.T) {
				o := preemption.Options{Candidates: true, BrokenGroupsFree: free, Objective: []preemption.CriterionName{preemption.CriterionPods}}
				r, err := o.Preempt(p, s)
				require.NoError(t, err)
				require.Len(t, r.Candidates, nodes+2)
				chosen := 0
				for i, c := range r.Candidates {
					v, listed := c.Victims[0], size
					switch {
					case c.Domain == r.Domain:
						require.Equal(t, r.Victims, c.Victims)
						chosen = i
						continue
					case i >= nodes, i-chosen > first && free, i >= first && !free:
						listed = 1
					}
					require.Len(t, v.Pods, listed, c.Domain)
					require.Equal(t, map[bool]int{true: size - listed}[i < nodes], v.Unlisted, c.Domain)
					require.Contains(t, fmt.Sprint(v.Pods), s.Pods[i].Name)
				}
				require.Empty(t, check.Verify(s, o, p, r))
				for at, forge := range map[int]func(v *preemption.Victim){
					1:         func(v *preemption.Victim) { v.Unlisted, v.Pods = size-1, v.Pods[:1] },
					nodes - 1: func(v *preemption.Victim) { v.Unlisted-- },
					nodes - 2: func(v *preemption.Victim) { *v = r.Candidates[3].Victims[0] },
					nodes - 3: func(v *preemption.Victim) { v.Name = "broke" },
					nodes + 1: func(v *preemption.Victim) { v.Unlisted = 300_000 },
				} {
					forged := *r
					forged.Candidates = slices.Clone(r.Candidates)
					c := &forged.Candidates[at]
					c.Victims = slices.Clone(c.Victims)
					forge(&c.Victims[0])
					require.NotEmpty(t, check.Verify(s, o, p, &forged), "the one at %d", at)
				}
			})
		}
	}
}

func TestManyGroupsAreCounted(t *testing.T) {
	one := int32(1)
	s := &preemption.Snapshot{Nodes: []preemption.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 7}}}}
	for i := range 7 {
		p := preemption.Pod{Name: fmt.Sprint("p", i), Node: "n", Requests: cluster.Resources{cluster.CPU: 1}}
		if i < 5 {
			p.Group = p.Name
			s.PodGroups = append(s.PodGroups, preemption.PodGroup{Name: p.Name, Mode: disruption.All, MinCount: &one})
		}
		s.Pods = append(s.Pods, p)
	}
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: &one, Requests: cluster.Resources{cluster.CPU: 7}}}}
	r, err := preemption.Options{}.Preempt(p, s)
	require.NoError(t, err)
	require.Contains(t, r.Message, ", 3 more groups and 2 pods are evicted")
}
