package victims_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/noderules"
	"github.com/preempt-go/preempt/internal/scenario"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Who goes together: KEP-5710, "Preemption unit". A lone pod as preemptor saw no groups in
// v1.36; a group saw those of mode All, of which only the pod's own counted.
func TestWhoIsAUnit(t *testing.T) {
	for _, c := range []struct {
		name, cluster              string
		pods136, groups136, newest string
	}{
		{
			"pods of no group go one by one",
			"pods a@n1 b@n1",
			"a b", "a b", "a b",
		},
		{
			"the default mode is Single",
			"group train min=2 t0@n1 t1@n1",
			"t0 t1", "t0 t1", "t0 t1",
		},
		{
			"Single says the same",
			"group train mode=Single t0@n1 t1@n1",
			"t0 t1", "t0 t1", "t0 t1",
		},
		{
			"All goes as a whole, wherever its pods run",
			"group train mode=All min=2 t0@n1 t1@n2\npods a@n1",
			"a t0 t1", "a t0+t1", "a t0+t1",
		},
		{
			"All on a basic group is executed",
			"group train mode=All basic=yes t0@n1 t1@n1",
			"t0 t1", "t0+t1", "t0+t1",
		},
		{
			"SurplusFirst is one unit, which may go in part",
			"group train mode=SurplusFirst min=1 t0@n1 t1@n1",
			"t0 t1", "t0+t1", "t0+t1",
		},
		{
			"pods on nodes that nobody knows belong to it",
			"group train mode=All t0@n1 t1@elsewhere",
			"t0 t1", "t0+t1", "t0+t1",
		},
		{
			"so do those that are terminating, and pending ones do not",
			"group train mode=All t0@n1 t1@n1 terminating=yes t2",
			"t0 t1", "t0+t1", "t0+t1",
		},
		{
			"composite All: everything beneath",
			"composite job mode=All\ngroup a parent=job a0@n1 a1@n1\ngroup b parent=job b0@n2",
			"a0 a1 b0", "a0 a1 b0", "a0+a1+b0",
		},
		{
			"composite Single: its children decide",
			"composite job mode=Single\ngroup a parent=job mode=All a0@n1 a1@n1\ngroup b parent=job b0@n1 b1@n1",
			"a0 a1 b0 b1", "a0+a1 b0 b1", "a0+a1 b0 b1",
		},
		{
			"the highest All counts",
			"composite top mode=All\ncomposite job mode=All parent=top\ngroup a mode=All parent=job a0@n1\ngroup b parent=top b0@n1",
			"a0 b0", "a0 b0", "a0+b0",
		},
		{
			"All in the middle: its subtree alone",
			"composite top\ncomposite job mode=All parent=top\ngroup a parent=job a0@n1 a1@n1\ngroup b parent=top b0@n1 b1@n1",
			"a0 a1 b0 b1", "a0 a1 b0 b1", "a0+a1 b0 b1",
		},
		{
			"a chain ends where a parent is missing",
			"group a mode=All parent=nowhere a0@n1 a1@n1",
			"a0 a1", "a0+a1", "a0+a1",
		},
		{
			"a pod whose group is missing is a unit by itself",
			"pods a0@n1 group=nowhere a1@n1 group=nowhere",
			"a0 a1", "a0 a1", "a0 a1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ix := index(t, "nodes n1 n2\n"+c.cluster)
			for rule, want := range map[victims.UnitRule]string{
				victims.Pods136: c.pods136, victims.Groups136: c.groups136, victims.Units137: c.newest, victims.UnitsKEP: c.newest,
			} {
				require.Equal(t, want, all(victims.NewUnits(ix, rule, victims.Worth{})), "%+v", rule)
			}
		})
	}
}

