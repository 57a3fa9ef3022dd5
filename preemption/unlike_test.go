package preemption_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// drawUnlike draws a gang of members of many sizes, and a fleet in racks that is large enough for searches
// to leave placements out and to take prices over from one member to the next.
func drawUnlike(t *rapid.T) (preemption.Snapshot, preemption.Preemptor) {
	nodes := rapid.IntRange(2, 40).Draw(t, "nodes")
	pods := rapid.SampledFrom([]int{3, 8, 20}).Draw(t, "pods a node")
	snap := gen.Fleet(nodes, pods, rapid.Uint64().Draw(t, "seed"), rapid.SampledFrom(gen.Shapes()).Draw(t, "shape"))
	rack := rapid.SampledFrom([]int{2, 5, 20}).Draw(t, "nodes in a rack")
	for i := range snap.Nodes {
		snap.Nodes[i].Labels = map[string]string{
			"host": snap.Nodes[i].Name, "zone": fmt.Sprintf("z%d", i%3), "rack": fmt.Sprintf("r%02d", i/rack),
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "marks") { // some run with the labels that constraints look at, or in a group
		p := &snap.Pods[rapid.IntRange(0, len(snap.Pods)-1).Draw(t, "pod")]
		switch rapid.IntRange(0, 3).Draw(t, "as") {
		case 0:
			p.Labels = map[string]string{"job": "gang"}
		case 1:
			p.Group = "others"
		case 2:
			p.NominatedNode, p.Node = p.Node, ""
		}
	}
	priority := int32(5)
	snap.PodGroups = []preemption.PodGroup{{Namespace: "default", Name: "others", Priority: &priority, Mode: disruption.All}}
	ours := &disruption.Selector{MatchLabels: map[string]string{"job": "gang"}}
	members := rapid.IntRange(1, 24).Draw(t, "members")
	p := unlikeGang(members, 0, 0)
	p.Kind = preemption.KindPodGroup
	*p.Group.Priority = int32(rapid.SampledFrom([]int{3, 7, 1000}).Draw(t, "priority"))
	if least := int32(members); rapid.Bool().Draw(t, "all of them") {
		p.Group.MinCount = &least
	}
	if rapid.Bool().Draw(t, "in a rack") {
		p.Group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
	}
	step := rapid.Int64Range(0, 900).Draw(t, "step")
	tie := rapid.IntRange(0, 5).Draw(t, "tie")
	for i := range p.Pods {
		m := &p.Pods[i]
		m.Requests[cluster.CPU] = rapid.SampledFrom([]int64{500, 4_000, 16_000}).Draw(t, "cpu") + step*int64(i%7)
		if rapid.IntRange(0, 3).Draw(t, "asks for memory") == 0 {
			m.Requests[cluster.Memory] = rapid.Int64Range(1, 40).Draw(t, "GiB") << 30
		}
		if m.Labels = map[string]string{"job": "gang"}; tie == 0 || tie == 3 {
			m.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", Selector: ours}}
		}
		if tie == 1 || tie == 3 {
			m.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone", Selector: ours}}
		}
		if tie == 2 && i%2 == 0 {
			m.NodeSelector = map[string]string{"zone": "z0"}
		}
	}
	return snap, p
}

// TestUnlikeMembers: a gang of unlike members gets the answer that it gets where no road is open, however many
// checks there are for better placements.
func TestUnlikeMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap, p := drawUnlike(t)
		checks := rapid.SampledFrom([]int{0, 3_000, 50_000}).Draw(t, "checks")
		o := preemption.Options{
			Rules:   rapid.SampledFrom([]preemption.Rules{"", preemption.Kubernetes136}).Draw(t, "rules"),
			Members: rapid.SampledFrom([]preemption.Members{"", preemption.MinCount, preemption.AllThatFit}).Draw(t, "seated"),
		}
		answer := func() string {
			planner, err := preemption.NewPlanner(&snap, o)
			require.NoError(t, err)
			require.NoError(t, planner.Tune(1, 64, checks))
			r, err := planner.Preempt(p)
			require.NoError(t, err)
			r.Stats = preemption.Stats{} // which tell the roads apart
			text, err := json.MarshalIndent(r, "", " ")
			require.NoError(t, err)
			return string(text)
		}
		fast := answer()
		for _, road := range []string{"counting", "first seat", "price first"} {
			defer preemption.CloseRoad(road)()
		}
		if diff := gocmp.Diff(answer(), fast); diff != "" {
			t.Fatalf("the roads changed the answer (-closed +open):\n%s", diff)
		}
	})
}

