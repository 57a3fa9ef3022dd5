package preemption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// racked are racks of 20 nodes, full of groups that go as a whole and run over several nodes.
func racked(racks int) (s preemption.Snapshot) {
	low := int32(0)
	for n := range racks * 20 {
		node := preemption.Node{
			Name: fmt.Sprintf("n%03d", n), Labels: map[string]string{"rack": fmt.Sprint(n / 20)},
			Allocatable: preemption.Resources{cluster.CPU: 16_000, cluster.Pods: 110},
		}
		s.Nodes = append(s.Nodes, node)
		for i := range 8 {
			s.Pods = append(s.Pods, preemption.Pod{
				Namespace: "ml", Name: fmt.Sprintf("p%03d-%d", n, i), Group: fmt.Sprintf("g%04d", n/20*40+(n*8+i*7)%40), Node: node.Name,
				Priority: &low, Requests: preemption.Resources{cluster.CPU: 2_000},
			})
		}
	}
	for g := range racks * 40 {
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Namespace: "ml", Name: fmt.Sprintf("g%04d", g), Mode: disruption.All, Priority: &low})
	}
	return s
}

// A limit that no placement of as many members as fit keeps is kept with fewer of them, however hard is
// looked, and racks share the steps of a question: of ten times as many none takes as many.
func TestRacksShareSteps(t *testing.T) {
	t.Parallel()
	high, one := int32(1_000), int32(1)
	gang := preemption.Preemptor{
		Kind: cluster.KindPodGroup,
		Group: &preemption.PodGroup{
			Namespace: "ml", Name: "gang", Priority: &high, MinCount: &one, Topology: []preemption.TopologyConstraint{{Key: "rack"}},
		},
	}
	for i := range 20 {
		gang.Pods = append(gang.Pods, preemption.Pod{
			Namespace: "ml", Name: fmt.Sprintf("gang-%02d", i), Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: 5_000},
		})
	}
	few, many := racked(1), racked(10)
	for _, search := range []preemption.Search{preemption.Greedy, preemption.Exact} {
		o := preemption.Options{Search: search, Limits: preemption.Limits{Victims: 3}}
		r, err := o.Preempt(gang, &few)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, "%s", search)
		require.Len(t, r.Nominations, 4, "%s", search)
		require.Len(t, r.Victims, 3, "%s", search)
		require.True(t, r.Optimal || search == preemption.Greedy)

		o.Limits = preemption.Limits{}
		r, err = o.Preempt(gang, &few)
		require.NoError(t, err)
		all, err := o.Preempt(gang, &many)
		require.NoError(t, err)
		require.Less(t, all.Stats.Trials, 10*max(r.Stats.Trials, 100), "%s", search)
	}
}

// Domains that are alike get alike parts of the steps for who of an elastic group may stay, wherever they stand in
// order: as few as one by one takes, or as many as it takes to find that two small members may stay rather than a large one.
func TestDomainsShareStepsEvenly(t *testing.T) {
	t.Parallel()
	high, low, one := int32(1_000), int32(0), int32(1)
	gang := preemption.Preemptor{
		Kind: cluster.KindPodGroup, Group: &preemption.PodGroup{
			Namespace: "ml", Name: "gang", Priority: &high, Topology: []preemption.TopologyConstraint{{Key: "host"}},
		},
		Pods: []preemption.Pod{{Namespace: "ml", Name: "gang-0", Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: 6}}},
	}
	s := preemption.Snapshot{PodGroups: []preemption.PodGroup{{Namespace: "ml", Name: "large", Mode: disruption.SurplusFirst, MinCount: &one, Priority: &low}}}
	for i := range 20 {
		name := fmt.Sprintf("n%02d", i)
		s.Nodes = append(s.Nodes, preemption.Node{Name: name, Labels: map[string]string{"host": name}, Allocatable: preemption.Resources{cluster.CPU: 12}})
		for k, size := range []int64{6, 3, 3} {
			s.Pods = append(s.Pods, preemption.Pod{
				Namespace: "ml", Name: fmt.Sprintf("%s-%d", name, k), Node: name, Group: "large", Priority: &low, Requests: preemption.Resources{cluster.CPU: size},
			})
		}
	}
	stay := map[int]int{}
	for _, steps := range []int{1, 4, 8, 10, 12, 20, 0} {
		o := preemption.Options{Candidates: true, SearchSteps: steps}
		r, err := o.Preempt(gang, &s)
		require.NoError(t, err)
		require.Len(t, r.Candidates, 20)
		pods := len(r.Candidates[0].Victims[0].Pods)
		for _, c := range r.Candidates {
			require.Len(t, c.Victims, 1)
			require.Len(t, c.Victims[0].Pods, pods, "%s of %d steps", c.Domain, steps)
		}
		stay[3-pods]++
	}
	require.Equal(t, map[int]int{1: 3, 2: 4}, stay)
}

// TestChildGroupsStayInTheirRegions: each child group that requires a zone or a rack is in one of them, in clusters so
// plain that columns price its members, and nodes are vacant until somebody looks.
func TestChildGroupsStayInTheirRegions(t *testing.T) {
	feasible, several := 0, 0
	for seed := range seeds(1000) {
		p := gen.GangProfile{Profile: gen.Profile{MaxNodes: 4 + int(seed%3)*4, MaxPods: 30}, Composite: true, Topology: true, Wishes: true, MaxMembers: 8}
		q := gen.RandomGang(seed, p)
		o := preemption.Options{Members: []preemption.Members{"", preemption.MinCount}[seed%2]}
		if !asksSomething(q) || len(q.Snapshot.CompositePodGroups) == 0 {
			continue
		}
		r := ask(t, o, q)
		require.Empty(t, check.Verify(&q.Snapshot, o, q.Preemptor, r), "seed %d", seed)
		if r.Verdict == preemption.Feasible {
			if feasible++; len(r.Nominations) > 2 {
				several++
			}
		}
	}
	require.Greater(t, feasible, int(seeds(100)))
	require.Greater(t, several, int(seeds(50)))
}