// What a unit is, beside its pods: the first pod's unit of each cluster.
func TestWhatAUnitIs(t *testing.T) {
	const pods136, groups136, newest, kep = 0, 1, 2, 3
	rules := [...]victims.UnitRule{victims.Pods136, victims.Groups136, victims.Units137, victims.UnitsKEP}
	for _, c := range []struct {
		name, cluster string
		priority      [4]int32 // by rule
		level         [4]int32 // what it is eligible by
	}{
		{
			"a pod of no group has its own priority",
			"pods t0@n1 prio=10",
			[4]int32{10, 10, 10, 10}, [4]int32{10, 10, 10, 10},
		},
		{
			"since v1.37 the group's is authoritative, whatever the mode (kubernetes #139030)",
			"group train prio=100 t0@n1 prio=10",
			[4]int32{10, 10, 100, 100}, [4]int32{10, 10, 100, 100},
		},
		{
			"of an All group it was before, for groups",
			"group train mode=All prio=100 t0@n1 prio=10 t1@n1 prio=20",
			[4]int32{10, 100, 100, 100}, [4]int32{10, 100, 100, 100},
		},
		{
			"a group without priority counts as 0",
			"group train mode=All t0@n1 prio=10",
			[4]int32{10, 0, 0, 0}, [4]int32{10, 0, 0, 0},
		},
		{
			"the root's counts, wherever All stands",
			"composite job prio=50\ngroup train mode=All parent=job prio=100 t0@n1 prio=10",
			[4]int32{10, 100, 50, 50}, [4]int32{10, 100, 50, 50},
		},
		{
			"without the group, the pod's own",
			"pods t0@n1 prio=10 group=nowhere",
			[4]int32{10, 10, 10, 10}, [4]int32{10, 10, 10, 10},
		},
		{
			"preemption priority is read by the KEP's early text alone",
			"pods t0@n1 prio=10 preempt-prio=70",
			[4]int32{10, 10, 10, 10}, [4]int32{10, 10, 10, 70},
		},
		{
			"and is the root's, too",
			"composite job prio=50 preempt-prio=60\ngroup train parent=job preempt-prio=90 t0@n1 prio=10 preempt-prio=70",
			[4]int32{10, 10, 50, 50}, [4]int32{10, 10, 50, 60},
		},
		{
			"it may rise and fall with time, evenly from one milestone to the next: two hours after the start",
			"pods t0@n1 prio=10 start=t0 levels=1h:80,3h:20",
			[4]int32{10, 10, 10, 10}, [4]int32{10, 10, 10, 50},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ix := index(t, "nodes n1\n"+c.cluster)
			for _, r := range []int{pods136, groups136, newest, kep} {
				us := victims.NewUnits(ix, rules[r], victims.Worth{})
				got := us.Unit(unit(t, us, "t0"))
				require.Equal(t, [2]int32{c.priority[r], c.level[r]}, [2]int32{got.Priority, got.Level}, "%+v", rules[r])
			}
		})
	}
}

func TestElasticUnits(t *testing.T) {
	us := small(t, "nodes n1\ngroup e mode=SurplusFirst min=1 e0@n1 e1@n1\ngroup w mode=All w0@n1\npods a@n1")
	for name, want := range map[string]bool{"e1": true, "w0": false, "a": false} {
		require.Equal(t, want, us.Unit(unit(t, us, name)).Elastic, name)
	}
}

