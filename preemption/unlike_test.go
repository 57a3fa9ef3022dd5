package preemption_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/answer"
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

// decision is what the library and its plain twin must agree on.
type decision struct {
	Verdict    string
	Chosen     string
	Candidates []candidate // by node
	Cleared    []string
}

type candidate struct {
	Node       string
	Best       bool
	Victims    []string // kind namespace/name(pods), in order
	Violations int
	Overruns   int64
	Score      []int64
}

// decide asks the library.
func decide(o preemption.Options, q gen.Question) (decision, *preemption.Result, error) {
	o.Candidates, o.Explain = true, true
	r, err := o.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		return decision{}, nil, err
	}
	d := decision{Verdict: string(r.Verdict)}
	if r.Verdict == preemption.Feasible {
		d.Chosen = r.Domain
	}
	for _, c := range r.Candidates {
		out := candidate{Node: c.Domain, Best: c.Best, Violations: c.Violations, Overruns: c.Overruns}
		for _, v := range c.Victims {
			text := fmt.Sprintf("%s %s/%s(", v.Kind, v.Namespace, v.Name)
			for _, p := range v.Pods {
				text += fmt.Sprintf(" %s/%s", p.Namespace, p.Name)
			}
			out.Victims = append(out.Victims, text+" )")
		}
		for _, s := range c.Score {
			out.Score = append(out.Score, s.Value)
		}
		d.Candidates = append(d.Candidates, out)
	}
	for _, p := range r.Cleared {
		d.Cleared = append(d.Cleared, p.Namespace+"/"+p.Name)
	}
	return d, r, nil
}