// TestMembersThatMoveMakeRoom: a member whom placers leave out has a place once others have moved to where less has to go, or victims have
// come back: the verifier tells of one who has. In the last world a pod comes back since another part of a group goes.
func TestMembersThatMoveMakeRoom(t *testing.T) {
	zone := map[string]string{"zone": "z0"}
	leftOut, n := 0, seeds(6000)
	for seed := range n + 1 {
		if seed == n {
			seed = 5478
		}
		rng := rand.New(rand.NewPCG(seed, 31))
		snap, p := gen.Fleet(2+rng.IntN(3), 3+rng.IntN(6), seed, "tied"), unlikeGang(8+rng.IntN(12), 500, 93)
		*p.Group.Priority, p.Kind = 1000, preemption.KindPodGroup
		snap.Nodes[0].Labels = zone
		least, low := int32(1), int32(3)
		snap.PodGroups = []preemption.PodGroup{{
			Namespace: "default", Name: "others", Priority: &low, Mode: []disruption.Mode{disruption.All, disruption.SurplusFirst}[rng.IntN(2)], MinCount: &least,
		}}
		for i := range snap.Pods {
			if rng.IntN(3) == 0 {
				snap.Pods[i].Group, snap.Pods[i].Priority = "others", &low
			}
		}
		for i := range p.Pods {
			if p.Pods[i].Requests[cluster.CPU] += []int64{0, 3_500, 15_500}[rng.IntN(3)]; i%2 == 0 {
				p.Pods[i].NodeSelector = zone
			}
		}
		o := preemption.Options{LowestLevel: rng.IntN(4) == 0, Members: preemption.AllThatFit}
		if rng.IntN(4) == 0 {
			o.Rules = preemption.Kubernetes136
		}
		if rng.IntN(4) == 0 {
			o.Limits.Victims = 1 + rng.Int64N(12)
		}
		r, err := o.Preempt(p, &snap)
		require.NoError(t, err)
		if r.Verdict == preemption.Feasible && len(r.Nominations) < len(p.Pods) {
			leftOut++
		}
	}
	require.Greater(t, leftOut, int(n/4))
}

// TestMoreSearchNeverFindsWorse: Improved no worse than Greedy, Exact no worse than Improved, in clusters that are too large
// to look at every placement, where the steps end before the search does.
func TestMoreSearchNeverFindsWorse(t *testing.T) {
	type question struct {
		snap preemption.Snapshot
		p    preemption.Preemptor
		o    preemption.Options
	}
	questions := rapid.Custom(func(t *rapid.T) *question {
		q := &question{}
		q.snap, q.p = drawUnlike(t)
		switch rapid.IntRange(0, 3).Draw(t, "members are") {
		case 0: // alike
			for i := range q.p.Pods {
				q.p.Pods[i].Requests = q.p.Pods[0].Requests
			}
		case 1: // alone
			q.p = preemption.Preemptor{Kind: preemption.KindPod, Pods: q.p.Pods[:1]}
			q.p.Pods[0].Group = ""
		}
		q.o = preemption.Options{
			SearchSteps: rapid.SampledFrom([]int{1, 30, 300, 1000}).Draw(t, "steps"),
			Rules:       rapid.SampledFrom([]preemption.Rules{"", preemption.Kubernetes136}).Draw(t, "rules"),
			Members:     rapid.SampledFrom([]preemption.Members{preemption.MinCount, preemption.AllThatFit}).Draw(t, "members"),
			Objective:   objective(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "objective"), 1))),
			Cost:        preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}},
			LowestLevel: rapid.IntRange(0, 5).Draw(t, "lowest") == 0,
		}
		return q
	})
	better := 0
	check := func(t require.TestingT, q *question) {
		var less *preemption.Result
		var bounds []*preemption.Result
		for _, q.o.Search = range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
			r, err := q.o.Preempt(q.p, &q.snap)
			require.NoError(t, err)
			if less == nil && r.Verdict != preemption.Feasible {
				return
			}
			require.Equal(t, preemption.Feasible, r.Verdict)
			if less != nil {
				c := slices.Compare(said(r.Score), said(less.Score))
				if seats := len(less.Nominations) - len(r.Nominations); q.o.Members != preemption.MinCount {
					c = cmp.Or(seats, c)
				}
				require.LessOrEqual(t, c, 0, "%s finds %v, less search %v", q.o.Search, r.Score, less.Score)
				if c < 0 {
					better++
				}
				require.False(t, c < 0 && less.Optimal, "%s finds %v, optimal is said to be %v", q.o.Search, r.Score, less.Score)
			}
			less = r
			bounds = append(bounds, r)
		}
		for _, r := range bounds {
			if len(r.Nominations) == len(less.Nominations) {
				require.LessOrEqual(t, slices.Compare(said(r.Bound), said(less.Score)), 0, "at least %v, but %v", r.Bound, less.Score)
			}
		}
	}
	for seed := range 20 { // the same ones always, of which more search finds better in some
		check(t, questions.Example(seed))
	}
	require.Positive(t, better)
	rapid.Check(t, func(t *rapid.T) { check(t, questions.Draw(t, "question")) })
}

