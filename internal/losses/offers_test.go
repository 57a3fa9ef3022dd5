package losses_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/internal/scenario"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// fullNodes are nodes full of pods that all may go, for which equal members are taken.
func fullNodes(t *rapid.T, size func() int64) (*domain.GangTrial, *losses.Offers) {
	snap := &cluster.Snapshot{}
	for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
		n := cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 12}}
		snap.Nodes = append(snap.Nodes, n)
		for free := int64(12); free > 0; {
			cpu, priority := min(free, size()), int32(rapid.IntRange(0, 3).Draw(t, "priority"))
			free -= cpu
			snap.Pods = append(snap.Pods, cluster.Pod{
				Name: fmt.Sprint("p", len(snap.Pods)), Node: n.Name, Priority: &priority, Requests: cluster.Resources{cluster.CPU: cpu},
			})
		}
	}
	ix, err := cluster.NewIndex(snap)
	require.NoError(t, err)
	var members []*domain.Member
	ask := rapid.Int64Range(1, 4).Draw(t, "ask")
	for range 12 {
		members = append(members, domain.NewMember(ix, &cluster.Pod{Requests: cluster.Resources{cluster.CPU: ask}}, cluster.NoPod))
	}
	trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
	for p := range cluster.PodID(ix.NumPods()) {
		trial.Remove(p)
	}
	odd := rapid.Bool().Draw(t, "budgets")
	violates := func(u victims.UnitID) int { return int(u) % 2 }
	if !odd {
		violates = nil
	}
	units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	return trial, losses.NewOffers(units, trial, func(victims.UnitID) bool { return true }, violates, nil)
}

// seat places members one after the other and adds up what they cost.
func seat(t *rapid.T, trial *domain.GangTrial, offers *losses.Offers) domain.Price {
	sum := domain.Free
	for m := range domain.MemberID(trial.Members()) {
		n := cluster.NodeID(rapid.IntRange(0, trial.Index().NumNodes()-1).Draw(t, "node"))
		if !trial.CanPlace(m, n).OK() {
			continue
		}
		price := offers.Price(m, n)
		trial.Place(m, n)
		offers.Taken(m, n)
		sum.Add(price)
	}
	return sum
}

// TestSeatsAddUp: the prices of seats add up to what all of them cost. Only the highest priority may be less in the end: who was to
// go for some seats may come back for one more. Where pods are of one size nobody does.
func TestSeatsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(1, 4)
		even := size.Draw(t, "size")
		trial, offers := fullNodes(t, func() int64 { return even })
		sum := seat(t, trial, offers)
		require.Equal(t, offers.Total(), sum)
		require.Equal(t, sum.Highest, offers.Highest())
		offers.Reset()
		require.Equal(t, offers.Total(), sum)

		trial, offers = fullNodes(t, func() int64 { return size.Draw(t, "cpu") })
		sum = seat(t, trial, offers)
		total := offers.Total()
		require.GreaterOrEqual(t, sum.Highest, total.Highest)
		sum.Highest = total.Highest
		require.Equal(t, total, sum)
	})
}