// twin asks the plain twin.
func twin(o preemption.Options, q gen.Question) (decision, naive.Answer, error) {
	a, err := naive.Preempt(plain(o), q.Preemptor, &q.Snapshot)
	if err != nil {
		return decision{}, a, err
	}
	d := decision{Verdict: a.Verdict, Chosen: a.Chosen}
	if a.Verdict == naive.Fits {
		nominated, first := a.Statuses[nominatedNode(q)]
		for _, n := range slices.Sorted(maps.Keys(a.Statuses)) {
			if a.Statuses[n].OK() {
				d.Candidates = append(d.Candidates, candidate{Node: n, Best: n == nominatedNode(q) || !first || !nominated.OK()})
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(a.Candidates)) {
		c := a.Candidates[n]
		out := candidate{Node: n, Best: slices.Contains(a.Best, n), Violations: c.Violations, Overruns: c.Overruns}
		for _, u := range c.Victims {
			text := fmt.Sprintf("%s %s/%s(", u.Kind, u.Namespace, u.Name)
			for _, p := range u.Pods {
				text += fmt.Sprintf(" %s/%s", p.Namespace, p.Name)
			}
			out.Victims = append(out.Victims, text+" )")
		}
		s := c.Score
		out.Score = []int64{int64(s.Violations), int64(s.HighestPriority), s.PrioritySum, int64(s.Pods), -cluster.Nanos(s.Start)}
		d.Candidates = append(d.Candidates, out)
	}
	for _, k := range a.Cleared {
		d.Cleared = append(d.Cleared, k.Namespace+"/"+k.Name)
	}
	return d, a, nil
}

// nominatedNode is that of the pod that asks.
func nominatedNode(q gen.Question) string {
	for _, p := range append(q.Preemptor.Pods, q.Snapshot.Pods...) {
		if len(q.Preemptor.Pods) > 0 || p.Namespace == q.Preemptor.Namespace && p.Name == q.Preemptor.Name {
			return p.NominatedNode
		}
	}
	return ""
}

func plain(o preemption.Options) naive.Options {
	out := naive.Options{Rules: string(o.Rules), Guards: o.Guards}
	if s := o.Sampling; s != nil {
		out.Sampling = &naive.Sampling{Percent: int(s.Percent), Minimum: int(s.Minimum), Offset: int(s.Offset)}
	}
	return out
}

// disagreement tells how the library and its twin answer q differently, if they do.
func disagreement(o preemption.Options, q gen.Question) (string, *preemption.Result) {
	got, r, err := decide(o, q)
	if err != nil {
		return fmt.Sprintf("the library can't read the question: %v", err), nil
	}
	want, a, err := twin(o, q)
	if err != nil {
		return fmt.Sprintf("the twin can't read the question: %v", err), nil
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		return "(-twin +library):\n" + diff, r
	}
	if r.Verdict == preemption.Fits && !a.Statuses[r.Domain].OK() {
		return fmt.Sprintf("it does not fit on %s: %v", r.Domain, a.Statuses[r.Domain]), r
	}
	for _, t := range r.Trace {
		reason := preemption.Reason{}
		if last := t.Steps[len(t.Steps)-1]; last.Action == answer.ActionReject {
			reason = *last.Reason
		}
		if !saysTheSame(reason, a.Rejected[t.Domain]) {
			return fmt.Sprintf("why not on %s: twin %+v, library %+v", t.Domain, a.Rejected[t.Domain], reason), r
		}
	}
	return "", r
}

// saysTheSame compares a reason with the twin's. The library names one resource
// that is short, the twin all of them.
func saysTheSame(r preemption.Reason, st naive.Status) bool {
	switch {
	case string(r.Check) != st.Check || r.Unresolvable != st.Unresolvable:
		return false
	case r.Check == domain.CheckResource:
		return r.Missing > 0 && r.Missing == st.Resources[r.Resource]
	}
	return true
}

// profiles are the kinds of small clusters that the twin is asked about.
func profiles() map[string]gen.Profile {
	plain := gen.Profile{}
	budgets := gen.Profile{Budgets: true, Terminating: true}
	places := gen.Profile{Placement: true, Ports: true, Nominations: true, Terminating: true}
	groups := gen.Profile{Groups: true, Budgets: true}
	guarded := gen.Profile{Groups: true, Budgets: true, Classes: true, Guards: true}
	return map[string]gen.Profile{
		"plain": plain, "budgets": budgets, "places": places, "groups": groups, "guards": guarded, "everything": gen.Everything(),
	}
}

func TestTheLibraryAgreesWithItsTwin(t *testing.T) {
	for name, profile := range profiles() {
		for _, rules := range []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137} {
			t.Run(name+"/"+string(rules), func(t *testing.T) {
				t.Parallel()
				seen := map[preemption.Verdict]int{}
				for seed := range seeds(2500) {
					q := gen.Random(seed, profile)
					o := preemption.Options{Rules: rules}
					if profile.Guards {
						o.Guards = gen.Guards(seed)
					}
					diff, r := disagreement(o, q)
					if diff != "" {
						t.Fatalf("seed %d: %s", seed, diff)
					}
					seen[r.Verdict]++
				}
				tenth := int(seeds(250)) // the clusters have to ask something
				require.Greater(t, seen[preemption.Feasible], tenth)
				require.Greater(t, seen[preemption.Infeasible], tenth)
				require.Greater(t, seen[preemption.Fits], tenth/2)
			})
		}
	}
}

// TestTheLibraryAgreesWithItsTwinOnLargeGroups: a group of many pods is not read for each node.
func TestTheLibraryAgreesWithItsTwinOnLargeGroups(t *testing.T) {
	evicted := 0
	for seed := range seeds(2500) {
		q := gen.Enlarge(gen.Random(seed, gen.Everything()), seed)
		rules := []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed%2]
		diff, r := disagreement(preemption.Options{Rules: rules}, q)
		if diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		if slices.ContainsFunc(r.Victims, func(v preemption.Victim) bool { return len(v.Pods) > 16 }) {
			evicted++
		}
	}
	require.Greater(t, evicted, int(seeds(50)))
}

func TestTheLibrarySamplesLikeItsTwin(t *testing.T) {
	seen := map[preemption.Verdict]int{}
	for seed := range seeds(3000) {
		q := gen.Random(seed, gen.Profile{Budgets: true})
		s := preemption.Sampling{Percent: int32(seed * 7 % 101), Minimum: 1 + int32(seed%3), Offset: int32(seed % 11)}
		rules := []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed%2]
		diff, r := disagreement(preemption.Options{Rules: rules, Sampling: &s}, q)
		if diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		seen[r.Verdict]++
	}
	require.Greater(t, seen[preemption.Feasible], int(seeds(500)))
}

