package ask

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// questionIn is a question of that priority in s.
func questionIn(t *testing.T, s *cluster.Snapshot, settings Settings) *Question {
	t.Helper()
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	return &Question{Settings: &settings, Index: ix, Units: victims.NewUnits(ix, victims.Units137, victims.Worth{}), Priority: 9}
}

func TestBoundOfAReason(t *testing.T) {
	for _, b := range []Bound{{Of: NumUnits}, {Of: NumPods, Window: true}, {Of: Price}, {Of: NumStranded}, {Of: Charges, Budget: 3}} {
		got, ok := BoundOf(Beyond([]Excess{{Bound: b, Amount: 1}}, reprieve.Refuted))
		require.True(t, ok)
		require.Equal(t, b, got)
	}
	for _, why := range []domain.Reason{{}, {Check: NoVictims, Missing: 3}, Beyond(nil, reprieve.Refuted)} {
		_, ok := BoundOf(why)
		require.False(t, ok, "%v", why)
	}
	require.Equal(t, NotProved, Beyond(nil, reprieve.Exhausted).Detail)
	require.Empty(t, Beyond(nil, reprieve.Refuted).Detail)
}

func TestStepsLeft(t *testing.T) {
	for _, c := range []struct{ most, taken, left int }{
		{10, 0, 50}, {10, 20, 30}, {10, 50, 0}, {10, 60, 0}, {0, 0, 0}, {math.MaxInt, 5, math.MaxInt}, {math.MaxInt / 5, 0, math.MaxInt / 5 * 2},
		{8_000, 0, 40_000}, {8_001, 0, 40_000}, {20_000, 0, 40_000}, {20_001, 0, 40_002}, {20_000, 50_000, 0},
	} {
		require.Equal(t, c.left, StepsLeft(c.most, c.taken), "%+v", c)
	}
}

// TestTraitsOfSettings: each setting has its own, and leads to no other; a scan is closed by whatever a sweep is, and by some more.
func TestTraitsOfSettings(t *testing.T) {
	for _, c := range []struct {
		s    Settings
		want Traits
	}{
		{Settings{Proof: true, Declared: true, RepeatOfGang: true}, 0}, {Settings{Lowest: true}, TraitLowest}, {Settings{BrokenFree: true}, TraitBrokenFree},
		{Settings{Effort: Improved}, TraitSearch}, {Settings{Compare: victims.Ranking{}}, TraitRanking},
		{Settings{OwnLiking: func(*cluster.Index, *cluster.Pod, cluster.NodeID) int64 { return 0 }}, TraitRanking},
		{Settings{Hooks: true}, TraitHooks}, {Settings{Hooks: true, Declared: true}, 0}, {Settings{Sampling: &Sampling{}}, TraitSampling},
		{Settings{Candidates: true}, TraitCandidates}, {Settings{Trace: true}, TraitTrace}, {Settings{Mobile: true}, TraitMoving},
		{Settings{Mobile: true, RepeatOfGang: true}, TraitMoving | TraitRepeat},
	} {
		require.Equal(t, c.want, c.s.Traits(), "%+v", c.s)
	}
	for c, want := range map[victims.Criterion]Traits{
		victims.CriterionPods: 0, victims.CriterionCost: 0, victims.CriterionUnits: TraitSets, victims.CriterionGroups: TraitSets, victims.CriterionOverruns: TraitSets,
		victims.CriterionStranded: TraitSets | TraitElsewhere, victims.CriterionCascade: TraitSets | TraitElsewhere,
		victims.CriterionLevels: TraitSets | TraitElsewhere, victims.CriterionNodes: TraitSets | TraitElsewhere,
	} {
		s := Settings{Ranking: victims.Ranking{c}}
		require.Equal(t, TraitRanking|want, s.Traits(), c)
	}
	for trait := Traits(1); trait <= TraitOwn; trait <<= 1 {
		more := trait&(TraitConstraints|TraitColocation|TraitSampling|TraitCandidates|TraitTrace) != 0
		require.Equal(t, BySweep.Leads(trait) && !more, ByScan.Leads(trait), trait)
	}
	require.Equal(t, domain.Pack{}, (&Settings{Placers: []domain.Placer{domain.Pack{}}}).Chosen())
	require.Nil(t, (&Settings{Placers: make([]domain.Placer, 2)}).Chosen(), "several are no choice")
}