// The order of importance, most worth keeping first. Source: kube-scheduler v1.36 and
// v1.37, more important victim; the cases are those of its own test and of the last keys.
func TestOrderOfImportance(t *testing.T) {
	for _, c := range []struct {
		name, cluster              string
		pods136, groups136, newest string
	}{
		{
			"priority before all else",
			"pods low@n1 prio=1 start=t0 high@n1 prio=9 start=t5 mid@n1 prio=5 start=t1",
			"high mid low", "high mid low", "high mid low",
		},
		{
			"equal priority: the later started goes first",
			"pods young@n1 start=t9 old@n1 start=t1",
			"old young", "old young", "old young",
		},
		{
			"what has not started counts as started now",
			"pods new@n1 uid=1 old@n1 start=t1 uid=2",
			"old new", "old new", "old new",
		},
		{
			"a group above a pod, however young",
			"pods a@n1 start=t1\ngroup train mode=All t0@n1 start=t5 t1@n1 start=t5",
			"a t0 t1", "t0+t1 a", "t0+t1 a",
		},
		{
			"a pod of a Single group above a pod of none",
			"pods a@n1 start=t1\ngroup train t0@n1 start=t5",
			"a t0", "t0 a", "t0 a",
		},
		{
			"a group that is not there ranks only where its name does",
			"pods a@n1 start=t1 t0@n1 start=t5 group=nowhere",
			"a t0", "t0 a", "a t0",
		},
		{
			"a bigger group above a smaller, and that above a member of a Single one",
			"group s s0@n1 start=t1\ngroup two mode=All b0@n1 start=t5 b1@n1 start=t5\ngroup three mode=All c0@n1 start=t9 c1@n1 start=t9 c2@n1 start=t9",
			"s0 b0 b1 c0 c1 c2", "c0+c1+c2 b0+b1 s0", "c0+c1+c2 b0+b1 s0",
		},
		{
			"a composite above a bigger group",
			"composite job mode=All\ngroup a parent=job a0@n1 start=t5\ngroup big mode=All b0@n1 start=t1 b1@n1 start=t1",
			"b0 b1 a0", "b0+b1 a0", "a0 b0+b1",
		},
		{
			"a group is as old as the oldest of its pods",
			"group a mode=All a0@n1 start=t3 a1@n1 start=t9\ngroup b mode=All b0@n1 start=t5 b1@n1 start=t5",
			"a0 b0 b1 a1", "a0+a1 b0+b1", "a0+a1 b0+b1",
		},
		{
			"same second: the smaller UID (kubernetes #140999)",
			"pods a@n1 start=t1 uid=2 b@n1 start=t1 uid=10",
			"b a", "b a", "b a",
		},
		{
			"a group's is that of its first pod by UID",
			"group a mode=All a0@n1 uid=5 a1@n1 uid=2\ngroup b mode=All b0@n1 uid=3 b1@n1 uid=9",
			"a1 b0 a0 b1", "a1+a0 b0+b1", "a1+a0 b0+b1",
		},
		{
			"no UIDs: namespace, then name",
			"pods z/b@n1 a/c@n1 a/b@n1",
			"b c b", "b c b", "b c b",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ix := index(t, "nodes n1\n"+c.cluster)
			require.Equal(t, c.pods136, on(victims.NewUnits(ix, victims.Pods136, victims.Worth{})), "v1.36, a pod asks")
			require.Equal(t, c.groups136, on(victims.NewUnits(ix, victims.Groups136, victims.Worth{})), "v1.36, a group asks")
			for _, rule := range []victims.UnitRule{victims.Units137, victims.UnitsKEP} {
				us := victims.NewUnits(ix, rule, victims.Worth{})
				require.Equal(t, c.newest, on(us), "v1.37 and the KEP")
				list := slices.Clone(us.On(0))
				slices.Reverse(list)
				require.Equal(t, c.newest, spell(us, us.Sorted(list)), "sorted, whatever the order before")
			}
		})
	}
}

// Potential victims are strictly less important than the preemptor.
func TestPotentialVictims(t *testing.T) {
	const text = "nodes n1 n2\npods a@n1 prio=10 preempt-prio=100 b@n1 prio=30 c@n1 prio=20 d@n2 prio=1\n" +
		"group w mode=All prio=20 w0@n1 prio=99 w1@n2 prio=99"
	us, kep := small(t, text), victims.NewUnits(index(t, text), victims.UnitsKEP, victims.Worth{})
	for _, c := range []struct {
		below       int32
		newest, kep string
	}{
		{-1 << 31, "", ""},
		{10, "", ""},
		{11, "a", ""},
		{20, "a", ""},
		{21, "w0+w1 c a", "w0+w1 c"},
		{31, "b w0+w1 c a", "b w0+w1 c"},
		{101, "b w0+w1 c a", "b w0+w1 c a"},
	} {
		require.Equal(t, c.newest, spell(us, us.Potential(0, c.below)), "below %d", c.below)
		require.Equal(t, c.kep, spell(kep, kep.Potential(0, c.below)), "below %d, by preemption priority", c.below)
	}
	require.Equal(t, "w0+w1 d", spell(us, us.Potential(1, 1000)), "a unit on two nodes is on either")
	require.True(t, us.ByLevel())
	require.False(t, kep.ByLevel())
}

