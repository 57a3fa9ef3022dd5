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
		answer := func() string {
			planner, err := preemption.NewPlanner(&snap, preemption.Options{})
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