// twoGroups are one that goes whole and one whose pods go one by one, each of so many.
func twoGroups(pods int) *cluster.Snapshot {
	low := int32(1)
	s := &cluster.Snapshot{
		PodGroups: []cluster.PodGroup{{Name: "whole", Mode: disruption.All, Priority: &low}, {Name: "single", Mode: disruption.Single, Priority: &low}},
		Nodes:     []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 9}}},
	}
	for _, g := range []string{"whole", "single"} {
		for i := range pods {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(g, i), Group: g, Node: "n", Priority: &low, Requests: cluster.Resources{cluster.CPU: 1}})
		}
	}
	return s
}

// TestWhatPartsMayCostLess: of the user's own prices that of several pods may be less than all of theirs, of what is counted not. Pods that
// go one by one touch their group once together, one that goes whole has nobody to share it with.
func TestWhatPartsMayCostLess(t *testing.T) {
	for _, own := range []bool{false, true} {
		q := questionIn(t, twoGroups(2), Settings{OwnPrices: own})
		r := reprieve.NewRunner(q.Units, victims.NewBudgets(q.Index, disruption.Rule137))
		for c, loose := range map[victims.Criterion]bool{
			victims.CriterionCost: own, victims.CriterionPods: false, victims.CriterionSum: false, victims.CriterionUnits: true, victims.CriterionViolations: true, victims.CriterionGroups: true,
		} {
			aim := q.aim(r, c, nil, nil)
			require.Equal(t, loose, aim.Loose, "%s, own prices %t", c, own)
			require.Equal(t, c == victims.CriterionGroups, aim.Kin != nil, c)
			whole, single := q.unitOf(q.Index.PodByName("", "whole0")), q.unitOf(q.Index.PodByName("", "single1"))
			if aim.Kin != nil {
				require.EqualValues(t, cluster.NoGroup, aim.Kin(whole))
				require.EqualValues(t, q.Index.GroupOf(q.Index.PodByName("", "single0")), aim.Kin(single))
			} else if c == victims.CriterionUnits {
				require.EqualValues(t, 1, aim.Sum(single, nil))
			}
		}
	}
}

// TestWhatIsKnownOfUnits: when the part began that goes of an elastic one is not known from the whole, nor who is the most important
// where they are unequal, nor what is in use where they, or the preemptor's, are on several nodes; and of devices never.
func TestWhatIsKnownOfUnits(t *testing.T) {
	one, high := int32(1), int32(7)
	for kind, change := range map[victims.Criterion]func(s *cluster.Snapshot){
		"": func(*cluster.Snapshot) {}, "gang": func(*cluster.Snapshot) {}, victims.CriterionNodes: func(s *cluster.Snapshot) { s.Pods[1].Node = "m" },
		victims.CriterionStarted: func(s *cluster.Snapshot) {
			s.PodGroups[0].Mode, s.PodGroups[0].MinCount = disruption.SurplusFirst, &one
		},
		victims.CriterionHighest: func(s *cluster.Snapshot) { s.Pods[1].Priority = &high },
	} {
		for _, ranking := range []victims.Ranking{
			{victims.CriterionHighest, victims.CriterionPods, victims.CriterionStarted, victims.CriterionNodes, victims.CriterionDevices},
			{victims.CriterionNodes, victims.CriterionPods, victims.CriterionHighest, victims.CriterionStarted}, {victims.CriterionDevices, victims.CriterionHighest},
			{victims.CriterionPods, victims.CriterionDomains + "rack"}, {victims.CriterionDomains + "rack"}, {victims.CriterionPods}, {victims.CriterionHighest, victims.CriterionPods},
		} {
			for _, pods := range []int{2, 50} { // which are read each time, or once
				s := twoGroups(pods)
				s.Nodes = append(s.Nodes, cluster.Node{Name: "m"})
				change(s)
				q := questionIn(t, s, Settings{Ranking: ranking})
				q.Budgets = victims.NewBudgets(q.Index, disruption.Rule137)
				if kind == "gang" {
					q.Tree = &seating.Group{}
				}
				known := slices.IndexFunc(ranking, func(c victims.Criterion) bool {
					return c == kind || c == victims.CriterionDevices || (kind == "gang" || kind == victims.CriterionNodes) && c.InUse()
				})
				if known < 0 {
					known = len(ranking)
				}
				u := q.unitOf(q.Index.PodByName("", "whole0"))
				require.Equal(t, pods == 50, q.Wholes().Of(u) != nil)
				require.Equal(t, known, q.Known([]victims.UnitID{u}), "%s, %v, %d pods", kind, ranking, pods)
			}
		}
	}
}