// A unit is listed once on a node, and nowhere if nobody knows its node.
// TestSortedIsByImportance: a few units, or most of them, which are sorted by an order that is made once.
func TestSortedIsByImportance(t *testing.T) {
	text := "nodes n1\npods"
	for i := range 40 {
		text += fmt.Sprintf(" p%d@n1 prio=%d", i, i*7%40)
	}
	us := small(t, text)
	r := rand.New(rand.NewPCG(1, 8))
	for _, n := range []int{1, 2, 5, 9, 10, 11, 30, 40} {
		var list []victims.UnitID
		for _, u := range r.Perm(40)[:n] {
			list = append(list, victims.UnitID(u))
		}
		given := slices.Clone(list)
		got := us.Sorted(list)
		require.True(t, slices.IsSortedFunc(got, us.Compare), "%d units", n)
		require.ElementsMatch(t, list, got)
		require.Equal(t, given, list, "what is given stays as it is")
	}
}

func TestUnitsOnANode(t *testing.T) {
	us := small(t, "nodes n1 n2\ngroup w mode=All w0@n1 w1@n1 w2@n2 w3@gone\npods a@gone b")
	require.Equal(t, "w0+w1+w2+w3", on(us))
	require.Equal(t, "w0+w1+w2+w3", spell(us, us.On(1)))
	require.Equal(t, "a w0+w1+w2+w3", all(us))
	_, ok := us.UnitOf(us.Index().PodByName("default", "b"))
	require.False(t, ok, "a pending pod is of none")
	_, ok = us.UnitOf(us.Index().PodByName("default", "a"))
	require.True(t, ok)
	require.Equal(t, cluster.NoGroup, us.Unit(unit(t, us, "a")).Group)
}

func TestMain(m *testing.M) { gen.Tests(m) }

// byNumber is an order that has nothing to do with priority.
type byNumber struct{}

func (byNumber) Compare(_ *victims.Units, a, b victims.UnitID) int { return cmp.Compare(a%5, b%5) }

// TestImportanceIsTheOrder: comparing it comes to what Compare comes to.
func TestImportanceIsTheOrder(t *testing.T) {
	for seed := range uint64(40) {
		q := gen.Random(seed, gen.Everything())
		ix, err := cluster.NewIndex(&q.Snapshot)
		require.NoError(t, err)
		for _, worth := range []victims.Worth{{}, {Order: byNumber{}}, {ByPlace: true}} {
			us := victims.NewUnits(ix, victims.Units137, worth)
			for a := range victims.UnitID(us.Len()) {
				for b := range victims.UnitID(us.Len()) {
					x, y := us.Importance(a), us.Importance(b)
					require.Equal(t, us.Compare(a, b), us.CompareImportance(&x, &y), "seed %d, %d and %d", seed, a, b)
				}
			}
		}
	}
}

// TestSorterSortsAsCompareDoes: long and short lists, with ties, and with starts
// before 1970.
func TestSorterSortsAsCompareDoes(t *testing.T) {
	var sorter victims.Sorter
	for seed, shape := range gen.Shapes() {
		for round, nodes := range []int{3, 40, 10, 11, 40} {
			snap := gen.Fleet(nodes, 20, uint64(seed), shape)
			for i := range snap.Pods {
				if i%3 == 0 && round < 2 { // else they differ in few bits
					snap.Pods[i].Started = snap.Pods[i].Started.Add(-time.Duration(i) * 80_000 * time.Hour)
				}
			}
			ix, err := snap.Objects().Index()
			require.NoError(t, err)
			us := victims.NewUnits(ix, victims.Units137, victims.Worth{})
			var list []victims.Marked
			var plain []victims.UnitID
			for u := range victims.UnitID(us.Len()) {
				if u%7 > 0 {
					list, plain = append(list, victims.Marked{Unit: u, Mark: int32(u)}), append(plain, u)
				}
			}
			sorter.Sort(us, list)
			for i, u := range us.Sorted(plain) {
				require.Equal(t, victims.Marked{Unit: u, Mark: int32(u)}, list[i], "%s, position %d", shape, i)
			}
		}
	}
}