// Who has to go for one member on n1, and what else that costs: found as the reprieve finds
// it, those that violate a budget back first, then the most important.
func TestWhatAPlaceCosts(t *testing.T) {
	for _, c := range []struct {
		name, cluster string
		member        cluster.Pod
		protected     string // the unit of this pod violates a budget
		want          string // who goes
	}{
		{"nobody, there is room", "pods a@n1 cpu=1", wanting(2000), "", ""},
		{"the least important", "pods a@n1 prio=9 cpu=2 b@n1 prio=1 cpu=2", wanting(2000), "", "b"},
		{"a small one is not enough", "pods big@n1 prio=50 cpu=3 small@n1 prio=10 cpu=1", wanting(2000), "", "big"},
		{"both", "pods big@n1 prio=50 cpu=3 small@n1 prio=10 cpu=1", wanting(4000), "", "big small"},
		{"not whom a budget protects", "pods a@n1 prio=9 cpu=2 b@n1 prio=1 cpu=2", wanting(2000), "b", "a"},
		{"unless it must be", "pods a@n1 prio=9 cpu=2 b@n1 prio=1 cpu=2", wanting(3000), "b", "a b"},
		{"a unit as a whole, elsewhere too", "group w mode=All w0@n1 cpu=2 w1@n2 cpu=3 w2@n1 cpu=2", wanting(1000), "", "w0 w1 w2"},
		{"what it frees elsewhere is of no use here", "group w mode=All w0@n1 cpu=1 w1@n2 cpu=3\npods a@n1 cpu=3", wanting(2000), "", "a"},
		{"who holds the port", "pods a@n1 prio=9 ports=80 b@n1 prio=1", cluster.Pod{Ports: []cluster.HostPort{{Port: 80}}}, "", "a"},
		{"who holds it elsewhere is not in the way", "group w mode=All w0@n1 w1@n2 ports=80", cluster.Pod{Ports: []cluster.HostPort{{Port: 80}}}, "", ""},
		{"what nobody asks for is not missing", "pods a@n1 cpu=1 memory=99Gi", wanting(1000), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ix := small(t, "nodes n1 cpu=4 memory=1Gi n2 cpu=8\n"+c.cluster)
			us := victims.NewUnits(ix, victims.Units137, victims.Worth{})
			violations := func(u victims.UnitID) int {
				if c.protected != "" && u == unit(t, us, c.protected) {
					return 1
				}
				return 0
			}
			trial := domain.NewGangTrial(ix, []*domain.Member{domain.NewMember(ix, &c.member, cluster.NoPod)}, nil, func(cluster.PodID) bool { return false })
			for p := range cluster.PodID(ix.NumPods()) {
				trial.Remove(p)
			}
			want := domain.Free
			seen := map[victims.UnitID]bool{}
			for _, name := range strings.Fields(c.want) {
				if u := unit(t, us, name); !seen[u] {
					seen[u] = true
					price := us.Loss(u).Price
					price.Violations = int64(violations(u))
					want.Add(price)
				}
			}
			offers := losses.NewOffers(us, trial, func(victims.UnitID) bool { return true }, violations, nil)
			require.Equal(t, want, offers.Price(0, 0))
			trial.Place(0, 0)
			offers.Taken(0, 0)
			require.Equal(t, want, offers.Total())
			require.Equal(t, want.Highest, offers.Highest())
		})
	}
}

func wanting(milli int64) cluster.Pod {
	return cluster.Pod{Requests: cluster.Resources{cluster.CPU: milli}}
}

// A unit that has to go for a member on one node costs nothing more on another.
func TestAUnitIsPaidOnce(t *testing.T) {
	tariff := victims.Tariff{Tariff: disruption.Tariff{Pods: 10}}
	ix := small(t, "nodes n1 cpu=4 n2 cpu=4 n3 cpu=4\ngroup w mode=All w0@n1 cpu=4 w1@n2 cpu=4\npods a@n3 prio=-5 cpu=4 free@n3")
	us := victims.NewUnits(ix, victims.Units137, victims.Worth{Cost: tariff})
	member := wanting(2000)
	var members []*domain.Member
	for range 3 {
		members = append(members, domain.NewMember(ix, &member, cluster.NoPod))
	}
	trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
	for p := range cluster.PodID(ix.NumPods()) {
		trial.Remove(p)
	}
	a, w := unit(t, us, "a"), unit(t, us, "w0")
	offers := losses.NewOffers(us, trial, func(u victims.UnitID) bool { return u != unit(t, us, "free") }, nil, func(u victims.UnitID) bool { return u == a })
	offers.CostLeads = true
	whole := us.Loss(w).Price
	whole.Lead = 20
	require.Equal(t, whole, offers.Price(0, 1))
	require.Equal(t, domain.Free, offers.Price(0, 2), "some are priced at nothing")
	trial.Place(0, 1)
	require.Equal(t, []cluster.NodeID{0}, offers.Taken(0, 1), "n1 has become cheaper")
	require.Equal(t, domain.Free, offers.Price(1, 0))
	require.Equal(t, domain.Free, offers.Price(1, 1), "there is room for one more")
	trial.Place(1, 0)
	require.Empty(t, offers.Taken(1, 0))
	require.Equal(t, whole, offers.Total())
	trial.UnplaceTo(0)
	offers.Reset()
	require.Equal(t, domain.Free, offers.Total())
	require.Equal(t, whole, offers.Price(0, 0), "nobody goes any more")
}