// TestBoundsOfAUnit: it goes beyond a hard budget or limit by what it has more than there is room, and is stuck then, unless it may go in
// part. Bounds may be taken as wider, or not at all.
func TestBoundsOfAUnit(t *testing.T) {
	one, of := int32(1), map[string]string{"app": "web"}
	for _, pods := range []int{1, 2, 12} { // which are read each time, or once
		for i := range 3 * 5 * 5 * 2 * 3 {
			hard, allowed, left, elastic, wider := i%3, pods-3+i/3%5, int64(pods-3+i/15%5), i/75%2 == 1, i/150
			s := twoGroups(pods)
			if s.PodGroups[0].MinCount = &one; elastic {
				s.PodGroups[0].Mode = disruption.SurplusFirst
			}
			for k := range pods {
				s.Pods[k].Labels = of
			}
			s.Pods[pods-1].Labels = map[string]string{"app": "web", "last": "yes"}
			last := &disruption.Selector{MatchLabels: map[string]string{"last": "yes"}}
			s.Budgets = []disruption.Budget{{Name: "a", Selector: last, Allowed: int32(i % 2)}, {Name: "b", Selector: &disruption.Selector{MatchLabels: of}, Allowed: int32(allowed)}}
			q := questionIn(t, s, Settings{})
			q.Budgets, q.Limits = victims.NewBudgets(q.Index, disruption.Rule137), []Bound{{Of: NumUnits, Left: 1}, {Of: NumPods, Left: left}}[hard/2:]
			if hard > 0 {
				q.Hard = []bool{true, hard == 2}
			}
			var want []Excess
			if hard > 0 && wider != 1 && i%2 == 0 {
				want = append(want, Excess{Amount: 1})
			}
			if hard == 2 && pods > max(allowed, 0) {
				want = append(want, Excess{Bound: Bound{Budget: 1, Left: int64(allowed)}, Amount: int64(pods - allowed)})
			}
			if wider == 1 {
				q.Relaxed, left = []Excess{{Bound: Bound{Of: NumPods}, Amount: 1}, {Bound: Bound{Budget: 0}, Amount: 9}}, left+1
			}
			if int64(pods) > max(left, 0) {
				want = append(want, Excess{Bound: Bound{Of: NumPods, Left: left}, Amount: int64(pods) - left})
			}
			if q.NoBounds = wider == 2; q.NoBounds {
				want = nil
			}
			u, at := q.unitOf(q.Index.PodByName("", "whole0")), fmt.Sprint(pods, " pods, case ", i)
			require.Equal(t, want, q.Overruns([]victims.UnitID{u}, nil), at)
			require.True(t, q.NoBounds || len(q.Bounds([]victims.UnitID{u})) == hard+len(q.Limits), at)
			require.EqualValues(t, pods-1, q.WeightOf(Bound{Budget: 1}, u, q.Units.Unit(u).Pods[1:]))
			require.Equal(t, want != nil && !q.Units.Unit(u).Elastic, q.Stuck(u), at)
			q.Limits = nil
			require.Equal(t, want != nil && want[0].Of == Charges && !q.Units.Unit(u).Elastic, q.Stuck(u), at)
		}
	}
	for left, room := range map[int64]int64{-2: 0, 0: 0, 1: 1} {
		require.Equal(t, room, Bound{Left: left}.Room())
	}
}