// gangDecision is what the library and its plain twin must agree on about a group.
type gangDecision struct {
	Verdict    string
	Places     map[string]string
	Victims    []string
	Violations int
	Overruns   int64
	Score      []int64
	Level      string // the lowest that is enough, where it was looked for
}

func gangOptions(o preemption.Options) naive.GangOptions {
	return naive.GangOptions{Rules: string(o.Rules), LowestLevel: o.LowestLevel, BrokenFree: o.BrokenGroupsFree}
}

// unitsText names units and their pods, in order.
func unitsText(list []naive.Unit) (out []string) {
	for _, u := range list {
		text := fmt.Sprintf("%s %s/%s(", u.Kind, u.Namespace, u.Name)
		for _, p := range u.Pods {
			text += fmt.Sprintf(" %s/%s", p.Namespace, p.Name)
		}
		out = append(out, text+" )")
	}
	return out
}

func victimsText(list []preemption.Victim) (out []string) {
	for _, v := range list {
		text := fmt.Sprintf("%s %s/%s(", v.Kind, v.Namespace, v.Name)
		for _, p := range v.Pods {
			text += fmt.Sprintf(" %s/%s", p.Namespace, p.Name)
		}
		out = append(out, text+" )")
	}
	return out
}

func planDecision(verdict string, p naive.Plan) gangDecision {
	d := gangDecision{
		Verdict: verdict, Victims: unitsText(p.Victims), Violations: p.Violations, Overruns: p.Overruns, Score: scoreValues(p.Score),
	}
	if p.Level != nil {
		d.Level = fmt.Sprintf("level %d is enough", *p.Level)
	}
	return d
}

func scoreValues(s naive.Score) []int64 {
	return []int64{int64(s.Violations), int64(s.HighestPriority), s.PrioritySum, int64(s.Pods), -cluster.Nanos(s.Start)}
}

func resultDecision(r *preemption.Result) gangDecision {
	d := gangDecision{Verdict: string(r.Verdict), Victims: victimsText(r.Victims), Violations: r.Violations, Overruns: r.Overruns}
	for _, c := range r.Score {
		d.Score = append(d.Score, c.Value)
	}
	for _, t := range r.Trace {
		for _, s := range t.Steps {
			if s.Action == answer.ActionLevel {
				d.Level, _, _ = strings.Cut(s.Text, ",")
			}
		}
	}
	return d
}

func placesOf(r *preemption.Result) naive.Places {
	places := naive.Places{}
	for _, n := range r.Nominations {
		places[naive.PodKey{Namespace: n.Pod.Namespace, Name: n.Pod.Name}] = n.Node
	}
	return places
}

// inPlaces is a placement in the twin's words.
func inPlaces(placement map[string]string) naive.Places {
	places := naive.Places{}
	for name, node := range placement {
		namespace, rest, _ := strings.Cut(name, "/")
		places[naive.PodKey{Namespace: namespace, Name: rest}] = node
	}
	return places
}

func nodeNames(q gen.Question) (out []string) {
	for _, n := range q.Snapshot.Nodes {
		out = append(out, n.Name)
	}
	slices.Sort(out)
	return out
}

// gangTwinGiven is the twin's answer for a placement that is given.
func gangTwinGiven(o preemption.Options, q gen.Question) gangDecision {
	g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
	if err != nil {
		return gangDecision{Verdict: err.Error()}
	}
	places, nodes := inPlaces(q.Preemptor.Placement), nodeNames(q)
	switch {
	case q.Preemptor.Kind == cluster.KindCompositePodGroup && o.Rules == preemption.Kubernetes136:
		return gangDecision{Verdict: naive.NotEligible}
	case g.Hopeless():
		return gangDecision{Verdict: naive.Infeasible}
	case !g.Enough(places) || !g.Together(places):
		if v := g.Eligible(); v != "" {
			return gangDecision{Verdict: v}
		}
		return gangDecision{Verdict: naive.Infeasible}
	}
	if _, st := g.Misfit(places, nil); st.OK() {
		return gangDecision{Verdict: naive.Fits}
	}
	if v := g.Eligible(); v != "" {
		return gangDecision{Verdict: v}
	}
	plan, st := g.At(places, nodes)
	if !st.OK() {
		return gangDecision{Verdict: naive.Infeasible}
	}
	return planDecision(naive.Feasible, plan)
}