// small is a small cluster, in the notation of package scenario.
func small(t *testing.T, text string) *cluster.Index {
	t.Helper()
	s, err := scenario.Parse("small", "# A small cluster.\n"+text+"\npreempt nobody")
	require.NoError(t, err)
	ix, err := cluster.NewIndex(&s.Snapshot)
	require.NoError(t, err)
	return ix
}

// unit is the one that pod name belongs to.
func unit(t *testing.T, us *victims.Units, name string) victims.UnitID {
	t.Helper()
	u, ok := us.UnitOf(us.Index().PodByName("default", name))
	require.True(t, ok, "%s is of a unit", name)
	return u
}

// TestWhatAWholeHas: of a composite of many pods each group is listed once, wherever its pods run, the pods of each priority are counted,
// and budgets are charged as pod by pod.
func TestWhatAWholeHas(t *testing.T) {
	snap := &cluster.Snapshot{CompositePodGroups: []cluster.CompositePodGroup{{Name: "all", Mode: disruption.All, Priority: ptr(7)}}}
	for g := range 3 {
		snap.PodGroups = append(snap.PodGroups, cluster.PodGroup{Name: fmt.Sprint("g", g), Parent: "all", MinCount: ptr(1)})
	}
	for i := range 12 {
		n := fmt.Sprintf("n%02d", i)
		snap.Nodes = append(snap.Nodes, cluster.Node{Name: n})
		snap.Pods = append(snap.Pods, cluster.Pod{Name: fmt.Sprintf("p%02d", i), Node: n, Group: fmt.Sprint("g", i%3), Priority: ptr(int32(1 + i%2)),
			Labels: map[string]string{"half": fmt.Sprint(i % 2), "third": fmt.Sprint(i % 3)}})
	}
	for name, allowed := range map[string]int32{"third=0": 1, "third=1": 4, "half=1": 5, "half=0": -2} {
		key, value, _ := strings.Cut(name, "=")
		snap.Budgets = append(snap.Budgets, disruption.Budget{Name: key + value, Allowed: allowed, Selector: &disruption.Selector{MatchLabels: map[string]string{key: value}}})
	}
	ix, err := cluster.NewIndex(snap)
	require.NoError(t, err)
	us := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	u, _ := us.UnitOf(0)
	require.Len(t, us.Unit(u).Pods, 12)
	budgets := victims.NewBudgets(ix, disruption.Rule{})
	ws := losses.NewWholes(us, budgets)
	for _, parts := range []victims.Parts{nil, {u: us.Unit(u).Pods[:9]}} {
		want := budgets.Overruns(us, []victims.UnitID{u}, parts, budgets.NewLedger())
		require.NotZero(t, want)
		require.Equal(t, want, ws.Overruns([]victims.UnitID{u}, parts, budgets.NewLedger()))
	}
	w := ws.Of(u)
	require.Equal(t, map[int32]int64{1: 6, 2: 6}, w.Levels)
	require.EqualValues(t, 1, w.Lowest)
	require.Len(t, w.Groups, 3)
	for _, g := range w.Groups {
		require.Equal(t, "all", ix.Group(g).PodGroup.Parent)
	}
}