// TestWhatIsLeftOfABrokenGangIsFree: where the options say so, of gangs that run below what they need.
func TestWhatIsLeftOfABrokenGangIsFree(t *testing.T) {
	for i := range 12 {
		s, free, pods, need := twoGroups(2+8*(i/6)), i%2 == 0, 2+8*(i/6), int32(1+8*(i/6)+i%6/2)
		s.PodGroups[0].MinCount = &need
		q := questionIn(t, s, Settings{BrokenFree: free, Ranking: victims.Ranking{victims.CriterionGroups}})
		q.Budgets = victims.NewBudgets(q.Index, disruption.Rule137)
		for name, broken := range map[string]bool{"whole0": int(need) > pods, "single0": false} {
			u := q.unitOf(q.Index.PodByName("", name))
			require.Equal(t, broken, q.Broken(u))
			require.Equal(t, broken && free, q.free(u))
			require.Equal(t, broken && free, q.Score([]victims.UnitID{u, q.unitOf(q.Index.PodByName("", name))}, nil, 0).Asked[victims.CriterionGroups] == 0)
		}
	}
}

// TestWhatIsFreeIsLookedAtOnce: on each node, for each resource that is asked for.
func TestWhatIsFreeIsLookedAtOnce(t *testing.T) {
	low := int32(1)
	s := &cluster.Snapshot{Pods: []cluster.Pod{{Name: "large", Node: fmt.Sprintf("n%04d", 7*blockOfNodes), Priority: &low, Requests: cluster.Resources{cluster.Memory: 1}}}} // more than there is
	for i := range 10 * blockOfNodes {
		n := cluster.Node{Name: fmt.Sprintf("n%04d", i), Allocatable: cluster.Resources{cluster.CPU: 2}}
		s.Nodes = append(s.Nodes, n)
		if i != 7*blockOfNodes {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprintf("p%04d", i), Node: n.Name, Priority: &low, Requests: cluster.Resources{cluster.CPU: 2}})
		}
	}
	q, looks := questionIn(t, s, Settings{}), 0
	q.fatesWithin(0)
	room := newRooms(func(n cluster.NodeID, r cluster.ResourceID) int64 { looks++; return q.Index.Free(n)[r] })
	p := q.Index.PodByName("", "p0000")
	require.EqualValues(t, 7*blockOfNodes, q.nextRoom(room, p, 0, cluster.NoNode))
	require.Equal(t, cluster.NoNode, q.nextRoom(room, p, 0, 7*blockOfNodes))
	require.Equal(t, 2*len(s.Nodes), looks, "CPU and pods")
}

// TestTheNextRoomIsThatOfEachNode: as if one node after the other were looked at.
func TestTheNextRoomIsThatOfEachNode(t *testing.T) {
	s, draw := &cluster.Snapshot{}, rand.New(rand.NewPCG(1, 1))
	for i := range 2*blockOfNodes + 5 {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("n%03d", i), Allocatable: cluster.Resources{cluster.CPU: draw.Int64N(4), cluster.Memory: draw.Int64N(4), cluster.Pods: draw.Int64N(3)}})
	}
	for i := range 6 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", i), Node: "n000", Requests: cluster.Resources{cluster.CPU: int64(i % 4), cluster.Memory: int64(i / 2)}})
	}
	q := questionIn(t, s, Settings{})
	q.fatesWithin(0)
	room := newRooms(func(n cluster.NodeID, r cluster.ResourceID) int64 { return q.Index.Allocatable(n)[r] })
	for p := range cluster.PodID(q.Index.NumPods()) {
		for n := range cluster.NodeID(len(s.Nodes)) {
			for _, but := range []cluster.NodeID{cluster.NoNode, n, n + 1} {
				want := cluster.NoNode
				for m := len(s.Nodes) - 1; m >= int(n); m-- {
					at := s.Nodes[m].Allocatable
					if ask := q.Index.Pod(p).Requests; cluster.NodeID(m) != but && at[cluster.Pods] > 0 && ask[cluster.CPU] <= at[cluster.CPU] && ask[cluster.Memory] <= at[cluster.Memory] {
						want = cluster.NodeID(m)
					}
				}
				require.Equal(t, want, q.nextRoom(room, p, n, but))
			}
		}
	}
}