// snapshot reads a small cluster, in the notation of package scenario: it is noon, t5 is
// five minutes past ten.
func snapshot(t *testing.T, text string) *cluster.Snapshot {
	t.Helper()
	s, err := scenario.Parse("small", "# A small cluster.\n"+text+"\npreempt nobody")
	require.NoError(t, err)
	return &s.Snapshot
}

// index is snapshot, compiled.
func index(t *testing.T, text string) *cluster.Index {
	t.Helper()
	ix, err := cluster.NewIndex(snapshot(t, text))
	require.NoError(t, err)
	return ix
}

// small are the units of a small cluster under the newest rules.
func small(t *testing.T, text string) *victims.Units {
	t.Helper()
	return victims.NewUnits(index(t, text), victims.Units137, victims.Worth{})
}

// unit is the one that pod name belongs to.
func unit(t *testing.T, us *victims.Units, name string) victims.UnitID {
	t.Helper()
	u, ok := us.UnitOf(us.Index().PodByName("default", name))
	require.True(t, ok, "%s is of a unit", name)
	return u
}

// spell names units by their pods: "a t0+t1" is pod a, then t0 and t1 as a whole.
func spell(us *victims.Units, list []victims.UnitID) string {
	var units []string
	for _, u := range list {
		units = append(units, strings.ReplaceAll(names(us.Index(), us.Unit(u).Pods), " ", "+"))
	}
	return strings.Join(units, " ")
}

func names(ix *cluster.Index, pods []cluster.PodID) string {
	var list []string
	for _, p := range pods {
		list = append(list, ix.Pod(p).Name)
	}
	return strings.Join(list, " ")
}

