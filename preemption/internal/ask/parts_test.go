package ask

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
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
		{10, 0, 50}, {10, 20, 30}, {10, 50, 0}, {10, 60, 0}, {0, 0, 0}, {math.MaxInt, 5, math.MaxInt}, {math.MaxInt / 5, 0, math.MaxInt / 5 * 5},
	} {
		require.Equal(t, c.left, StepsLeft(c.most, c.taken), "%+v", c)
	}
}

func TestTraitsOfCriteria(t *testing.T) {
	for c, want := range map[victims.Criterion]Traits{
		victims.CriterionPods: 0, victims.CriterionCost: 0, victims.CriterionUnits: TraitSets, victims.CriterionGroups: TraitSets,
		victims.CriterionOverruns: TraitSets, victims.CriterionStranded: TraitSets | TraitElsewhere, victims.CriterionNodes: TraitSets | TraitElsewhere,
	} {
		s := Settings{Ranking: victims.Ranking{c}}
		require.Equal(t, want, s.Traits()&(TraitSets|TraitElsewhere), "%s", c)
	}
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

// TestKinShareAGroup: pods that go one by one touch theirs once together, one that goes whole has nobody to share it with.
func TestKinShareAGroup(t *testing.T) {
	q := questionIn(t, twoGroups(2), Settings{})
	for name, shares := range map[string]bool{"whole0": false, "single0": true, "single1": true} {
		p := q.Index.PodByName("", name)
		kin := cluster.NoGroup
		if shares {
			kin = q.Index.GroupOf(p)
			require.NotEqual(t, cluster.NoGroup, kin)
		}
		require.Equal(t, kin, q.kin(q.unitOf(p)), name)
	}
}

// TestWhatPartsMayCostLess: of the user's own prices that of several pods may be less than all of theirs, of what is counted not.
func TestWhatPartsMayCostLess(t *testing.T) {
	for _, own := range []bool{false, true} {
		q := questionIn(t, twoGroups(2), Settings{OwnPrices: own})
		r := reprieve.NewRunner(q.Units, victims.NewBudgets(q.Index, disruption.Rule137))
		for c, loose := range map[victims.Criterion]bool{
			victims.CriterionCost: own, victims.CriterionPods: false, victims.CriterionSum: false, victims.CriterionUnits: true, victims.CriterionViolations: true, victims.CriterionGroups: true,
		} {
			require.Equal(t, loose, q.aim(r, c, nil, nil).Loose, "%s, own prices %t", c, own)
		}
	}
}

// TestWhatIsKnownOfElasticUnits: when the part that goes of one began is not known from the whole.
func TestWhatIsKnownOfElasticUnits(t *testing.T) {
	for mode, known := range map[disruption.Mode]int{disruption.All: 3, disruption.SurplusFirst: 2} {
		for _, pods := range []int{2, 50} { // which are read each time, or once
			s, one := twoGroups(pods), int32(1)
			s.PodGroups[0].Mode, s.PodGroups[0].MinCount = mode, &one
			q := questionIn(t, s, Settings{Ranking: victims.Ranking{victims.CriterionHighest, victims.CriterionPods, victims.CriterionStarted}})
			q.Budgets = victims.NewBudgets(q.Index, disruption.Rule137)
			u := q.unitOf(q.Index.PodByName("", "whole0"))
			require.Equal(t, pods == 50, q.Wholes().Of(u) != nil)
			require.Equal(t, known, q.Known([]victims.UnitID{u}), "%s, %d pods", mode, pods)
			require.False(t, q.Stuck(u))
			q.Limits = []Bound{{Of: NumPods, Left: 1}}
			require.Equal(t, mode == disruption.All, q.Stuck(u), "who may go in part is not stuck")
		}
	}
}

// TestNoRoomIsLookedForInVain: nodes on none of which there is room are ruled out together.
func TestNoRoomIsLookedForInVain(t *testing.T) {
	low, s := int32(1), &cluster.Snapshot{}
	for i := range 10 * blockOfNodes {
		n := cluster.Node{Name: fmt.Sprintf("n%04d", i), Allocatable: cluster.Resources{cluster.CPU: 2}}
		s.Nodes = append(s.Nodes, n)
		if i != 7*blockOfNodes {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprintf("p%04d", i), Node: n.Name, Priority: &low, Requests: cluster.Resources{cluster.CPU: 2}})
		}
	}
	q, looks := questionIn(t, s, Settings{}), 0
	room := q.newRooms(q.Index.Free)
	for b := range room.most {
		q.mostOf(room, b)
	}
	room.on = func(n cluster.NodeID) []int64 { looks++; return q.Index.Free(n) }
	p := q.Index.PodByName("", "p0000")
	require.EqualValues(t, 7*blockOfNodes, q.nextRoom(room, p, 0, cluster.NoNode))
	require.Equal(t, 1, looks)
	require.Equal(t, cluster.NoNode, q.nextRoom(room, p, 0, 7*blockOfNodes))
	require.Equal(t, blockOfNodes, looks, "the others of its block")
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