// TestWhoLeavesIsInItsOwnWayNoMore: a pod that keeps apart from its like in a zone may move within it.
func TestWhoLeavesIsInItsOwnWayNoMore(t *testing.T) {
	low := int32(1)
	app := map[string]string{"app": "web"}
	apart := []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: app}}}
	s := &cluster.Snapshot{Pods: []cluster.Pod{{Name: "web", Labels: app, Node: "n0", Priority: &low, AntiAffinity: apart, Requests: cluster.Resources{cluster.CPU: 1}}}}
	for _, name := range []string{"n0", "n1"} {
		s.Nodes = append(s.Nodes, cluster.Node{Name: name, Labels: map[string]string{"zone": "z"}, Allocatable: cluster.Resources{cluster.CPU: 1}})
	}
	q := questionIn(t, s, Settings{})
	q.Constraints = []domain.Constraint{domain.InterPodAffinity()}
	p := q.Index.PodByName("", "web")
	require.False(t, q.isStranded(p, 0))
	moves, evicts, ok := q.Follows(p)
	require.Equal(t, []any{0, false, true}, []any{moves, evicts, ok})
}

// TestAlikePods: whatever decides whether the preemptor fits, or is counted of victims, tells pods of a unit apart.
func TestAlikePods(t *testing.T) {
	for _, c := range []struct {
		differs string
		is      func(p *cluster.Pod)
		alike   bool
	}{
		{"nothing", func(*cluster.Pod) {}, true},
		{"the node", func(p *cluster.Pod) { p.Node = "m" }, false},
		{"what it requests", func(p *cluster.Pod) { p.Requests = cluster.Resources{cluster.CPU: 2} }, false},
		{"a port", func(p *cluster.Pod) { p.Ports = []cluster.HostPort{{Port: 80}} }, false},
		{"a budget", func(p *cluster.Pod) { p.Labels = map[string]string{"app": "web"} }, false},
		{"the price", func(p *cluster.Pod) { p.Cost = &cluster.Cost{Fixed: 2} }, false},
		{"a label that nobody reads", func(p *cluster.Pod) { p.Labels = map[string]string{"of": "nobody"} }, true},
	} {
		s := twoGroups(2)
		s.Nodes = append(s.Nodes, cluster.Node{Name: "m", Allocatable: cluster.Resources{cluster.CPU: 9}})
		s.Budgets = []disruption.Budget{{Name: "web", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "web"}}}}
		c.is(&s.Pods[1])
		for _, own := range []bool{false, true} {
			q := questionIn(t, s, Settings{OwnPrices: own})
			q.Budgets = victims.NewBudgets(q.Index, disruption.Rule137)
			q.Units = victims.NewUnits(q.Index, victims.Units137, victims.Worth{Cost: victims.Tariff{Tariff: disruption.Tariff{Fixed: 1}}})
			require.Equal(t, c.alike && !own, q.alikePods(q.Index.PodByName("", "whole0"), q.Index.PodByName("", "whole1")), "%s, own prices %t", c.differs, own)
		}
	}
}