// gangsAsked are the kinds of questions about groups that the twin is asked.
func gangsAsked() map[string]gen.GangProfile {
	small := gen.Profile{MaxNodes: 4, MaxPods: 12}
	with := func(change func(*gen.GangProfile)) gen.GangProfile {
		p := gen.GangProfile{Profile: small}
		change(&p)
		return p
	}
	return map[string]gen.GangProfile{
		"plain":      with(func(*gen.GangProfile) {}),
		"groups":     with(func(p *gen.GangProfile) { p.Groups, p.Budgets, p.Running = true, true, true }),
		"trees":      with(func(p *gen.GangProfile) { p.Groups, p.Composite, p.Running = true, true, true }),
		"topology":   with(func(p *gen.GangProfile) { p.Groups, p.Topology, p.Running = true, true, true }),
		"wishes":     with(func(p *gen.GangProfile) { p.Composite, p.Topology, p.Wishes, p.Running = true, true, true, true }),
		"everything": gen.EverythingForGangs(),
	}
}

// theRules are the generations, each with what is asked under it.
func theRules() map[string]preemption.Options {
	return map[string]preemption.Options{
		"Kubernetes136": {Rules: preemption.Kubernetes136},
		"Kubernetes137": {Rules: preemption.Kubernetes137},
		"KEP5710Alpha":  {Rules: preemption.KEP5710Alpha},
		"lowest":        {LowestLevel: true},
		"broken":        {BrokenGroupsFree: true},
	}
}

// asksSomething says whether a question about a group can be read.
func asksSomething(q gen.Question) bool {
	g, err := naive.NewGang(naive.GangOptions{}, q.Preemptor, &q.Snapshot)
	return err == nil && len(g.Members) > 0
}

// sound makes a question that KEP5710Alpha accepts: no group of mode All is basic.
func sound(o preemption.Options, q gen.Question) gen.Question {
	if o.Rules == preemption.KEP5710Alpha {
		one := int32(1)
		for i := range q.Snapshot.PodGroups {
			if g := &q.Snapshot.PodGroups[i]; g.Mode == "All" && g.MinCount == nil {
				g.Basic, g.MinCount = false, &one
			}
		}
	}
	return q
}

// TestAGivenPlacementAgreesWithTheTwin: for a placement that is given, who goes and
// what it costs is exactly what the plain twin says.
func TestAGivenPlacementAgreesWithTheTwin(t *testing.T) {
	for name, profile := range gangsAsked() {
		for rules, o := range theRules() {
			t.Run(name+"/"+rules, func(t *testing.T) {
				t.Parallel()
				seen := map[string]int{}
				o.Explain = true
				for seed := range seeds(1000) {
					q := sound(o, gen.RandomGang(seed, profile))
					if !asksSomething(q) {
						continue
					}
					g, _ := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
					q.Preemptor.Placement = gen.RandomPlacement(seed, g.Members, nodeNames(q))
					want := gangTwinGiven(o, q)
					r, err := o.Preempt(q.Preemptor, &q.Snapshot)
					require.NoError(t, err, "seed %d", seed)
					if diff := gocmp.Diff(want, resultDecision(r)); diff != "" {
						t.Fatalf("seed %d: %s (-twin +library):\n%s", seed, r.Message, diff)
					}
					if r.Verdict == preemption.Fits || r.Verdict == preemption.Feasible {
						if diff := gocmp.Diff(inPlaces(q.Preemptor.Placement), placesOf(r)); diff != "" {
							t.Fatalf("seed %d: the placement was not kept (-given +answered):\n%s", seed, diff)
						}
					}
					seen[want.Verdict]++
				}
				t.Log(rules, name, slices.Sorted(maps.Keys(seen)), seen)
			})
		}
	}
}