// all are the units there are, in order of the name of their first pod.
func all(us *victims.Units) string {
	var list []string
	for u := range victims.UnitID(us.Len()) {
		list = append(list, spell(us, []victims.UnitID{u}))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// on are the units of node n1, most important first.
func on(us *victims.Units) string { return spell(us, us.On(us.Index().NodeByName("n1"))) }

// byName is a user's order: whoever is called keep is kept, all else is left to the rules.
type byName struct{}

func (byName) Compare(us *victims.Units, a, b victims.UnitID) int {
	name := func(u victims.UnitID) int {
		if us.Index().Pod(us.Unit(u).Pods[0]).Name == "keep" {
			return 0
		}
		return 1
	}
	return cmp.Compare(name(a), name(b))
}

// What a user may add to the order of importance, and where it comes.
func TestWorth(t *testing.T) {
	fixed := victims.Tariff{Tariff: disruption.Tariff{Fixed: 1}}
	for _, c := range []struct {
		name, cluster string
		worth         victims.Worth
		want          string
	}{
		{"the dearer of equals stays", "pods cheap@n1 start=t0 cost=1 dear@n1 start=t9 cost=2", victims.Worth{Cost: fixed, ByCost: true}, "dear cheap"},
		{"prices alone change nothing", "pods cheap@n1 start=t0 cost=1 dear@n1 start=t9 cost=2", victims.Worth{Cost: fixed}, "cheap dear"},
		{"priority comes first", "pods cheap@n1 prio=2 dear@n1 prio=1 cost=2", victims.Worth{Cost: fixed, ByCost: true}, "cheap dear"},
		{"a price before the kind of unit", "pods dear@n1 cost=1\ngroup g mode=All g0@n1 g1@n1", victims.Worth{Cost: fixed, ByCost: true}, "dear g0+g1"},

		// Kubernetes #141227: whoever can go nowhere else is kept before one who can.
		{"pinned by its selector", "pods free@n1 start=t0 pinned@n1 start=t9 select=zone=a", victims.Worth{ByPlace: true}, "pinned free"},
		{"by affinity to the node's name", "pods free@n1 start=t0 pinned@n1 start=t9 affinity=@metadata.name:In:n1", victims.Worth{ByPlace: true}, "pinned free"},
		{"by a taint elsewhere", "nodes n3 taints=gpu=yes:NoSchedule labels=kind=gpu\npods free@n1 start=t0 pinned@n1 start=t9 select=kind=gpu", victims.Worth{ByPlace: true}, "pinned free"},
		{"not if it is tolerated", "nodes n3 taints=gpu=yes:NoSchedule labels=kind=gpu\npods a@n1 start=t0 b@n1 start=t9 select=kind=gpu tolerate=gpu=yes:NoSchedule", victims.Worth{ByPlace: true}, "a b"},
		{"cordons and room do not matter", "nodes n3 cordoned=yes labels=kind=x pods=0\npods a@n1 start=t0 b@n1 start=t9 select=kind=x", victims.Worth{ByPlace: true}, "a b"},
		{"one pinned pod pins its unit", "group g mode=All start0@n1 start=t9 pinned@n1 select=zone=a start=t9\ngroup h mode=All h0@n1 start=t0 h1@n1 start=t0 ", victims.Worth{ByPlace: true}, "pinned+start0 h0+h1"},
		{"priority comes first again", "pods free@n1 prio=2 pinned@n1 prio=1 select=zone=a", victims.Worth{ByPlace: true}, "free pinned"},
		{"the place before the price", "pods dear@n1 cost=9 pinned@n1 cost=1 select=zone=a", victims.Worth{Cost: fixed, ByCost: true, ByPlace: true}, "pinned dear"},
		{"among the pinned, the price", "pods a@n1 cost=1 select=zone=a b@n1 cost=9 select=zone=a", victims.Worth{Cost: fixed, ByCost: true, ByPlace: true}, "b a"},

		{"an order of the user's before all else", "pods high@n1 prio=9 keep@n1 prio=1 mid@n1 prio=5", victims.Worth{Order: byName{}}, "keep high mid"},
		{"which may be upstream's", "pods high@n1 prio=9 keep@n1 prio=1 mid@n1 prio=5", victims.Worth{Order: victims.Upstream{}}, "high mid keep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			us := victims.NewUnits(index(t, "nodes n1 labels=zone=a n2\n"+c.cluster), victims.Units137, c.worth)
			require.Equal(t, c.want, on(us))
			require.Equal(t, c.worth.Order == nil, us.ByLevel())
			if c.worth.Order != nil {
				require.ElementsMatch(t, []string{"keep", "mid"}, strings.Fields(spell(us, us.Potential(0, 9))), "by level, whatever the order")
			}
		})
	}
}

// byClock turns around with every second, and panics when it is asked for the first time.
type byClock struct{ asked *int }

func (o byClock) Compare(us *victims.Units, a, b victims.UnitID) int {
	if *o.asked++; *o.asked == 1 {
		panic("not yet")
	}
	return int(a-b) * int(us.Index().Time().Unix()%2*2-1)
}

// An order may read the time; one that panics leaves the next caller to sort.
func TestAnOrderReadsTheTime(t *testing.T) {
	asked := 1
	ix := index(t, "nodes n1\npods a@n1 start=t0 b@n1 start=t0 c@n1 start=t0")
	us := victims.NewUnits(ix, victims.Units137, victims.Worth{Order: byClock{&asked}})
	asked = 0
	require.Panics(t, func() { us.Sorted([]victims.UnitID{0, 1, 2}) })
	for second := range int64(4) {
		before := ix.Time()
		ix.SetTime(time.Unix(1<<31+second, 0))
		us.SetTime(before)
		us.Settle(nil)
		want := []string{"c b a", "a b c"}[second%2]
		require.Equal(t, want, on(us))
		require.Equal(t, want, spell(us, us.Sorted([]victims.UnitID{0, 1, 2})))
	}
}

// A pod is movable as long as there is another node for it: nodes come, change and go.
func TestPlacesFollowNodes(t *testing.T) {
	ix := index(t, "nodes n1 labels=zone=a n2\npods free@n1 start=t0 bound@n1 start=t9 select=zone=a")
	us := victims.NewUnits(ix, victims.Units137, victims.Worth{ByPlace: true})
	require.Equal(t, "bound free", on(us))
	fork := us.Fork(ix.Fork())
	for _, c := range []struct{ zone, want string }{{"a", "free bound"}, {"b", "bound free"}, {"a", "free bound"}} {
		ix.SetNode(nil, &cluster.Node{Name: "n2", Labels: map[string]string{"zone": c.zone}})
		us.SetNode(ix.NodeByName("n2"))
		us.Settle(nil)
		require.Equal(t, c.want, on(us), "n2 is in zone %s", c.zone)
	}
	fork.Settle(nil)
	require.Equal(t, "bound free", on(fork), "the fork's n2 is not")
}

// By place, of equal priority those units come first of which a pod can run on no other node.
func TestByPlaceIsBruteForce(t *testing.T) {
	tied, free := 0, 0
	for seed := range uint64(300) {
		q := gen.Random(seed, gen.Everything())
		for i := range q.Snapshot.Pods {
			if p := &q.Snapshot.Pods[i]; i%5 == 0 {
				p.RequiredNode = []string{p.Node, "elsewhere"}[i/5%2]
			} else if i%5 == 1 {
				rank := cluster.NodeRequirement{Key: "rank", Operator: []cluster.NodeOperator{cluster.NodeGt, cluster.NodeLt}[i/10%2], Values: []string{strconv.Itoa(i % 3)}}
				name := cluster.NodeRequirement{Key: "metadata.name", Operator: cluster.NodeIn, Values: []string{q.Snapshot.Nodes[0].Name}}
				p.NodeAffinity = &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{Labels: []cluster.NodeRequirement{rank}}, {Fields: []cluster.NodeRequirement{name}}}[i%2:][:1]}
			}
		}
		for i := range q.Snapshot.Nodes {
			n := &q.Snapshot.Nodes[i]
			n.Labels = maps.Clone(n.Labels)
			if n.Labels != nil && i > 0 {
				n.Labels["rank"] = strconv.Itoa(i - 1)
			}
		}
		ix, err := cluster.NewIndex(&q.Snapshot)
		if err != nil {
			continue
		}
		us := victims.NewUnits(ix, victims.Units137, victims.Worth{ByPlace: true})
		movable := func(u victims.UnitID) bool {
			return !slices.ContainsFunc(us.Unit(u).Pods, func(p cluster.PodID) bool {
				pod, at := ix.Pod(p), ix.NodeOf(p)
				if pod.RequiredNode != "" && pod.RequiredNode == pod.Node {
					return true
				}
				rule := noderules.NewRule(pod)
				for n := range ix.Nodes() {
					if n != at && rule.Matches(ix.Node(n)) && rule.Untolerated(ix.Node(n)) == nil {
						return false
					}
				}
				return true
			})
		}
		for n := range ix.Nodes() {
			on := us.On(n)
			require.Equal(t, len(on), cap(on), "whoever appends to it has a copy")
			for i := 1; i < len(on); i++ {
				a, b := on[i-1], on[i]
				if us.Unit(a).Priority == us.Unit(b).Priority {
					require.False(t, movable(a) && !movable(b), "seed %d", seed)
				}
			}
			for _, u := range on {
				if movable(u) {
					free++
				} else {
					tied++
				}
			}
		}
	}
	require.Greater(t, min(tied, free), 100)
}