// TestTheFirstOfEqualRacksWins: also where one after it promises less, since nobody fits on its smaller nodes, and is looked at before.
func TestTheFirstOfEqualRacksWins(t *testing.T) {
	snap, low := preemption.Snapshot{}, int32(0)
	for rack, nodes := range [][][]int64{{{4, 2, 2}, {4, 4}}, {{4, 4}, {4, 4}}, {{4, 4}, {4, 4}, {2}, {2}}} {
		for i, sizes := range nodes { // that of the node, and of its pods
			node := fmt.Sprintf("n%d%d", rack, i)
			snap.Nodes = append(snap.Nodes, preemption.Node{
				Name: node, Labels: map[string]string{"rack": fmt.Sprint("r", rack)}, Allocatable: cluster.Resources{cluster.CPU: 1_000 * sizes[0], cluster.Pods: 9},
			})
			for k, cpu := range sizes[1:] {
				snap.Pods = append(snap.Pods, preemption.Pod{
					Namespace: "default", Name: fmt.Sprint(node, "-", k), Node: node, Priority: &low, Requests: cluster.Resources{cluster.CPU: 1_000 * cpu},
				})
			}
		}
	}
	p := unlikeGang(2, 0, 0)
	p.Kind = preemption.KindPodGroup
	for i := range p.Pods {
		p.Pods[i].Requests = cluster.Resources{cluster.CPU: 3_000 + 1_000*int64(i)}
	}
	p.Group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
	r, err := preemption.Preempt(p, &snap)
	require.NoError(t, err)
	require.Equal(t, "rack=r1", r.Domain)
}

// TestPlacementsThatConstraintsOpen: members spread over three zones, two of which open only once somebody is in
// the third one, have more placements than those that are open at first; they are not all looked at.
func TestPlacementsThatConstraintsOpen(t *testing.T) {
	low, members := int32(1), 24
	snap := preemption.Snapshot{}
	p := unlikeGang(members, 1_000, 0)
	ours := &disruption.Selector{MatchLabels: map[string]string{"job": "gang"}}
	for i := range p.Pods {
		p.Pods[i].Labels = ours.MatchLabels
		p.Pods[i].Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone", Selector: ours}}
	}
	for _, zone := range []string{"a", "b", "c"} {
		snap.Nodes = append(snap.Nodes, preemption.Node{
			Name: zone, Labels: map[string]string{"zone": zone}, Allocatable: preemption.Resources{cluster.CPU: 64_000, cluster.Pods: 110},
		})
		snap.Pods = append(snap.Pods, preemption.Pod{
			Namespace: "default", Name: zone, Node: zone, Priority: &low, Requests: preemption.Resources{cluster.CPU: 60_000},
		})
	}
	high := int32(2000)
	for _, zone := range []string{"a", "b"} {
		snap.Pods = append(snap.Pods, preemption.Pod{
			Namespace: "default", Name: "ours-" + zone, Node: zone, Labels: ours.MatchLabels, Priority: &high,
		})
	}
	least := int32(members)
	p.Kind, p.Group.MinCount = preemption.KindPodGroup, &least
	r, err := preemption.Options{}.Preempt(p, &snap)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.Len(t, r.Victims, 3)
	require.Less(t, r.Stats.Trials, 100_000)
}

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