// TestInUseInTheEnd: nodes, racks and devices that are in use once units have left, of many pods and of few, one set after the other,
// and the preemptor has come.
func TestInUseInTheEnd(t *testing.T) {
	const rack = victims.CriterionDomains + "rack"
	low, one := int32(1), int32(1)
	for seed := range uint64(300) {
		draw, s := rand.New(rand.NewPCG(seed, 2)), &cluster.Snapshot{}
		for i := range 5 {
			n := cluster.Node{Name: fmt.Sprint(i), Labels: map[string]string{"rack": fmt.Sprint(i / 2)}}
			if i == 4 {
				n.Labels = nil
			} else if i > 0 {
				n.Devices = map[string]cluster.DevicePool{"a": {Count: 4, Capacity: 4}, "b": {Count: 2, Capacity: 4}}
			}
			s.Nodes = append(s.Nodes, n)
		}
		add := func(group, node string) {
			p := cluster.Pod{Name: fmt.Sprint(len(s.Pods)), Group: group, Node: node, Priority: &low}
			r := cluster.DeviceRequest{Resource: []string{"a", "a", "b"}[draw.IntN(3)], Fraction: 1 + draw.Int64N(3)}
			switch draw.IntN(4) {
			case 0:
				r.Count, r.Fraction = 1+draw.Int32N(2), 0
			case 1:
				r.Assigned = []int32{draw.Int32N(3)}
			}
			if draw.IntN(4) > 0 {
				p.Devices = []cluster.DeviceRequest{r}
			}
			s.Pods = append(s.Pods, p)
		}
		add("", "")
		add("", "")
		groups := 1 + int(seed%4)
		for g := range groups {
			name := fmt.Sprint("g", g)
			s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: name, Mode: disruption.All, MinCount: &one})
			for range 1 + g%2*9 + draw.IntN(3) {
				add(name, fmt.Sprint(draw.IntN(4)+draw.IntN(3))) // some where there is no node
			}
		}
		q := questionIn(t, s, Settings{})
		for m := range 2 {
			p := q.Index.PodByName("", fmt.Sprint(m))
			q.Members = append(q.Members, q.NewMember(q.Index.Pod(p), p))
		}
		for range 8 {
			list, gone := make([]victims.UnitID, 0), map[string]bool{}
			for _, g := range draw.Perm(groups)[:draw.IntN(groups+1)] {
				u := q.unitOf(q.Index.PodByName("", s.Pods[slices.IndexFunc(s.Pods, func(p cluster.Pod) bool { return p.Group == fmt.Sprint("g", g) })].Name))
				list, gone[fmt.Sprint("g", g)] = append(list, u), true
			}
			end := slices.DeleteFunc(slices.Clone(s.Pods), func(p cluster.Pod) bool { return gone[p.Group] })
			var at []domain.Assignment
			for m := range draw.IntN(3) {
				at = append(at, domain.Assignment{Member: domain.MemberID(m), Node: cluster.NodeID(draw.IntN(5))})
				end[m].Node, end[m].Devices = q.Index.Node(at[m].Node).Name, slices.Clone(end[m].Devices)
				for i := range end[m].Devices {
					end[m].Devices[i].Assigned = nil // it is not there yet
				}
			}
			then := *s
			then.Pods = end
			want := questionIn(t, &then, Settings{})
			for _, c := range []victims.Criterion{victims.CriterionNodes, victims.CriterionDevices, rack} {
				require.Equal(t, want.inUseNow(c).count, q.inUseAfter(c, list, nil, at), "seed %d: %s without %v", seed, c, gone)
			}
		}
	}
}

// TestDevicesInUse: fractions come first, the largest before the others, each where least room is left, then whole devices, as far as
// there are some.
func TestDevicesInUse(t *testing.T) {
	for whole, want := range []int64{3, 4, 4} {
		low, s := int32(1), &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Devices: map[string]cluster.DevicePool{"a": {Count: 4, Capacity: 4}, "b": {Count: 9, Capacity: 1}}}, {Name: "m", Labels: map[string]string{"rack": "r"}}, {Name: "o"}}}
		s.Pods = []cluster.Pod{{Name: "m", Node: "m", Priority: &low}}
		for i, fraction := range []int64{1, 1, 3, 1, 3} {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(i), Node: "n", Priority: &low, Devices: []cluster.DeviceRequest{{Resource: "a", Fraction: fraction}}})
		}
		s.Pods[1].Devices[0].Assigned = []int32{0}
		if whole > 0 {
			s.Pods = append(s.Pods, cluster.Pod{Name: "whole", Node: "n", Priority: &low, Devices: []cluster.DeviceRequest{{Resource: "a", Count: int32(whole)}}})
		}
		q := questionIn(t, s, Settings{})
		require.Equal(t, want, q.inUseNow(victims.CriterionDevices).count)
		require.EqualValues(t, 2, q.inUseNow(victims.CriterionNodes).count)
		require.EqualValues(t, 1, q.inUseNow(victims.CriterionDomains+"rack").count)
	}
}
