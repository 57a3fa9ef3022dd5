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

// TestALargeGroupLeavesWhereTheValueIsLookedAt: of a group with a pod on each of many nodes, who keeps apart from them in
// its rack has those of the rack in its way, and whoever has to be with them is not helped by their leaving.
func TestALargeGroupLeavesWhereTheValueIsLookedAt(t *testing.T) {
	one, two, high := int32(1), int32(2), int32(9)
	term := []cluster.AffinityTerm{{TopologyKey: "rack", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "batch"}}}}
	ask := func(mode disruption.Mode, affinity, anti []cluster.AffinityTerm, numMembers int) *preemption.Result {
		s := largeGroup(1)
		s.PodGroups[0].Mode, s.PodGroups[0].MinCount = mode, &one
		for i := range s.Nodes {
			s.Nodes[i].Labels["rack"] = fmt.Sprint(i / 2)
		}
		web := preemption.Preemptor{Group: &preemption.PodGroup{Name: "web", MinCount: &two, Priority: &high, Topology: []cluster.TopologyConstraint{{Key: "rack"}}}}
		for i := range numMembers {
			web.Pods = append(web.Pods, preemption.Pod{Name: fmt.Sprint("web", i), Group: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 500}, Affinity: affinity, AntiAffinity: anti})
		}
		if numMembers == 1 {
			web.Group, web.Pods[0].Group = nil, ""
		}
		r, err := preemption.Options{}.Preempt(web, &s)
		require.NoError(t, err)
		require.Empty(t, check.Verify(&s, preemption.Options{}, web, r))
		return r
	}
	for _, numMembers := range []int{1, 2} {
		for mode, want := range map[disruption.Mode][2]int{disruption.All: {0, 40}, disruption.SurplusFirst: {0, 2}} {
			for i, evicted := range want {
				affinity, anti := term, []cluster.AffinityTerm(nil)
				if i == 1 {
					affinity, anti = anti, affinity
				}
				r := ask(mode, affinity, anti, numMembers)
				pods := 0
				for _, v := range r.Victims {
					pods += len(v.Pods)
				}
				require.Equal(t, evicted, pods, "%v, %d members, tie %d: %s", mode, numMembers, i, r.Message)
			}
		}
	}
}

// TestALargeGroupLeavesWhereAnyValueIsLookedAt: the nodes of a domain are in several racks, of which the pods of a large group keep
// the gang away.
func TestALargeGroupLeavesWhereAnyValueIsLookedAt(t *testing.T) {
	one, high := int32(1), int32(9)
	s := preemption.Snapshot{PodGroups: []preemption.PodGroup{{Name: "batch", Mode: disruption.All, MinCount: &one}}}
	for i := range 14 {
		n := preemption.Node{Name: fmt.Sprintf("n%02d", i), Allocatable: preemption.Resources{cluster.CPU: 1_000}, Labels: map[string]string{"rack": fmt.Sprint(i % 7)}}
		switch i {
		case 0:
			n.Labels["pair"], n.Allocatable[cluster.CPU] = "x", 500
		case 1:
			n.Labels["pair"] = "x"
		}
		s.Nodes = append(s.Nodes, n)
		if i != 7 && i != 13 {
			s.Pods = append(s.Pods, preemption.Pod{Name: "b" + n.Name, Node: n.Name, Group: "batch", Labels: map[string]string{"app": "batch"}, Requests: preemption.Resources{cluster.CPU: 100}})
		}
	}
	term := []cluster.AffinityTerm{{TopologyKey: "rack", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "batch"}}}}
	web := preemption.Preemptor{
		Group: &preemption.PodGroup{Name: "web", MinCount: &one, Priority: &high, Topology: []cluster.TopologyConstraint{{Key: "pair"}}},
		Pods:  []preemption.Pod{{Name: "web", Group: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1_000}, AntiAffinity: term}},
	}
	r, err := preemption.Options{}.Preempt(web, &s)
	require.NoError(t, err)
	require.Empty(t, check.Verify(&s, preemption.Options{}, web, r))
	require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
	require.Len(t, r.Victims, 1)
	web.Pods[0].Affinity, web.Pods[0].AntiAffinity = term, nil
	r, err = preemption.Options{}.Preempt(web, &s)
	require.NoError(t, err)
	require.Empty(t, check.Verify(&s, preemption.Options{}, web, r))
	require.Equal(t, preemption.Infeasible, r.Verdict, "whoever is to be near has to go")
}

// TestWhatIsNotLookedAtIsTold: where constraints look at the pods of a large group wherever these are, so many of them
// leave and come back, and no more; the domains that are left are told of, and nothing is said to be proved.
func TestWhatIsNotLookedAtIsTold(t *testing.T) {
	const nodes = 1_200
	one, two, high := int32(1), int32(2), int32(9)
	s := preemption.Snapshot{PodGroups: []preemption.PodGroup{{Name: "batch", Mode: disruption.SurplusFirst, MinCount: &one}}}
	for i := range nodes {
		n := preemption.Node{Name: fmt.Sprintf("n%04d", i), Allocatable: preemption.Resources{cluster.CPU: 1_000}, Labels: map[string]string{"host": fmt.Sprint(i)}}
		s.Nodes = append(s.Nodes, n)
		for _, p := range []preemption.Pod{{Name: "b" + n.Name, Group: "batch", Labels: map[string]string{"app": "batch"}}, {Name: "p" + n.Name}} {
			p.Node, p.Requests = n.Name, preemption.Resources{cluster.CPU: 500}
			s.Pods = append(s.Pods, p)
		}
	}
	pod := func(name, group string, cpuMilli int64) preemption.Pod {
		return preemption.Pod{
			Name: name, Group: group, Priority: &high, Labels: map[string]string{"app": "batch"}, Requests: preemption.Resources{cluster.CPU: cpuMilli},
			Affinity: []cluster.AffinityTerm{{TopologyKey: "host", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "batch"}}}},
		}
	}
	asked := map[string]preemption.Preemptor{"gang": {
		Group: &preemption.PodGroup{Name: "web", MinCount: &two, Priority: &high, Topology: []cluster.TopologyConstraint{{Key: "host"}}},
		Pods:  []preemption.Pod{pod("web0", "web", 300), pod("web1", "web", 301)},
	}}
	for name, p := range asked {
		r, err := preemption.Options{}.Preempt(p, &s)
		require.NoError(t, err, name)
		require.Equal(t, preemption.Feasible, r.Verdict, name)
		require.False(t, r.Stats.Exact, name)
		told := map[string]int{}
		for _, x := range r.Rejected {
			told[x.Reason] = x.Domains
		}
		require.Positive(t, told["not looked at"], name)
		require.Less(t, told["not looked at"], nodes, name)
		require.Empty(t, check.Verify(&s, preemption.Options{}, p, r), name)
	}
}