// TestSeveralPlacersAreNoChoice: where several are tried none is chosen.
func TestSeveralPlacersAreNoChoice(t *testing.T) {
	s := Settings{Placers: []domain.Placer{domain.Pack{}}}
	require.Equal(t, domain.Pack{}, s.Chosen())
	s.Placers = append(s.Placers, domain.Spread{})
	require.Nil(t, s.Chosen())
}

// TestDevicesOfEachKindAreTheirOwn: who holds the first device of one kind frees none of another.
func TestDevicesOfEachKindAreTheirOwn(t *testing.T) {
	low := int32(1)
	pool := cluster.DevicePool{Count: 2, Capacity: 1}
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Devices: map[string]cluster.DevicePool{"a": pool, "b": pool}}}}
	for _, kind := range []string{"a", "b"} {
		for k := range int32(2) {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(kind, k), Node: "n", Priority: &low, Devices: []cluster.DeviceRequest{{Resource: kind, Count: 1, Assigned: []int32{k}}}})
		}
	}
	q := questionIn(t, s, Settings{})
	require.EqualValues(t, 4, q.inUseAfter(victims.CriterionDevices, nil, nil, nil))
	for _, name := range []string{"a0", "a1", "b0", "b1"} {
		u := q.unitOf(q.Index.PodByName("", name))
		require.EqualValues(t, 3, q.inUseAfter(victims.CriterionDevices, []victims.UnitID{u}, nil, nil), name)
	}
}

// TestInUseOnceManyHaveLeft: what is in use once units have left, of many pods and of one, one set after the other, is what is in
// use where they are not.
func TestInUseOnceManyHaveLeft(t *testing.T) {
	s := spreadGroups(3, 20)
	q := questionIn(t, s, Settings{})
	for _, left := range [][]string{
		nil, {"group0"}, {"group0", "lone3"}, {"lone4"}, {"group0", "lone4", "lone5"}, {"group1", "group0"}, {"group0", "group1", "lone3", "lone4"},
		{"group2", "group1", "group0", "lone0", "lone1", "lone2", "lone3", "lone4", "lone5", "lone6"},
	} {
		var list []victims.UnitID
		rest := *s
		rest.Pods = slices.DeleteFunc(slices.Clone(s.Pods), func(p cluster.Pod) bool {
			if !slices.Contains(left, p.Group) && !slices.Contains(left, p.Name) {
				return false
			}
			if u := q.unitOf(q.Index.PodByName("", p.Name)); !slices.Contains(list, u) {
				list = append(list, u)
			}
			return true
		})
		then := questionIn(t, &rest, Settings{})
		for _, c := range []victims.Criterion{victims.CriterionNodes, victims.CriterionDevices, victims.CriterionDomains + "rack"} {
			require.Equal(t, then.inUseNow(c).count, q.inUseAfter(c, list, nil, nil), "%s without %v", c, left)
		}
	}
}

// spreadGroups are groups that go whole, each with so many pods, on every other node, and seven pods on others beside them.
func spreadGroups(groups, pods int) *cluster.Snapshot {
	low, one := int32(1), int32(1)
	s := &cluster.Snapshot{}
	for n := range 2 * pods {
		s.Nodes = append(s.Nodes, cluster.Node{
			Name: fmt.Sprint("n", n), Labels: map[string]string{"rack": fmt.Sprint(n / 3)},
			Devices: map[string]cluster.DevicePool{"gpu": {Count: 4, Capacity: 2}},
		})
	}
	device := []cluster.DeviceRequest{{Resource: "gpu", Fraction: 1}}
	for g := range groups {
		name := fmt.Sprint("group", g)
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: name, Mode: disruption.All, MinCount: &one})
		for k := range pods {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(name, "-", k), Group: name, Node: fmt.Sprint("n", 2*k), Priority: &low, Devices: device})
		}
	}
	for k := range 7 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("lone", k), Node: fmt.Sprint("n", 3*k), Priority: &low, Devices: device})
	}
	return s
}
