package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestTheRoomForManyUnlikeMembersIsTold: of a gang that has used up its looks, too.
func TestTheRoomForManyUnlikeMembersIsTold(t *testing.T) {
	const nodes = 2200
	high, all := int32(10), int32(nodes+1)
	s := &preemption.Snapshot{}
	p := preemption.Preemptor{Group: &preemption.PodGroup{Name: "job", MinCount: &all, Priority: &high}}
	for i := range nodes + 1 {
		p.Pods = append(p.Pods, preemption.Pod{
			Name: fmt.Sprint("m", i), Group: "job", Priority: &high, Requests: preemption.Resources{cluster.CPU: int64(500_001 + i*7919%100_003)},
		})
		if name := fmt.Sprint("n", i); i < nodes {
			s.Nodes = append(s.Nodes, preemption.Node{Name: name, Allocatable: preemption.Resources{cluster.CPU: 1_000_000}})
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("old", i), Node: name, Requests: preemption.Resources{cluster.CPU: 1_000_000}})
		}
	}
	r, err := preemption.Preempt(p, s)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.False(t, r.Stats.Exact)
	require.Contains(t, r.Message, "room for 2200 of the 2201 pods")
	require.Len(t, r.Unplaced, 1)
	require.Len(t, r.Unplaced[0].Pods, 1)
}

// A gang of unlike members that fills the free room of the nodes to the brim, in its own
// order, fits: nobody is evicted for it, whoever could be.
func TestUnlikeMembersThatFillTheNodesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const group = "job"
		high := int32(100)
		s := &preemption.Snapshot{PodGroups: []preemption.PodGroup{{Name: group, Priority: &high}}}
		for n := range rapid.IntRange(3, 6).Draw(t, "nodes") {
			node := preemption.Node{Name: fmt.Sprintf("n%d", n), Allocatable: preemption.Resources{cluster.CPU: 2}}
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprintf("old%d", n), Node: node.Name, Requests: preemption.Resources{cluster.CPU: 2}})
			for _, cpu := range rapid.SliceOfN(rapid.Int64Range(1, 9), 3, 5).Draw(t, "on a node") {
				node.Allocatable[cluster.CPU] += cpu
				s.Pods = append(s.Pods, preemption.Pod{
					Name: fmt.Sprintf("m%02d", len(s.Pods)), Group: group, Priority: &high, Requests: preemption.Resources{cluster.CPU: cpu},
				})
			}
			s.Nodes = append(s.Nodes, node)
		}
		least := int32(len(s.Pods) - len(s.Nodes))
		s.PodGroups[0].MinCount = &least
		r, err := preemption.Preempt(preemption.Preemptor{Kind: preemption.KindPodGroup, Name: group}, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Fits, r.Verdict)
		require.Len(t, r.Nominations, int(least))
	})
}

// A group that is left out, as enough others have a place, gets one all the same where
// nobody more goes for it: beneath a tree, too, and within the region of the others.
func TestGroupsLeftOutGetTheRoomThatIsLeft(t *testing.T) {
	high, two, three := int32(100), int32(2), int32(3)
	inRack := []preemption.TopologyConstraint{{Key: "rack"}}
	s := &preemption.Snapshot{
		CompositePodGroups: []preemption.CompositePodGroup{
			{Name: "job", Priority: &high, MinGroupCount: &three},
			{Name: "inner", Parent: "job", Priority: &high, MinGroupCount: &two, Topology: inRack},
		},
		PodGroups: []preemption.PodGroup{{Name: "a", Parent: "inner"}, {Name: "b", Parent: "inner"}, {Name: "c", Parent: "inner"}, {Name: "d", Parent: "job"}, {Name: "e", Parent: "job"}},
		Nodes: []preemption.Node{
			{Name: "n1", Labels: map[string]string{"rack": "r1"}, Allocatable: preemption.Resources{cluster.CPU: 2}},
			{Name: "n2", Labels: map[string]string{"rack": "r1"}, Allocatable: preemption.Resources{cluster.CPU: 3}},
			{Name: "n3", Labels: map[string]string{"rack": "r2"}},
		},
		Pods: []preemption.Pod{
			{Name: "old1", Node: "n1", Requests: preemption.Resources{cluster.CPU: 2}},
			{Name: "old2", Node: "n2", Requests: preemption.Resources{cluster.CPU: 3}},
		},
	}
	for i := range s.PodGroups {
		g := &s.PodGroups[i]
		g.Priority = &high
		s.Pods = append(s.Pods, preemption.Pod{Name: g.Name, Group: g.Name, Priority: &high, Requests: preemption.Resources{cluster.CPU: 1}})
	}
	r, err := preemption.Options{Members: preemption.MinCount}.Preempt(preemption.Preemptor{Kind: preemption.KindCompositePodGroup, Name: "job"}, s)
	require.NoError(t, err)
	require.Len(t, r.Victims, 2, "four members are needed: two of a rack, and two more")
	require.Len(t, r.Nominations, 5, "the third of the rack goes where room is left")
}