// Whoever loses a place, offers that count anew where that was say what those say that count
// everything anew.
func untakenIsReset(t *rapid.T) {
	s := &cluster.Snapshot{}
	nodes := rapid.IntRange(1, 4).Draw(t, "nodes")
	for i := range nodes {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 6}})
	}
	for i := range rapid.IntRange(0, 10).Draw(t, "pods") {
		p := cluster.Pod{
			Name: fmt.Sprint("p", i), Node: fmt.Sprint("n", rapid.IntRange(0, nodes-1).Draw(t, "node")),
			Priority: new(int32), Requests: cluster.Resources{cluster.CPU: rapid.Int64Range(1, 3).Draw(t, "cpu")},
		}
		if *p.Priority = rapid.Int32Range(0, 2).Draw(t, "priority"); rapid.IntRange(0, 2).Draw(t, "grouped") == 0 {
			p.Group, p.Priority = "g", new(int32)
		}
		if rapid.IntRange(0, 3).Draw(t, "has a port") == 0 {
			p.Ports = []cluster.HostPort{{Port: 80}}
		}
		s.Pods = append(s.Pods, p)
	}
	s.PodGroups = []cluster.PodGroup{{Name: "g", Mode: "All"}}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	us := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	var members []*domain.Member
	for i := range 6 {
		pod := &cluster.Pod{Name: fmt.Sprint("m", i), Requests: cluster.Resources{cluster.CPU: rapid.Int64Range(1, 3).Draw(t, "member")}}
		if rapid.IntRange(0, 3).Draw(t, "holds a port") == 0 {
			pod.Ports = []cluster.HostPort{{Port: 80}}
		}
		members = append(members, domain.NewMember(ix, pod, cluster.NoPod))
	}
	trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
	for p := range ix.Pods() {
		trial.Remove(p)
	}
	all := func(victims.UnitID) bool { return true }
	fast, plain := losses.NewOffers(us, trial, all, nil, nil), losses.NewOffers(us, trial, all, nil, nil)
	for m := range domain.MemberID(len(members)) {
		n := cluster.NodeID(rapid.IntRange(0, nodes-1).Draw(t, "on"))
		if !trial.CanPlace(m, n).OK() {
			continue
		}
		trial.Place(m, n)
		if rapid.IntRange(0, 5).Draw(t, "taken") > 0 {
			fast.Taken(m, n)
		} else if rapid.Bool().Draw(t, "asked") {
			plain.Reset()
			require.Equal(t, plain.Total(), fast.Total())
		}
		if to := rapid.IntRange(0, 2*len(trial.Placed())).Draw(t, "back to"); to < len(trial.Placed()) {
			var left []cluster.NodeID
			for _, m := range trial.Placed()[to:] {
				left = append(left, trial.At(m))
			}
			trial.UnplaceTo(to)
			fast.Untaken(left)
			plain.Reset()
			require.Equal(t, plain.Total(), fast.Total())
			fresh := losses.NewOffers(us, trial, all, nil, nil)
			fresh.Reset()
			require.Equal(t, fresh.Total(), plain.Total())
			for n := range ix.Nodes() {
				require.ElementsMatch(t, fresh.Booked(n), fast.Booked(n))
				for m := range domain.MemberID(len(members)) {
					if trial.At(m) == cluster.NoNode {
						require.Equal(t, fresh.Price(m, n), fast.Price(m, n))
						require.Equal(t, fresh.Price(m, n), plain.Price(m, n))
					}
				}
			}
			fresh.Close() // the next reuse what it has noted
		}
	}
}

func TestUntakenIsReset(t *testing.T) { rapid.Check(t, untakenIsReset) }