// A placement that no placer found has its own groups in place: those that were left out
// there, or lie elsewhere, get nobody more on account of an earlier placement. What is
// wrong with an answer the verifier tells.
func TestFurtherMembersGoWhereTheirGroupRuns(t *testing.T) {
	high, low, lowest, one, two := int32(100), int32(5), int32(1), int32(1), int32(2)
	pod := func(name, group, node string, cpu int64, priority *int32) preemption.Pod {
		return preemption.Pod{Name: name, Group: group, Node: node, Priority: priority, Requests: preemption.Resources{cluster.CPU: cpu}}
	}
	chosen := func(p preemption.Pod) preemption.Pod {
		p.NodeSelector = map[string]string{"role": "h"}
		return p
	}
	node := func(name string, cpu int64, labels ...string) preemption.Node {
		n := preemption.Node{Name: name, Labels: map[string]string{}, Allocatable: preemption.Resources{cluster.CPU: cpu}}
		for i := 0; i < len(labels); i += 2 {
			n.Labels[labels[i]] = labels[i+1]
		}
		return n
	}
	for name, c := range map[string]struct {
		s       preemption.Snapshot
		limits  preemption.Limits
		victims []string
	}{
		"in a group that may not run": {
			s: preemption.Snapshot{
				CompositePodGroups: []preemption.CompositePodGroup{{Name: "job", Priority: &high, MinGroupCount: &one}},
				PodGroups: []preemption.PodGroup{
					{Name: "g", Parent: "job", Priority: &high, MinCount: &two}, {Name: "k", Parent: "job", Priority: &high, MinCount: &one},
				},
				Nodes: []preemption.Node{node("a1", 4), node("c1", 1, "role", "h")},
				Pods: []preemption.Pod{
					pod("v", "", "a1", 2, &low), pod("x", "", "c1", 1, &lowest),
					pod("p1", "g", "", 2, &high), pod("p2", "g", "", 2, &high), chosen(pod("q", "k", "", 1, &high)),
				},
			},
			victims: []string{"x"},
		},
		"in another rack": {
			s: preemption.Snapshot{
				CompositePodGroups: []preemption.CompositePodGroup{{Name: "job", Priority: &high}},
				PodGroups: []preemption.PodGroup{
					{Name: "g", Parent: "job", Priority: &high, MinCount: &one, Topology: []preemption.TopologyConstraint{{Key: "rack"}}},
					{Name: "h", Parent: "job", Priority: &high, MinCount: &one},
				},
				Nodes: []preemption.Node{node("a1", 4, "rack", "A"), node("b1", 2, "rack", "B"), node("c1", 2, "role", "h"), node("d1", 2, "role", "h")},
				Pods: []preemption.Pod{
					pod("v", "", "a1", 2, &low), pod("x1", "", "c1", 1, &lowest), pod("x2", "", "c1", 1, &lowest), pod("y", "", "d1", 2, &low),
					pod("p1", "g", "", 2, &high), pod("p2", "g", "", 2, &high), chosen(pod("q", "h", "", 2, &high)),
				},
			},
			limits:  preemption.Limits{Victims: 1},
			victims: []string{"y"},
		},
	} {
		r, err := preemption.Options{Members: preemption.MinCount, Limits: c.limits}.Preempt(preemption.Preemptor{Kind: preemption.KindCompositePodGroup, Name: "job"}, &c.s)
		require.NoError(t, err, name)
		var victims []string
		for _, v := range r.Victims {
			victims = append(victims, v.Name)
		}
		require.Equal(t, c.victims, victims, name)
	}
}

// TestUnlikeMembersThatMoveEvictNobodyInVain: where members are too many to look at every placement,
// somebody may have been kept out for want of one that is not in the way in the end.
func TestUnlikeMembersThatMoveEvictNobodyInVain(t *testing.T) {
	least, zero, high := int32(3), int32(0), int32(1000)
	guessed := 0
	for seed := range seeds(300) {
		rng := rand.New(rand.NewPCG(seed, 11))
		s := &preemption.Snapshot{PodGroups: []preemption.PodGroup{{Name: "gang", MinCount: &least, Priority: &high}}}
		for i := range 4 {
			name := fmt.Sprint("n", i)
			s.Nodes = append(s.Nodes, preemption.Node{Name: name, Allocatable: preemption.Resources{"cpu": 3000, "memory": 4}})
			for k := range 6 + rng.IntN(5) { // more than there is room for
				s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprintf("p%d-%d", i, k), Node: name, Priority: &zero,
					Requests: preemption.Resources{"cpu": int64(1+rng.IntN(4)) * 500, "memory": int64(rng.IntN(4))}})
			}
		}
		for i := range 12 {
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("m", i), Group: "gang", Priority: &high,
				Requests: preemption.Resources{"cpu": int64(1+rng.IntN(4)) * 500, "memory": int64(rng.IntN(2) * 3)}})
		}
		r, err := preemption.Options{Rules: preemption.Kubernetes136}.Preempt(preemption.Preemptor{Kind: cluster.KindPodGroup, Name: "gang"}, s)
		require.NoError(t, err) // and that every victim is in the way is verified
		require.Equal(t, preemption.Feasible, r.Verdict)
		if !r.Stats.Exact {
			guessed++
		}
	}
	require.Greater(t, guessed, int(seeds(30)))
}