// TestALargeUnitIsReadOnce: a group that goes whole has its price on every node where it makes room, and is not
// read again for each of them. What it costs is known from then on.
func TestALargeUnitIsReadOnce(t *testing.T) {
	for _, nodes := range []int{4, 100} { // few pods, and many
		snap := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Name: "all", Mode: disruption.All, Priority: ptr(7), MinCount: ptr(1)}}}
		want := domain.Price{Highest: 7}
		for i := range nodes {
			n := cluster.Node{Name: fmt.Sprintf("n%03d", i), Allocatable: cluster.Resources{cluster.CPU: 10}}
			snap.Nodes = append(snap.Nodes, n)
			for k := range 1 + i%2 { // one of four, or two of two
				snap.Pods = append(snap.Pods, cluster.Pod{
					Name: fmt.Sprintf("p%d-%d", i, k), Node: n.Name, Group: "all", Priority: ptr(7), Requests: cluster.Resources{cluster.CPU: int64(4 - 2*(i%2))},
					Ports: []cluster.HostPort{{Port: int32(1 + i)}},
				})
				want.Sum += priority.Raised(7)
				want.Pods++
			}
		}
		ix, err := cluster.NewIndex(snap)
		require.NoError(t, err)
		var members []*domain.Member
		for _, pod := range []cluster.Pod{
			{Requests: cluster.Resources{cluster.CPU: 6}}, {Requests: cluster.Resources{cluster.CPU: 7}},
			{Requests: cluster.Resources{cluster.CPU: 1}, Ports: []cluster.HostPort{{Port: 3}}},
		} {
			members = append(members, domain.NewMember(ix, &pod, cluster.NoPod))
		}
		trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
		for p := range cluster.PodID(ix.NumPods()) {
			trial.Remove(p)
		}
		asked := 0
		for _, free := range []bool{false, true} {
			units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
			offers := losses.NewOffers(units, trial, func(victims.UnitID) bool { return true }, nil, func(victims.UnitID) bool { asked++; return free })
			price := want
			if free {
				price = domain.Free
			}
			asked = 0
			for n := range cluster.NodeID(nodes) {
				require.Equal(t, domain.Free, offers.Price(0, n), "six fit beside four")
				require.Equal(t, price, offers.Price(1, n), "seven do not")
				if n == 2 {
					require.Equal(t, price, offers.Price(2, n), "nor does the port")
				} else {
					require.Equal(t, domain.Free, offers.Price(2, n))
				}
			}
			if nodes > 8 {
				require.Equal(t, 1, asked)
			}
			trial.Place(1, 0)
			offers.Taken(1, 0)
			require.Equal(t, price, offers.Total())
			require.Equal(t, domain.Free, offers.Price(0, 1), "it is gone already")
			trial.UnplaceTo(0)
			offers.Reset()
			require.Equal(t, domain.Free, offers.Total())
		}
	}
}

// TestManyUnitsAreThoseOfTheirNodes: of each node those are offered who run there, once more after Renew.
func TestManyUnitsAreThoseOfTheirNodes(t *testing.T) {
	snap := &cluster.Snapshot{}
	for i := range 60 {
		n := cluster.Node{Name: fmt.Sprintf("n%03d", i), Allocatable: cluster.Resources{cluster.CPU: 30}}
		snap.Nodes = append(snap.Nodes, n)
		for k := range 30 {
			snap.Pods = append(snap.Pods, cluster.Pod{Name: fmt.Sprintf("p%d-%d", i, k), Node: n.Name, Priority: ptr(int32(i)), Requests: cluster.Resources{cluster.CPU: 1}})
		}
	}
	ix, err := cluster.NewIndex(snap)
	require.NoError(t, err)
	trial := domain.NewGangTrial(ix, []*domain.Member{domain.NewMember(ix, &cluster.Pod{Requests: cluster.Resources{cluster.CPU: 1}}, cluster.NoPod)}, nil, func(cluster.PodID) bool { return false })
	for p := range ix.Pods() {
		trial.Remove(p)
	}
	offers := losses.NewOffers(victims.NewUnits(ix, victims.Units137, victims.Worth{}), trial, func(victims.UnitID) bool { return true }, nil, nil)
	for range 3 {
		for range 2 {
			for n := range ix.Nodes() {
				require.Equal(t, domain.Price{Highest: int64(n), Sum: priority.Raised(int32(n)), Pods: 1}, offers.Price(0, n))
			}
		}
		offers.Renew()
	}
}

func ptr(v int32) *int32 { return &v }
