package victims_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/noderules"
	"github.com/preempt-go/preempt/internal/scenario"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
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

// followed are units that follow their index, with all that is known of them.
type followed struct {
	ix *cluster.Index
	us *victims.Units
	ps *victims.Protections

	waits  bool            // changes of pods wait until somebody settles them
	shifts []victims.Shift // of those that do
}

// settle settles what has changed, by shifts and before, unless it may wait.
func (f *followed) settle(shifts []victims.Shift) []victims.Shift {
	if f.shifts = append(f.shifts, shifts...); f.waits {
		return nil
	}
	shifts, f.shifts = f.us.Settle(f.shifts), nil
	return shifts
}

func follow(ix *cluster.Index, rule victims.UnitRule, w victims.Worth, keep keeping) *followed {
	f := &followed{ix: ix, us: victims.NewUnits(ix, rule, w)}
	f.ps = f.us.Protect(keep.guards, keep.base)
	f.us.Follow(f.ps)
	return f
}

// keeping is what keeps units from preemptors.
type keeping struct {
	guards victims.Guards
	base   victims.Eligible
}

var keepings = []keeping{
	{guards: victims.Guards{GuaranteedSeconds: 300, Cooldown: victims.Cooldown{Evictions: 1, Seconds: 900}}},
	{guards: victims.Guards{Toleration: priority.TolerationDesign}},
	{guards: victims.Guards{EqualAfterSeconds: 480}},
	{base: victims.Unqueued{Base: victims.LowerPriority{EqualAfterSeconds: 480}}},
	{guards: victims.Guards{Protect: &disruption.Selector{MatchLabels: map[string]string{"app": "db"}}}},
	{},
}

func (f *followed) fork() *followed {
	ix := f.ix.Fork()
	us := f.us.Fork(ix)
	return &followed{ix: ix, us: us, ps: us.Protections(), shifts: slices.Clone(f.shifts)}
}

// set puts p in place of the pod of its name, or adds it, and returns how nodes have changed.
func (f *followed) set(p *cluster.Pod) []victims.Shift {
	old := f.ix.PodByName(p.Namespace, p.Name)
	if !f.ix.MaySetPod(p, old) {
		return nil
	}
	if alone := func(p *cluster.Pod) bool { return p.Node != "" && p.Group == "" }; old != cluster.NoPod && alone(p) && alone(f.ix.Pod(old)) {
		from := f.ix.NodeOf(old)
		f.ix.SetPod(p, old)
		return f.settle(f.us.Replace(nil, old, from))
	}
	var moved []victims.Shift
	if old != cluster.NoPod {
		moved = f.us.Remove(moved, old)
	}
	return f.settle(f.us.Add(moved, f.ix.SetPod(p, old), &victims.Budgets{}))
}

func (f *followed) remove(p cluster.PodID) []victims.Shift {
	if !f.ix.MayRemovePod(p) {
		return nil
	}
	moved := f.us.Remove(nil, p)
	f.ix.RemovePod(p)
	return f.settle(moved)
}

func (f *followed) setTime(now time.Time) []victims.Shift {
	before := f.ix.Time()
	if !f.ix.MaySetTime(now) {
		return nil
	}
	f.ix.SetTime(now)
	f.us.SetTime(before)
	return f.us.Settle(nil)
}

// touched says of nodes that something about them has changed.
func touched(nodes ...cluster.NodeID) (list []victims.Shift) {
	for _, n := range nodes {
		if n != cluster.NoNode {
			list = append(list, victims.Shift{Node: n, Anew: true})
		}
	}
	return list
}

// setNode puts n in place of the node of its name, or adds it.
func (f *followed) setNode(n *cluster.Node) []victims.Shift {
	if !f.ix.MaySetNode(n) {
		return nil
	}
	there := f.ix.NodeByName(n.Name) != cluster.NoNode
	moved := f.ix.SetNode(nil, n)
	if there {
		f.us.SetNode(moved[0])
		return f.us.Settle(touched(moved...))
	}
	f.us.Renumber(moved, f.ix.PodsOn(f.ix.NodeByName(n.Name)))
	return f.us.Settle(touched(moved...))
}

func (f *followed) removeNode(n cluster.NodeID) {
	if n == cluster.NoNode || !f.ix.MayRemoveNode(n) {
		return
	}
	pods := f.ix.PodsOn(n)
	f.ix.RemoveNode(n)
	f.us.Renumber([]cluster.NodeID{n}, pods)
	f.us.Settle(touched(n))
}

// setClass lets the class batch be worth as much, or be gone.
func (f *followed) setClass(k *priority.Class) []victims.Shift {
	pods, ok := f.ix.SetClass("batch", k)
	if !ok {
		return nil
	}
	f.us.Reconsider(pods)
	var nodes []cluster.NodeID
	for _, p := range pods {
		nodes = append(nodes, f.ix.NodeOf(p))
	}
	return f.us.Settle(touched(nodes...))
}

// tell is all that is known of the units of each node, in order.
func (f *followed) tell() string {
	var b strings.Builder
	for n := range f.ix.Nodes() {
		fmt.Fprintf(&b, "%s: %s\n", f.ix.Node(n).Name, f.stand(n))
		for _, u := range f.us.On(n) {
			unit := f.us.Unit(u)
			fmt.Fprintf(&b, "  %s priority %d started %d elastic %v; %s\n", spell(f.us, []victims.UnitID{u}),
				unit.Priority, unit.Started, unit.Elastic, f.ps.Kept(u, victims.Claim{Priority: 100}))
			for prio := range int32(3) {
				fmt.Fprintf(&b, "    from %d: %s\n", prio, f.ps.Kept(u, victims.Claim{Priority: prio}))
			}
		}
		fmt.Fprintf(&b, "  all in order: %s\n", spell(f.us, f.us.Sorted(f.us.On(n))))
	}
	return b.String()
}

// stand is the order of the units of node n, what they cost, and for whom they may be evicted.
func (f *followed) stand(n cluster.NodeID) string {
	var b strings.Builder
	for _, u := range f.us.On(n) {
		fmt.Fprintf(&b, " %s level %d cost %d:", spell(f.us, []victims.UnitID{u}), f.us.Unit(u).Level, f.us.Cost(u))
		for _, prio := range []int32{0, 1, 2, 3, 100, 200} {
			fmt.Fprintf(&b, " %v", f.ps.May(u, victims.Claim{Priority: prio}))
		}
	}
	return b.String()
}

// stands is stand of each node.
func (f *followed) stands() map[cluster.NodeID]string {
	all := map[cluster.NodeID]string{}
	for n := range f.ix.Nodes() {
		all[n] = f.stand(n)
	}
	return all
}

// randomPod is one of a few pods, with whatever may make a difference.
func randomPod(r *rand.Rand) *cluster.Pod {
	prio := int32(r.IntN(3))
	p := &cluster.Pod{Namespace: "default", Name: fmt.Sprint("p", r.IntN(9)), UID: fmt.Sprint(r.IntN(3)), Priority: &prio}
	p.Node = []string{"n1", "n1", "n2", "n3", ""}[r.IntN(5)]
	p.NodeSelector = []map[string]string{nil, nil, {"zone": "a"}, {"zone": "b"}}[r.IntN(4)]
	p.Group = []string{"", "", "whole", "elastic", "single", "child", "sibling"}[r.IntN(7)]
	if r.IntN(3) > 0 {
		p.Started = noon.Add(-time.Duration(r.IntN(4)) * 4 * time.Minute)
	}
	switch r.IntN(9) {
	case 0:
		p.Cost = &cluster.Cost{Fixed: int64(r.IntN(9))}
	case 1:
		if p.Guard = (&cluster.Guard{Standby: r.IntN(2) == 0}); r.IntN(2) == 0 {
			p.Class = "lost"
		}
	case 2:
		p.Evictions = []time.Time{noon.Add(-time.Duration(r.IntN(20)) * time.Minute)}
	case 3:
		p.Guard = &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: 60, Value: 50}, {Seconds: 600, Value: 2}}}
	case 4:
		p.Class, p.Scheduled = "batch", noon.Add(-time.Duration(r.IntN(12))*time.Minute)
	case 5:
		p.Labels = map[string]string{"app": "db"}
	case 6:
		p.Cost = &cluster.Cost{Milestones: []cluster.Milestone{{Seconds: 60, Value: 50}, {Seconds: 600, Value: 0}}}
	}
	return p
}

// plainPod is one of a few pods, mostly of two units.
func plainPod(r *rand.Rand) *cluster.Pod {
	prio := int32(1 + r.IntN(9)/8)
	p := &cluster.Pod{Namespace: "default", Name: fmt.Sprint("p", r.IntN(9)), UID: fmt.Sprint(r.IntN(3)), Priority: &prio}
	p.Node = []string{"n1", "n1", "n2", "n3", ""}[r.IntN(5)]
	p.Group = []string{"", "whole", "whole", "whole", "child", "sibling"}[r.IntN(6)]
	if r.IntN(3) > 0 {
		p.Started = noon.Add(-time.Duration(r.IntN(9)/8) * 4 * time.Minute)
	}
	if r.IntN(2) == 0 {
		p.Cost = &cluster.Cost{Fixed: int64(r.IntN(9)), Milestones: []cluster.Milestone{{Seconds: 60, Value: 50}, {Seconds: 600, Value: 0}}}
	}
	return p
}

// ownCost is not known to be a tariff.
type ownCost struct{ victims.Tariff }

var long = flag.Int("long", 0, "above 0: try three times as many lives")

// Whatever comes, goes and changes: units that follow are those that would be formed anew, and a
// fork keeps what was. Nodes are told of that stand otherwise than before.
func TestUnitsThatFollowAreThoseFormedAnew(t *testing.T) {
	tariff := victims.Tariff{Tariff: disruption.Tariff{Fixed: 1, Milestones: 1, Pods: 1}}
	worths := []victims.Worth{{}, {Cost: tariff, ByCost: true}, {ByPlace: true}, {Cost: tariff, Order: byName{}}}
	lives, grown := uint64(200), 0
	if *long > 0 {
		lives = 600
	}
	for seed := range lives {
		r := rand.New(rand.NewPCG(seed, 9))
		text := "nodes n1 n2\ngroup whole mode=All prio=1 levels=60:50,600:2\ngroup elastic mode=SurplusFirst min=1 prio=1\ngroup single prio=2 levels=60:50,600:2\ngroup child parent=job costs=2m:9,9m:0\n" +
			"group sibling parent=job cost=3 costs=4m:3,11m:7\ncomposite job mode=All prio=1 levels=60:50,600:2"
		if r.IntN(2) == 0 {
			text += "\nclass batch value=1 minimum-preemptable=2 toleration-seconds=600"
		}
		ix := index(t, text)
		rule := []victims.UnitRule{victims.Pods136, victims.Groups136, victims.Units137, victims.UnitsKEP}[r.IntN(4)]
		w := worths[r.IntN(len(worths))]
		keep, randomPod := keepings[r.IntN(len(keepings))], randomPod
		if seed%3 == 0 { // with guards a group is formed anew whoever comes
			ix, randomPod = index(t, "nodes n1 n2\ngroup whole mode=All prio=1 costs=4m:9,11m:0\ngroup child parent=job costs=2m:9,9m:0\ngroup sibling parent=job cost=3\n"+
				"composite job mode=All prio=1 cost=2"), plainPod
			w, keep = []victims.Worth{{}, {Cost: tariff}, {Cost: tariff}, {Cost: ownCost{tariff}}, worths[1]}[r.IntN(5)], keepings[len(keepings)-1-r.IntN(7)/6]
		}
		for range []int{0, 0, 5, 9}[r.IntN(4)] { // there at the start
			p := randomPod(r)
			if p.Node == "n3" {
				p.Node = "n2"
			}
			if old := ix.PodByName(p.Namespace, p.Name); ix.MaySetPod(p, old) {
				ix.SetPod(p, old)
			}
		}
		f := follow(ix, rule, w, keep)
		for step := range 30 {
			var fork *followed
			before := ""
			if step%10 == 5 {
				fork, before = f.fork(), f.tell()
			}
			stands := f.stands()
			for f.waits = true; r.IntN(3) == 0; { // several changes at once
				if p := ix.PodByName("default", fmt.Sprint("p", r.IntN(9))); p != cluster.NoPod && r.IntN(2) == 0 {
					f.remove(p)
				} else {
					f.set(randomPod(r))
				}
			}
			if f.waits = false; fork == nil && r.IntN(2) == 0 {
				fork = f.fork() // in the midst of them
				fork.settle(nil)
				before = fork.tell()
			}
			var waited, shifts []victims.Shift
			renumbered, kind := false, r.IntN(9)
			if kind == 1 || kind == 2 || kind > 5 { // of nothing but pods
				waited = f.settle(nil)
			}
			switch kind {
			case 6:
				node := &cluster.Node{Name: fmt.Sprint("n", 1+r.IntN(4))}
				if r.IntN(2) == 0 {
					node.Labels = map[string]string{"zone": []string{"a", "b"}[r.IntN(2)]}
				}
				if r.IntN(4) == 0 {
					node.Taints = []cluster.Taint{{Key: "gpu", Effect: cluster.NoSchedule}}
				}
				renumbered = f.ix.NodeByName(node.Name) == cluster.NoNode
				shifts = f.setNode(node)
			case 7:
				f.removeNode(f.ix.NodeByName(fmt.Sprint("n", 1+r.IntN(4))))
				renumbered = true
			case 8:
				k := &priority.Class{Name: "batch", Value: 1, GuaranteedSeconds: []int64{0, 0, 300}[r.IntN(3)]}
				if r.IntN(3) == 0 {
					k = nil
				}
				shifts = f.setClass(k)
			case 0:
				if p := ix.PodByName("default", fmt.Sprint("p", r.IntN(9))); p != cluster.NoPod {
					shifts = f.remove(p)
				}
			case 1:
				shifts = f.setTime(noon.Add(time.Duration(r.IntN(30)-10) * time.Minute))
			case 2:
				shifts = f.setTime(f.ix.Time().Add(time.Duration(r.IntN(300)) * time.Second))
			default:
				shifts = f.set(randomPod(r))
			}
			shifts = slices.Concat(waited, shifts, f.settle(nil))
			fresh, err := f.ix.Objects().Index()
			require.NoError(t, err)
			require.Equal(t, follow(fresh, rule, w, keep).tell(), f.tell(), "seed %d, step %d", seed, step)
			for n, stand := range f.stands() {
				if !renumbered && stand != stands[n] {
					require.True(t, slices.ContainsFunc(shifts, func(s victims.Shift) bool {
						return s.Node == n || s.Node == cluster.NoNode && slices.Contains(f.us.On(n), s.Grown)
					}), "seed %d, step %d", seed, step)
				}
			}
			if slices.ContainsFunc(shifts, func(s victims.Shift) bool { return s.Node == cluster.NoNode }) {
				grown++
			}
			if fork != nil {
				require.Equal(t, before, fork.tell(), "seed %d, step %d: the fork", seed, step)
				fork.setNode(&cluster.Node{Name: "n2"})
				fork.set(randomPod(r))
				fresh, err := fork.ix.Objects().Index()
				require.NoError(t, err)
				require.Equal(t, follow(fresh, rule, w, keep).tell(), fork.tell(), "seed %d, step %d: the fork", seed, step)
				fresh, err = f.ix.Objects().Index()
				require.NoError(t, err)
				require.Equal(t, follow(fresh, rule, w, keep).tell(), f.tell(), "seed %d, step %d: beside the fork", seed, step)
			}
		}
	}
	require.Greater(t, grown, 30)
}

// A group that grows in a fork and beside it has the pods that came there, wherever they stand among the others.
func TestForksGrowApart(t *testing.T) {
	f := follow(index(t, "nodes n1\ngroup w mode=All prio=1 w0@n1 w1@n1"), victims.Units137, victims.Worth{}, keepings[5])
	low := int32(1)
	set := func(f *followed, group string, names ...string) {
		for _, name := range names {
			f.set(&cluster.Pod{Namespace: "default", Name: name, Node: "n1", Group: group, Priority: &low})
		}
	}
	set(f, "w", "w2", "w3", "w4")
	idle, fork := f.fork(), f.fork()
	set(fork, "", "x")
	set(fork, "w", "w5")
	set(f, "w", "w6", "v")
	require.Equal(t, []string{"v+w0+w1+w2+w3+w4+w6", "w0+w1+w2+w3+w4+w5 x", "w0+w1+w2+w3+w4"}, []string{on(f.us), on(fork.us), on(idle.us)})
}

// A unit that grows costs what it would if it were formed anew, then and later, also where the pod that comes is the first that
// runs of a group whose costs begin with that.
func TestUnitsThatGrowCostWhatTheyWould(t *testing.T) {
	low, w := int32(1), victims.Worth{Cost: victims.Tariff{Tariff: disruption.Tariff{Fixed: 1, Milestones: 1, Pods: 1}}}
	grown := 0
	for _, groups := range []string{
		"composite job mode=All prio=1\ngroup child parent=job costs=2m:9,9m:30 c0@n1\ngroup sibling parent=job s0@n1 start=11:40",
		"composite job mode=All prio=1\ngroup child parent=job costs=2m:9,9m:30 c0@n1 start=12:20\ngroup sibling parent=job s0@n1 start=11:40",
		"composite job mode=All prio=1 costs=3m:9,8m:20\ngroup child parent=job c0@n1\ngroup sibling parent=job s0@n1",
	} {
		f := follow(index(t, "nodes n1\n"+groups), victims.Units137, w, keepings[5])
		same := func() {
			fresh, err := f.ix.Objects().Index()
			require.NoError(t, err)
			require.Equal(t, follow(fresh, victims.Units137, w, keepings[5]).tell(), f.tell(), groups)
		}
		for i, minute := range []time.Duration{9, 8, 10} {
			p := cluster.Pod{Namespace: "default", Name: fmt.Sprint("c", i+1), Node: "n1", Group: "child", Priority: &low, Started: noon.Add(minute * time.Minute)}
			if f.set(&p)[0].Node == cluster.NoNode {
				grown++
			}
			same()
			if f.setTime(noon.Add(time.Duration(10+2*i) * time.Minute)); i == 2 {
				f.setTime(noon.Add(30 * time.Minute))
			}
			same()
		}
	}
	require.Equal(t, 8, grown)
}

// Quiet: nobody moved, though something about somebody may have changed.
func TestQuietShifts(t *testing.T) {
	for shift, want := range map[victims.Shift]bool{
		{Out: victims.NoPosition, In: victims.NoPosition}:             true,
		{Out: 0, In: victims.NoPosition}:                              false,
		{Out: victims.NoPosition, In: 0}:                              false,
		{Out: 1, In: 1}:                                               false,
		{Out: victims.NoPosition, In: victims.NoPosition, Anew: true}: false,
	} {
		require.Equal(t, want, shift.Quiet(), "%+v", shift)
	}
}

// What a change moves, in positions: from the most important, which is 0.
func TestShiftsTellWhoMoved(t *testing.T) {
	f := follow(index(t, "nodes n1 n2\ngroup w mode=All prio=5 w0@n1 w1@n2\npods a@n1 prio=9 b@n1 prio=1"), victims.Units137, victims.Worth{}, keepings[0])
	pod := func(node string, prio int32) *cluster.Pod {
		return &cluster.Pod{Namespace: "default", Name: "c", Node: node, Priority: &prio}
	}
	f.ix.SetPod(pod("n1", 3), cluster.NoPod)
	c := f.ix.PodByName("default", "c")
	require.Equal(t, []victims.Shift{{Node: 0, Out: victims.NoPosition, In: 2}}, f.us.Add(nil, c, nil))
	require.Equal(t, "a w0+w1 c b", on(f.us))
	for _, step := range []struct {
		node string
		prio int32
		want []victims.Shift
	}{
		{"n1", 2, []victims.Shift{{Node: 0, Out: 2, In: 2}}},
		{"n1", 9, []victims.Shift{{Node: 0, Out: 2, In: 1}}},
		{"n2", 9, []victims.Shift{{Node: 0, Out: 1, In: victims.NoPosition}, {Node: 1, Out: victims.NoPosition, In: 0}}},
		{"gone", 9, []victims.Shift{{Node: 1, Out: 0, In: victims.NoPosition}}},
		{"gone", 8, nil},
		{"n1", 0, []victims.Shift{{Node: 0, Out: victims.NoPosition, In: 3}}},
	} {
		from := f.ix.NodeOf(c)
		f.ix.SetPod(pod(step.node, step.prio), c)
		require.Equal(t, step.want, f.us.Replace(nil, c, from), "to %s, priority %d", step.node, step.prio)
	}
	w1 := f.ix.PodByName("default", "w1")
	require.Equal(t, []victims.Shift{ // the whole unit is taken off
		{Node: 0, Out: 1, In: victims.NoPosition}, {Node: 1, Out: 0, In: victims.NoPosition},
	}, f.us.Remove(nil, w1))
	require.Equal(t, "a b c", on(f.us))
	require.True(t, f.us.Apart())
	require.Equal(t, []victims.Shift{{Node: 0, Out: victims.NoPosition, In: 1}}, f.us.Settle(nil), "what is left of it is put on")
	require.Equal(t, "a w0 b c", on(f.us))
	require.False(t, f.us.Apart())
	gone := unit(t, f.us, "c")
	f.us.Remove(nil, c)
	f.ix.RemovePod(c)
	require.False(t, f.us.Exists(gone))
	f.us.Add(nil, f.ix.SetPod(pod("n1", 7), cluster.NoPod), nil)
	require.Equal(t, gone, unit(t, f.us, "c"), "a hole is filled first")
	require.True(t, slices.Contains(f.us.On(0), gone))
}

// Time concerns those alone for whom something is due by then, in its last second at the
// earliest; everybody where it goes back.
func TestTimeConcernsWhomSomethingIsDueFor(t *testing.T) {
	const pods = "nodes n1 n2 n3\npods a@n1 start=11:58 b@n2 start=11:55 c@n3 start=11:00\n"
	at := func(minutes, seconds int) time.Time {
		return noon.Add(time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second)
	}
	type step struct {
		now  time.Time
		want string // nodes of which something may have changed
	}
	hour := victims.Guards{GuaranteedSeconds: 600}
	equals := victims.LowerPriority{EqualAfterSeconds: 600}
	cost := victims.Worth{Cost: victims.Tariff{Tariff: disruption.Tariff{Milestones: 1}}}
	for _, c := range []struct {
		name, text string
		rule       victims.UnitRule
		worth      victims.Worth
		keep       keeping
		steps      []step
	}{
		{"nobody is kept, and nothing costs", pods, victims.Units137, victims.Worth{}, keeping{}, []step{{at(60, 0), ""}, {at(-60, 0), ""}, {time.Time{}, ""}}},
		{"until they have run as long as is guaranteed", pods, victims.Units137, victims.Worth{}, keeping{guards: hour},
			[]step{{at(4, 58), ""}, {at(4, 59), ""}, {at(5, 0), "n2"}, {at(7, 58), ""}, {at(8, 0), "n1"}, {at(99, 0), ""}, {at(0, 0), "n1 n2"}}},
		{"until equals may go", pods, victims.Units137, victims.Worth{}, keeping{base: equals},
			[]step{{at(4, 58), ""}, {at(5, 0), "n2"}, {at(7, 58), ""}, {at(8, 0), "n1"}, {at(99, 0), ""}, {at(8, 0), "n1 n2 n3"}}},
		{"without a queue", pods, victims.Units137, victims.Worth{}, keeping{base: victims.Unqueued{Base: equals}}, []step{{at(4, 58), ""}, {at(5, 0), "n2"}}},
		{"by a rule of one's own nothing is due", pods, victims.Units137, victims.Worth{}, keeping{base: never{}}, []step{{at(99, 0), ""}}},
		{"where somebody is protected for ever, too", pods, victims.Units137, victims.Worth{},
			keeping{guards: victims.Guards{Protect: &disruption.Selector{}}}, []step{{at(99, 0), ""}, {at(98, 0), ""}}},
		{"who has not started counts as started now", "nodes n1 n2\npods a@n1 b@n2 start=11:00\n", victims.Units137, victims.Worth{}, keeping{}, []step{{at(0, 1), "n1"}}},
		{"at milestones of costs", "nodes n1 n2\npods a@n1 start=11:58 costs=5m:50,10m:0 b@n2 start=11:58", victims.Units137, cost, keeping{},
			[]step{{at(8, 0), "n1"}, {at(9, 0), ""}}},
		{"until its class tolerates no longer", "class batch value=1 minimum-preemptable=200 toleration-seconds=600\nnodes n1 n2\npods a@n1 class=batch start=11:55 scheduled=11:55 b@n2 start=11:55", victims.Units137, victims.Worth{}, keeping{},
			[]step{{at(4, 58), ""}, {at(5, 0), "n1"}, {at(99, 0), ""}}},
		{"with every second of work that is lost", "nodes n1 n2\npods a@n1 cpu=1 start=11:00 b@n2 start=11:00", victims.Units137,
			victims.Worth{Cost: victims.Tariff{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Price: 1, Per: 1}}}}}, keeping{},
			[]step{{at(0, 1), "n1"}, {at(0, 2), "n1"}}},
		{"where work costs nothing, never", "nodes n1 n2\npods a@n1 cpu=1 start=11:00 b@n2 start=11:00", victims.Units137,
			victims.Worth{Cost: victims.Tariff{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Per: 1}}}}}, keeping{},
			[]step{{at(0, 1), ""}}},
		{"at milestones of a group that goes whole", "nodes n1 n2\ngroup g mode=All costs=5m:50,10m:0 a@n1 start=11:58\npods b@n2 start=11:58", victims.Units137, cost, keeping{},
			[]step{{at(8, 0), "n1"}, {at(9, 0), ""}}},
		{"of levels, under the KEP's early text", "nodes n1 n2\npods a@n1 start=11:58 levels=300:50,600:2 b@n2 start=11:58", victims.UnitsKEP, victims.Worth{}, keeping{},
			[]step{{at(8, 0), "n1"}, {at(9, 0), ""}}},
		{"under other rules nobody reads these", "nodes n1 n2\npods a@n1 start=11:58 levels=300:50,600:2 b@n2 start=11:58", victims.Units137, victims.Worth{}, keeping{}, []step{{at(9, 0), ""}}},
	} {
		f := follow(index(t, c.text), c.rule, c.worth, c.keep)
		for _, s := range c.steps {
			var nodes []string
			for _, shift := range f.setTime(s.now) {
				nodes = append(nodes, f.ix.Node(shift.Node).Name)
			}
			require.Equal(t, s.want, strings.Join(nodes, " "), "%s: %s", c.name, s.now)
		}
	}
}

// never lets nobody go.
type never struct{}

func (never) Kept(*victims.Units, victims.UnitID, victims.Claim) victims.Kept {
	return victims.Kept{Rule: "never"}
}

// noon is the time of a small cluster.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// Upstream's rule: strictly lower priority. Where equals may go, they need to have run for
// ten minutes here, and not less than the preemptor did.
func TestLowerPriority(t *testing.T) {
	const equals = 600
	for _, c := range []struct {
		name, cluster string // about the unit of pod a
		after         int64
		claim         victims.Claim
		want          string
	}{
		{"lower", "pods a@n1 prio=9", 0, victims.Claim{Priority: 10}, "may be evicted"},
		{"equal", "pods a@n1 prio=10", 0, victims.Claim{Priority: 10}, "its priority 10 is not below the preemptor's"},
		{"higher", "pods a@n1 prio=11", equals, victims.Claim{Priority: 10}, "its priority 11 is not below the preemptor's"},
		{"a group's counts, not the pod's", "group g prio=11 a@n1 prio=1", 0, victims.Claim{Priority: 10}, "its priority 11 is not below the preemptor's"},
		{"exposed by its group", "group g prio=1 a@n1 prio=11", 0, victims.Claim{Priority: 10}, "may be evicted"},
		{"an equal that ran for long", "pods a@n1 prio=10 start=11:50", equals, victims.Claim{Priority: 10}, "may be evicted"},
		{
			"an equal, a second too early", "pods a@n1 prio=10 start=11:50:01", equals, victims.Claim{Priority: 10},
			"as important as the preemptor, safe from its equals for another 1s",
		},
		{
			"all of its pods have to have run", "group g mode=All prio=10 a@n1 start=11:00 b@n1 start=11:55", equals, victims.Claim{Priority: 10},
			"as important as the preemptor, safe from its equals for another 5m0s",
		},
		{
			"one that has not started", "pods a@n1 prio=10", equals, victims.Claim{Priority: 10},
			"as important as the preemptor, safe from its equals for another 10m0s",
		},
		{"a lower one never waits", "pods a@n1 prio=9", equals, victims.Claim{Priority: 10}, "may be evicted"},
		{
			"the preemptor was evicted a moment ago", "pods a@n1 prio=10 start=10:00", equals, victims.Claim{Priority: 10, Evicted: noon.Add(-time.Minute)},
			"as important as the preemptor, which was evicted lately: safe for another 9m0s",
		},
		{"that was long ago", "pods a@n1 prio=10 start=10:00", equals, victims.Claim{Priority: 10, Evicted: noon.Add(-10 * time.Minute)}, "may be evicted"},
		{
			"the preemptor ran longer", "pods a@n1 prio=10 start=11:00", equals, victims.Claim{Priority: 10, RanSeconds: 3601},
			"as important as the preemptor, which ran longer",
		},
		{"it ran as long", "pods a@n1 prio=10 start=11:00", equals, victims.Claim{Priority: 10, RanSeconds: 3600}, "may be evicted"},
		{"earlier runs count, a pod's", "pods a@n1 prio=10 start=11:00 ran=1m", equals, victims.Claim{Priority: 10, RanSeconds: 3660}, "may be evicted"},
		{"and a group's", "group g mode=All prio=10 ran=1m a@n1 start=11:00", equals, victims.Claim{Priority: 10, RanSeconds: 3660}, "may be evicted"},
		{
			"but no more than they were", "group g mode=All prio=10 ran=1m a@n1 start=11:00", equals, victims.Claim{Priority: 10, RanSeconds: 3661},
			"as important as the preemptor, which ran longer",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			us := small(t, "nodes n1\n"+c.cluster)
			kept := victims.LowerPriority{EqualAfterSeconds: c.after}.Kept(us, unit(t, us, "a"), c.claim)
			require.Equal(t, c.want, kept.String())
			require.Equal(t, c.want == "may be evicted", kept.OK())
		})
	}
}

func TestEqualsAreSafeWhereNobodyKnowsTheTime(t *testing.T) {
	s := snapshot(t, "nodes n1\npods a@n1 prio=10 start=t0")
	s.Time = time.Time{}
	us := unitsOf(t, s)
	kept := victims.LowerPriority{EqualAfterSeconds: 1}.Kept(us, 0, victims.Claim{Priority: 10})
	require.Equal(t, "as important as the preemptor, and nobody knows the time: safe from its equals", kept.String())
}

// Pods that hold quota of a queue are the queue's alone; of a unit one is enough.
func TestUnqueuedPreemptorsLeaveQuotaAlone(t *testing.T) {
	us := small(t, "nodes n1\npods a@n1 b@n1 prio=50 c@n1 queue=q\ncomposite job mode=All\ngroup g parent=job g0@n1\ngroup h parent=job queue=q h0@n1")
	rule := victims.Unqueued{Base: victims.LowerPriority{}}
	const queued = "holds quota of a queue, whose rules alone evict it"
	for name, want := range map[string]string{"a": "may be evicted", "b": "its priority 50 is not below the preemptor's", "c": queued, "g0": queued} {
		require.Equal(t, want, rule.Kept(us, unit(t, us, name), victims.Claim{Priority: 10}).String(), name)
	}
}

// The words of a rule that the library does not know: a user's own.
func TestKeptByARuleOfTheUsers(t *testing.T) {
	require.Equal(t, "lunch break for another 30m0s", victims.Kept{Rule: "lunch", Detail: "break", Seconds: 1800}.String())
}

// Those that go last come first. Source: KEP-5710, future disruption modes.
func TestMembersThatGoLastComeFirst(t *testing.T) {
	for _, c := range []struct{ name, members, want string }{
		{"the leader", "a@n1 prio=9 start=t0 lead@n1 prio=1", "lead a"},
		{"then the higher priority of the pod itself", "a@n1 prio=1 start=t0 b@n1 prio=2 start=t9", "b a"},
		{"then the earlier start", "a@n1 start=t9 uid=1 b@n1 start=t0 uid=2", "b a"},
		{"then the smaller UID", "a@n1 start=t0 uid=2 b@n1 start=t0 uid=1", "b a"},
		{"then the name", "b@n1 a@n1", "a b"},
		{"those on their way out after all others, leaders too", "lead@n1 terminating=yes a@n1", "a lead"},
	} {
		us := small(t, "nodes n1\ngroup g mode=SurplusFirst min=1 leader=lead "+c.members)
		require.Equal(t, c.want, names(us.Index(), us.Members(0)), c.name)
	}
}

// What goes on with whom, of the unit of pod a0.
func TestWhatGoesOn(t *testing.T) {
	for _, c := range []struct {
		name, cluster, stays string
		want                 bool
	}{
		{"with minCount", "group a mode=SurplusFirst min=2 a0@n1 a1@n1 a2@n1", "a0 a2", true},
		{"not with fewer", "group a mode=SurplusFirst min=2 a0@n1 a1@n1 a2@n1", "a2", false},
		{"not with nobody", "group a mode=SurplusFirst min=1 a0@n1 a1@n1", "", false},
		{"as it is, below minCount too", "group a mode=SurplusFirst min=3 a0@n1 a1@n1", "a0 a1", true},
		{"but no further", "group a mode=SurplusFirst min=3 a0@n1 a1@n1", "a0", false},
		{"not without its leader", "group a mode=SurplusFirst min=1 leader=a1 a0@n1 a1@n1", "a0", false},
		{"with its leader", "group a mode=SurplusFirst min=1 leader=a1 a0@n1 a1@n1", "a1", true},
		{"a basic group with anybody", "group a mode=SurplusFirst min=1 a0@n1 a1@n1", "a1", true},
		{"terminating ones are not counted, if they stay", "group a mode=SurplusFirst min=2 a0@n1 a1@n1 terminating=yes a2@n1 a3@n1", "a0 a1", false},
		{"nor if they go", "group a mode=SurplusFirst min=3 a0@n1 a1@n1 terminating=yes a2@n1", "a0 a2", true},
		{"a leader who is going anyway", "group a mode=SurplusFirst min=1 leader=a1 a0@n1 a1@n1 terminating=yes a2@n1", "a0", true},
		{"pending ones are not there", "group a mode=SurplusFirst min=2 a0@n1 a1@n1 a2", "a0", false},

		{"a composite with all of its groups", "composite job mode=SurplusFirst\ngroup a parent=job a0@n1\ngroup b parent=job min=1 b0@n1 b1@n1", "a0 b0", true},
		{"not with fewer, if it says nothing", "composite job mode=SurplusFirst\ngroup a parent=job a0@n1\ngroup b parent=job b0@n1", "a0", false},
		{"with minGroupCount of them", "composite job mode=SurplusFirst min=1\ngroup a parent=job a0@n1\ngroup b parent=job b0@n1", "b0", true},
		{"not with nobody at all", "composite job mode=SurplusFirst min=1\ngroup a parent=job a0@n1\ngroup b parent=job b0@n1", "", false},
		{"a child of mode All whole, or not at all", "composite job mode=SurplusFirst min=1\ngroup a parent=job a0@n1\ngroup b mode=All parent=job b0@n1 b1@n1", "a0 b0", false},
		{"and then it does not count", "composite job mode=SurplusFirst min=1\ngroup a parent=job a0@n1\ngroup b mode=All parent=job b0@n1 b1@n1", "a0", true},
		{"a child below its minCount is of no use", "composite job mode=SurplusFirst min=1\ngroup a parent=job a0@n1\ngroup b parent=job min=2 b0@n1 b1@n1", "a0 b1", false},
		{"groups that do not run are not counted", "composite job mode=SurplusFirst\ngroup a parent=job min=1 a0@n1 a1@n1\ngroup b parent=job b0", "a0", true},
		{"a composite child of mode All", "composite top mode=SurplusFirst min=1\ncomposite job mode=All parent=top\ngroup a parent=job a0@n1\ngroup b parent=job b0@n1\ngroup c parent=top c0@n1", "a0 c0", false},
		{"goes whole", "composite top mode=SurplusFirst min=1\ncomposite job mode=All parent=top\ngroup a parent=job a0@n1\ngroup b parent=job b0@n1\ngroup c parent=top c0@n1", "c0", true},
		{"or stays whole", "composite top mode=SurplusFirst min=1\ncomposite job mode=All parent=top\ngroup a parent=job a0@n1\ngroup b parent=job b0@n1\ngroup c parent=top c0@n1", "a0 b0", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			us := small(t, "nodes n1\n"+c.cluster)
			stays := strings.Fields(c.stays)
			require.Equal(t, c.want, us.GoesOn(unit(t, us, "a0"), func(p cluster.PodID) bool {
				return slices.Contains(stays, us.Index().Pod(p).Name)
			}))
		})
	}
}

// Only those on n1 matter: of a pod group they are decided on, of a composite all pods of
// each group right beneath it that has one there.
func TestWhoIsDecidedOn(t *testing.T) {
	for _, c := range []struct{ name, cluster, want string }{
		{"a pod group", "group a mode=SurplusFirst min=1 a0@n1 a1@n2 a2@n1", "a0 a2"},
		{"a composite", "composite job mode=SurplusFirst\ngroup a parent=job a0@n1 a1@n2\ngroup b parent=job b0@n2", "a0 a1"},
		{"one over two levels", "composite top mode=SurplusFirst\ncomposite job parent=top\ngroup a parent=job a0@n1\ngroup b parent=job b0@n2\ngroup c parent=top c0@n2", "a0 b0"},
	} {
		us := small(t, "nodes n1 n2\n"+c.cluster)
		got := us.Deciders(unit(t, us, "a0"), us.Unit(unit(t, us, "a0")).Pods, func(p cluster.PodID) bool { return us.Index().NodeOf(p) == 0 })
		require.Equal(t, c.want, names(us.Index(), got), c.name)
	}
}

// priced are the units of a small cluster with prices.
func priced(t *testing.T, tariff disruption.Tariff, text string) *victims.Units {
	t.Helper()
	return victims.NewUnits(index(t, text), victims.Units137, victims.Worth{Cost: victims.Tariff{Tariff: tariff}})
}

// What the unit of pod a costs. KEP-83 put milestones of the cost off; here they are.
func TestWhatAUnitCosts(t *testing.T) {
	all := disruption.Tariff{Fixed: 1, Milestones: 1, Restart: 2, Pods: 100}
	work := disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Price: 1, Per: 60_000}}} // 1 a minute and core
	for _, c := range []struct {
		name, cluster string
		tariff        disruption.Tariff
		want          int64
	}{
		{"everything is free", "pods a@n1 cost=5 restart=9", disruption.Tariff{}, 0},
		{"each pod costs", "group g mode=All a@n1 b@n1", all, 200},
		{"a constant price, and the time of restarting", "pods a@n1 cost=5 restart=10", all, 125},
		{"of Single groups the pod alone", "group g cost=7 a@n1 cost=5 b@n1", all, 105},
		{"a group that is lost costs by itself", "group g mode=All cost=7 a@n1 cost=5 b@n1", all, 212},
		{"and the groups beneath", "composite job mode=All cost=1000\ngroup g parent=job cost=7 a@n1\ngroup h parent=job cost=9 b@n1", all, 1216},
		{"not those above", "composite job cost=1000\ngroup g mode=All parent=job cost=7 a@n1", all, 107},
		{"on a line between milestones", "pods a@n1 start=11:00 costs=30m:0,90m:60", all, 130},
		{"a checkpoint starts anew", "pods a@n1 start=11:00 checkpoint=11:30 costs=30m:0,90m:60", all, 100},
		{"a group's, since the first of its pods", "group g mode=All costs=30m:0,90m:60 a@n1 start=11:30 b@n1 start=11:00", all, 230},
		{"that has not begun", "pods a@n1 costs=0:9,90m:60", all, 109},
		{"lost work, rounded down", "pods a@n1 cpu=1500m start=11:58:50", work, 1},
		{"since the group's checkpoint, unless the pod has its own", "group g mode=All checkpoint=11:50 a@n1 cpu=1 start=10:00 b@n1 cpu=1 start=10:00 checkpoint=11:59", work, 11},
		{"of other resources none", "pods a@n1 memory=1Gi start=10:00", work, 0},
		{"sums end at the largest number", "group g mode=All cost=9223372036854775807 a@n1 cost=9223372036854775807", all, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			us := priced(t, c.tariff, "nodes n1\n"+c.cluster)
			u := unit(t, us, "a")
			require.Equal(t, c.want, us.Cost(u))
			require.True(t, us.Priced())
			require.Equal(t, c.want, us.Score([]victims.UnitID{u}, 0).Cost)
			require.Equal(t, c.want, victims.Tariff{Tariff: c.tariff}.Price(us.Index(), us.Unit(u).Group, us.Unit(u).Pods))
		})
	}
	free := small(t, "nodes n1\npods a@n1 cost=5")
	require.False(t, free.Priced())
	require.Zero(t, free.Cost(0))
}

// perPod is a user's own cost: 10 a pod, and 1 for a group.
type perPod struct{}

func (perPod) Price(_ *cluster.Index, group cluster.GroupID, pods []cluster.PodID) int64 {
	if len(pods) == 0 {
		panic("asked what nobody costs")
	}
	sum := 10 * int64(len(pods))
	if group != cluster.NoGroup {
		sum++
	}
	return sum
}

// A part of an elastic unit costs what its pods do, and the groups that are lost whole.
func TestWhatAPartCosts(t *testing.T) {
	us := victims.NewUnits(index(t, "nodes n1\ncomposite job mode=SurplusFirst min=1\n"+
		"group g parent=job a@n1 b@n1\ngroup h parent=job c@n1 d@n1"), victims.Units137, victims.Worth{Cost: perPod{}})
	for _, c := range []struct {
		pods []string
		want int64
	}{
		{[]string{"a"}, 10},
		{[]string{"a", "b"}, 21},
		{[]string{"a", "c"}, 20},
		{[]string{"a", "b", "c"}, 31},
		{[]string{"a", "b", "c", "d"}, 41},
	} {
		var out []cluster.PodID
		for _, name := range c.pods {
			out = append(out, us.Index().PodByName("default", name))
		}
		require.Equal(t, c.want, us.CostOf(0, out), "%v", c.pods)
		parts := victims.Parts{0: out}
		score := us.ScoreParts([]victims.UnitID{0}, parts, 0)
		require.Equal(t, c.want, score.Cost, "%v", c.pods)
		require.Equal(t, len(c.pods), score.Pods)
		require.Equal(t, out, parts.Of(us, 0))
	}
	require.Len(t, victims.Parts(nil).Of(us, 0), 4)
}

// unitsOf are the units of s under the newest rules.
func unitsOf(t *testing.T, s *cluster.Snapshot) *victims.Units {
	t.Helper()
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	return victims.NewUnits(ix, victims.Units137, victims.Worth{})
}

// Who is kept from a preemptor of priority 100, and why.
func TestGuards(t *testing.T) {
	design := victims.Guards{Toleration: priority.TolerationDesign}
	protect := victims.Guards{Protect: &disruption.Selector{MatchLabels: map[string]string{"app": "db"}}}
	tenMinutes := victims.Guards{GuaranteedSeconds: 600}
	twice := victims.Guards{Cooldown: victims.Cooldown{Evictions: 2, Seconds: 3600}}
	const may = "may be evicted"
	for _, c := range []struct {
		name, cluster string // about the unit of pod a
		guards        victims.Guards
		want          string
	}{
		{"nothing said", "pods a@n1", victims.Guards{}, may},
		{"priority comes first", "pods a@n1 prio=100 standby=yes", victims.Guards{}, "its priority 100 is not below the preemptor's"},

		{"standby never goes", "pods a@n1 standby=yes", victims.Guards{}, "on standby, it never goes"},
		{"nor does its group", "group g mode=All a@n1 b@n1 standby=yes", victims.Guards{}, "on standby, it never goes"},
		{"a Single group's says it for every pod", "group g standby=yes a@n1", victims.Guards{}, "on standby, it never goes"},
		{"a composite's too", "composite job standby=yes\ngroup g parent=job a@n1", victims.Guards{}, "on standby, it never goes"},
		{"whatever its pod says besides", "group g standby=yes a@n1 wait=5", victims.Guards{}, "on standby, it never goes"},
		{"a Single pod's does not keep its siblings", "group g a@n1 b@n1 standby=yes", victims.Guards{}, may},

		{"a protected label", "pods a@n1 labels=app=db", protect, "its labels protect it"},
		{"another label", "pods a@n1 labels=app=web", protect, may},
		{"one pod protects its unit", "group g mode=All a@n1 b@n1 labels=app=db", protect, "its labels protect it"},
		{"so does the group's label", "group g mode=All labels=app=db a@n1", protect, "its labels protect it"},
		{"of a Single group only the pod's count", "group g labels=app=db a@n1", protect, may},

		// The preemption toleration document; scheduler-plugins reads it in code.
		{"a class tolerates for ever", "class batch value=1 minimum-preemptable=200 toleration-seconds=-1\npods a@n1 class=batch scheduled=t0", victims.Guards{}, "tolerates preemption below 200"},
		{"not those at the minimum", "class batch value=1 minimum-preemptable=100 toleration-seconds=-1\npods a@n1 class=batch scheduled=t0", victims.Guards{}, may},
		{"for some time", "class batch value=1 minimum-preemptable=200 toleration-seconds=600\npods a@n1 class=batch scheduled=11:55", victims.Guards{}, "tolerates preemption below 200 for another 5m0s"},
		{"at the very end it is over", "class batch value=1 minimum-preemptable=200 toleration-seconds=600\npods a@n1 class=batch scheduled=11:50", victims.Guards{}, may},
		{"in the document it is not", "class batch value=1 minimum-preemptable=200 toleration-seconds=600\npods a@n1 class=batch scheduled=11:50", design, "tolerates preemption below 200"},
		{"nobody knows when it was scheduled", "class batch value=1 minimum-preemptable=200 toleration-seconds=600\npods a@n1 class=batch", victims.Guards{}, "tolerates preemption below 200"},
		{"a pod of a unit is enough", "class batch value=1 minimum-preemptable=200 toleration-seconds=-1\ngroup g mode=All a@n1 b@n1 class=batch", victims.Guards{}, "tolerates preemption below 200"},
		{"switched off", "class batch value=1 minimum-preemptable=200 toleration-seconds=-1\npods a@n1 class=batch", victims.Guards{Toleration: priority.TolerationOff}, may},
		{"by default: its own level and below", "class batch value=99 toleration-seconds=-1\npods a@n1 class=batch prio=1", victims.Guards{}, may},
		{"a lost class, in the document: its node is left alone", "pods a@n1 b@n1 class=lost prio=1", design, "its node is left alone, as the class lost is not there"},
		{"of two, the first is named", "pods a@n1 b@n1 class=lost prio=1 c@n1 class=missing prio=1", design, "its node is left alone, as the class lost is not there"},
		{"another node is not", "pods a@n1 b@n2 class=lost prio=1", design, may},
		{"nor in code, where another class is read", "class c value=1 minimum-preemptable=200 toleration-seconds=-1\npods a@n1 b@n1 class=lost prio=1 d@n2 class=c", victims.Guards{}, may},
		{"nor in code", "pods a@n1 b@n1 class=lost prio=1", victims.Guards{}, may},

		{"guaranteed to run", "pods a@n1 start=11:55", tenMinutes, "is guaranteed to run for another 5m0s"},
		{"until then", "pods a@n1 start=11:50", tenMinutes, may},
		{"it has not started", "pods a@n1", tenMinutes, "is guaranteed to run for another 10m0s"},
		{"the longest of its pods", "group g mode=All a@n1 start=11:50 b@n1 start=11:52", tenMinutes, "is guaranteed to run for another 2m0s"},
		{"the pod's own word counts first", "class c value=1 guaranteed=1h\ngroup g class=c guaranteed=2h a@n1 guaranteed=0 start=11:59", tenMinutes, may},
		{"then the nearest group's", "class c value=1 guaranteed=1h\ncomposite job guaranteed=3h\ngroup g class=c parent=job guaranteed=2h a@n1 start=11:00", tenMinutes, "is guaranteed to run for another 1h0m0s"},
		{"then the group's above", "class c value=1 guaranteed=1h\ncomposite job guaranteed=3h\ngroup g class=c parent=job a@n1 start=11:00", tenMinutes, "is guaranteed to run for another 2h0m0s"},
		{"then the class's", "class c value=1 guaranteed=1h\ngroup g class=c a@n1 start=11:30", tenMinutes, "is guaranteed to run for another 30m0s"},
		{"a class that says nothing of it leaves it to the guards", "class c value=1\npods a@n1 class=c start=11:55", tenMinutes, "is guaranteed to run for another 5m0s"},
		{"a guard about something else says nothing of it", "pods a@n1 start=11:55 wait=5", tenMinutes, "is guaranteed to run for another 5m0s"},

		{"evicted too often", "pods a@n1 evicted=11:10,11:30", twice, "was evicted 2 times in the last 1h0m0s, kept for another 10m0s"},
		{"once is not too often", "pods a@n1 evicted=11:30", twice, may},
		{"one of them was too long ago", "pods a@n1 evicted=11:00,11:30", twice, may},
		{"of three, the second youngest decides", "pods a@n1 evicted=11:50,11:10,11:30", twice, "was evicted 3 times in the last 1h0m0s, kept for another 30m0s"},
		{"once is enough", "pods a@n1 evicted=11:30", victims.Guards{Cooldown: victims.Cooldown{Evictions: 1, Seconds: 3600}}, "was evicted once in the last 1h0m0s, kept for another 30m0s"},
		{"a group's own evictions", "group g mode=All evicted=11:10,11:30 a@n1", twice, "was evicted 2 times in the last 1h0m0s, kept for another 10m0s"},
		{"or those of one of its pods, if they last longer", "group g mode=All evicted=11:10,11:30 a@n1 b@n1 evicted=11:40,11:41", twice, "was evicted 2 times in the last 1h0m0s, kept for another 40m0s"},
		{"a Single group's do not count for a pod", "group g evicted=11:10,11:30 a@n1", twice, may},

		{"an hour ago is too long ago to be counted", "pods a@n1 evicted=11:00,11:30,11:50", twice, "was evicted 2 times in the last 1h0m0s, kept for another 30m0s"},

		{"standby before labels", "pods a@n1 standby=yes labels=app=db", protect, "on standby, it never goes"},
		{"of several, the first is named", "class c value=1 minimum-preemptable=200 toleration-seconds=-1\npods a@n1 class=c guaranteed=3h labels=app=db evicted=11:59,11:58",
			victims.Guards{Protect: protect.Protect, Cooldown: twice.Cooldown}, "its labels protect it"},
		{"then the next", "class c value=1 minimum-preemptable=200 toleration-seconds=-1\npods a@n1 class=c guaranteed=3h start=10:00 evicted=11:59,11:58", twice, "tolerates preemption below 200"},
		{"and the next", "pods a@n1 guaranteed=3h start=10:00 evicted=11:59,11:58", twice, "is guaranteed to run for another 1h0m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			us := small(t, "nodes n1 n2\n"+c.cluster)
			ps := us.Protect(c.guards, nil)
			u, claim := unit(t, us, "a"), victims.Claim{Priority: 100}
			require.Equal(t, c.want, ps.Kept(u, claim).String())
			require.Equal(t, c.want == may, ps.May(u, claim))
			require.Equal(t, c.want == may, slices.Contains(ps.Potential(nil, 0, claim), u))
			require.Equal(t, c.want != may, ps.Guarded(u, claim), "whatever the base says")
		})
	}
}

// A class that tolerates makes a step: who is below its minimum is kept off, who reaches
// it is not, and [victims.Protections.Opens] tells where that is.
// TestClaimsThatTheirPriorityTells: what became of the preemptor matters where equals are evicted, and to a
// rule of the user's own.
func TestClaimsThatTheirPriorityTells(t *testing.T) {
	us := small(t, "nodes n1\npods a@n1")
	plain, ran, evicted := victims.Claim{Priority: 1}, victims.Claim{Priority: 1, RanSeconds: 5}, victims.Claim{Priority: 1, Evicted: noon}
	for _, c := range []struct {
		name                string
		base                victims.Eligible
		plain, ran, evicted bool
	}{
		{"by priority alone", victims.LowerPriority{}, true, true, true},
		{"equals after some time", victims.LowerPriority{EqualAfterSeconds: 60}, true, false, false},
		{"the same of those without a queue", victims.Unqueued{Base: victims.LowerPriority{EqualAfterSeconds: 60}}, true, false, false},
		{"priority of those without a queue", victims.Unqueued{Base: victims.LowerPriority{}}, true, true, true},
		{"a rule of one's own", nobodyGoes{}, false, false, false},
	} {
		ps := us.Protect(victims.Guards{}, c.base)
		require.Equal(t, c.plain, ps.Bare(plain), c.name)
		require.Equal(t, c.ran, ps.Bare(ran), c.name)
		require.Equal(t, c.evicted, ps.Bare(evicted), c.name)
	}
}

func TestGuardsOpenAtTheMinimum(t *testing.T) {
	us := small(t, "class batch value=1 minimum-preemptable=200 toleration-seconds=-1\nnodes n1\npods a@n1 class=batch b@n1 prio=1 c@n1 prio=1 standby=yes")
	ps := us.Protect(victims.Guards{}, nil)
	potential := func(below int32) string {
		return spell(us, ps.Potential(nil, 0, victims.Claim{Priority: below}))
	}
	require.Equal(t, "", potential(1))
	require.Equal(t, "b", potential(199))
	require.Equal(t, "a b", potential(200))
	for name, want := range map[string]string{"a": "200 true", "b": "0 false", "c": "0 false"} {
		at, ok := ps.Opens(unit(t, us, name), 100)
		require.Equal(t, want, fmt.Sprint(at, ok), name)
	}
	_, ok := ps.Opens(unit(t, us, "a"), 200)
	require.False(t, ok, "it is open there")
	require.Equal(t, victims.KeptStandby, ps.Kept(unit(t, us, "c"), victims.Claim{Priority: math.MaxInt32}).Rule, "even from the highest")
}

// Guards narrow what the rule beneath allows, and never widen it.
func TestGuardsNarrowTheirBase(t *testing.T) {
	us := small(t, "nodes n1\npods a@n1 prio=50 start=10:00 b@n1 prio=50 standby=yes start=10:00 c@n1 prio=60")
	equal := us.Protect(victims.Guards{EqualAfterSeconds: 60}, nil)
	require.Equal(t, "a", spell(us, equal.Potential(nil, 0, victims.Claim{Priority: 50})))
	none := us.Protect(victims.Guards{}, nobodyGoes{})
	require.Empty(t, none.Potential(nil, 0, victims.Claim{Priority: 1000}))
	for _, c := range []struct {
		name   string
		guards victims.Guards
		base   victims.Eligible
		text   string
		want   bool
	}{
		{"upstream's rule alone", victims.Guards{}, nil, "pods a@n1", false},
		{"equals may go", victims.Guards{EqualAfterSeconds: 1}, nil, "pods a@n1", true},
		{"a rule of the user's", victims.Guards{}, nobodyGoes{}, "pods a@n1", true},
		{"a pod says something", victims.Guards{}, nil, "pods a@n1 standby=yes", true},
		{"a pod was evicted, whoever minds", victims.Guards{}, nil, "pods a@n1 evicted=11:30", false},
		{"somebody minds", victims.Guards{Cooldown: victims.Cooldown{Evictions: 1, Seconds: 1}}, nil, "pods a@n1 evicted=11:30", true},
		{"a class does", victims.Guards{}, nil, "class c value=1 guaranteed=1s\npods a@n1", true},
		{"a class tolerates", victims.Guards{}, nil, "class c value=1 toleration-seconds=1\npods a@n1", true},
		{"nobody asks what it tolerates", victims.Guards{Toleration: priority.TolerationOff}, nil, "class c value=1 toleration-seconds=1\npods a@n1", false},
		{"everybody runs for some time", victims.Guards{GuaranteedSeconds: 1}, nil, "pods a@n1", true},
	} {
		us := small(t, "nodes n1\n"+c.text)
		require.Equal(t, c.want, us.Protect(c.guards, c.base).Any(), c.name)
	}
}

// nobodyGoes is a rule of a user's.
type nobodyGoes struct{}

func (nobodyGoes) Kept(*victims.Units, victims.UnitID, victims.Claim) victims.Kept {
	return victims.Kept{Rule: "mine", Detail: "said no"}
}

// scoreOf is the score of the units of these pods, most important first.
func scoreOf(t *testing.T, us *victims.Units, violations int, pods ...string) victims.Score {
	t.Helper()
	var list []victims.UnitID
	for _, name := range pods {
		list = append(list, unit(t, us, name))
	}
	return us.Score(us.Sorted(list), violations)
}

// Which of two lists of victims disrupts less: the criteria in turn, each read from pods.
// Source: kube-scheduler v1.36, choice among candidates, and its own test of that.
func TestTheLesserDisruption(t *testing.T) {
	const text = "nodes n1\n" +
		"pods veryhigh@n1 prio=10000 start=t0 high@n1 prio=1000 start=t1 high2@n1 prio=1000 start=t2 mid@n1 prio=100 start=t3 mid2@n1 prio=100 start=t4" +
		" mid3@n1 prio=100 start=t6 ninetynine@n1 prio=99 start=t9 low@n1 start=t5 low2@n1 start=t5 neg@n1 prio=-100 start=t7 neg2@n1 prio=-100 start=t7 new@n1 prio=100\n" +
		"group above prio=50 above0@n1 prio=1000 start=t1\ngroup whole mode=All prio=50 w0@n1 prio=100 start=t5 w1@n2 prio=7 start=t1"
	us := small(t, text)
	for _, c := range []struct {
		name               string
		better, worse      []string
		violations, theirs int
		differ             string // the criterion that decides; empty: they tie
	}{
		{name: "fewer violations come first", better: []string{"veryhigh", "high"}, worse: []string{"neg"}, theirs: 1, differ: "violations"},
		{name: "the most important victim", better: []string{"mid", "mid2", "mid3", "low"}, worse: []string{"high"}, differ: "highest priority"},
		{name: "the most important again, whatever the sum", better: []string{"low", "low2"}, worse: []string{"mid", "low"}, differ: "highest priority"},
		{name: "the sum where the highest is equal", better: []string{"mid", "low"}, worse: []string{"mid2", "ninetynine"}, differ: "sum of priorities"},
		{name: "each is raised by 2^31: negative ones make it larger", better: []string{"mid", "ninetynine"}, worse: []string{"mid2", "neg", "neg2"}, differ: "sum of priorities"},
		{name: "one zero beats two", better: []string{"low"}, worse: []string{"low", "low2"}, differ: "sum of priorities"},
		{name: "the later of the earliest starts", better: []string{"mid2"}, worse: []string{"mid"}, differ: "earliest start"},
		{name: "among the most important alone", better: []string{"mid2", "veryhigh"}, worse: []string{"mid2", "veryhigh"}},
		{name: "of those that began together at t3 and t6, t3 counts", better: []string{"mid2", "mid3"}, worse: []string{"mid", "mid3"}, differ: "earliest start"},
		{name: "what has not started counts as started now", better: []string{"new"}, worse: []string{"mid3"}, differ: "earliest start"},
		{name: "nobody beats somebody", better: nil, worse: []string{"neg"}, differ: "highest priority"},
		{name: "a pod's own priority counts, not its group's", better: []string{"mid"}, worse: []string{"above0"}, differ: "highest priority"},
		{name: "a unit counts once for each of its pods, elsewhere too", better: []string{"mid"}, worse: []string{"w0"}, differ: "sum of priorities"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := scoreOf(t, us, c.violations, c.better...), scoreOf(t, us, c.theirs, c.worse...)
			if c.differ == "" {
				require.Zero(t, a.Compare(b))
				return
			}
			require.Negative(t, a.Compare(b))
			require.Positive(t, b.Compare(a))
			x, y := victims.Ranking{}.Values(a), victims.Ranking{}.Values(b)
			at := slices.Index(victims.Criteria[:], victims.Criterion(c.differ))
			require.Equal(t, x[:at], y[:at], "what comes before %s ties", c.differ)
			require.Less(t, x[at], y[at])
		})
	}
}

// TestScoresCompareByOneNumberAfterTheOther: each decides only where those before it tie; the others have no say.
func TestScoresCompareByOneNumberAfterTheOther(t *testing.T) {
	numbers := []func(s *victims.Score, v int){
		func(s *victims.Score, v int) { s.Violations = v },
		func(s *victims.Score, v int) { s.Highest = int32(v) },
		func(s *victims.Score, v int) { s.Sum = int64(v) },
		func(s *victims.Score, v int) { s.Pods = v },
		func(s *victims.Score, v int) { s.Started = -int64(v) }, // later is better
	}
	for i, decisive := range numbers {
		for v := range 3 { // of those before, which tie
			var a, b victims.Score
			for _, set := range numbers[:i] {
				set(&a, v)
				set(&b, v)
			}
			decisive(&a, 1)
			decisive(&b, 2)
			for _, set := range numbers[i+1:] {
				set(&a, 9)
				set(&b, 0)
			}
			b.Units, b.Cost, b.Asked = 5, -5, map[victims.Criterion]int64{victims.CriterionOverruns: -5}
			require.Negative(t, a.Compare(b), "number %d", i)
			require.Positive(t, b.Compare(a), "number %d", i)
			require.Zero(t, a.Compare(a))
		}
	}
}

func TestScoreOfAUnitOnTwoNodes(t *testing.T) {
	us := small(t, "nodes n1\ngroup w mode=All prio=50 w0@n1 prio=7 start=t5 w1@n2 prio=7 start=t1\npods a@n1 prio=-2147483648 start=t0")
	s := scoreOf(t, us, 3, "a", "w0")
	require.Equal(t, victims.Score{Violations: 3, Highest: 7, Sum: 2 * (1<<31 + 7), Pods: 3, Units: 2, Started: us.Unit(unit(t, us, "w1")).Started}, s)
	require.Equal(t, victims.Score{Highest: math.MinInt32, Started: math.MaxInt64}, us.Score(nil, 0))
	earliest := victims.Score{Started: math.MinInt64}
	require.Equal(t, int64(math.MaxInt64), earliest.Value(victims.CriterionStarted), "the earliest of all is turned around, too")

	loss := us.Loss(unit(t, us, "w0"))
	require.Equal(t, victims.Loss{Price: domain.Price{Highest: 7, Sum: 2 * (1<<31 + 7), Pods: 2}, Started: s.Started}, loss, "the same of one unit")

	asked := 0
	known := func(u victims.UnitID) *victims.Loss {
		asked++
		return map[victims.UnitID]*victims.Loss{unit(t, us, "w0"): &loss}[u]
	}
	list := []victims.UnitID{unit(t, us, "a"), unit(t, us, "w0")}
	require.Equal(t, us.Score(list, 3), us.ScoreKnown(list, nil, 3, known), "what is known is not read")
	require.Equal(t, 2, asked)
}

// The loss of a unit is dated by its most important pods.
func TestLossIsDatedByTheMostImportant(t *testing.T) {
	us := small(t, "nodes n1\ngroup w mode=All w0@n1 prio=7 start=t5 w1@n1 prio=3 start=t1 w2@n1 prio=7 start=t4 w3@n1 prio=7 start=t6")
	ix := us.Index()
	require.Equal(t, ix.Started(ix.PodByName("default", "w2")), us.Loss(0).Started)
	require.Equal(t, us.Loss(0).Started, us.Score([]victims.UnitID{0}, 0).Started)
}

// A cost may be a criterion at any place.
func TestTheCostAmongTheCriteria(t *testing.T) {
	a, b := victims.Score{Violations: 1, Highest: 5, Sum: 9, Pods: 2, Started: 4, Cost: 3}, victims.Score{Violations: 1, Highest: 5, Sum: 9, Pods: 2, Started: 4, Cost: 4}
	require.Zero(t, victims.Ranking{}.Compare(a, b), "unless asked for, it does not count")
	for at := 1; at <= 6; at++ {
		r := victims.Ranking(slices.Insert(slices.Clone(victims.Criteria[:]), at-1, victims.CriterionCost))
		require.Negative(t, r.Compare(a, b), "at %d", at)
		require.Positive(t, r.Compare(b, a), "at %d", at)
		require.Equal(t, victims.CriterionCost, r.Criteria()[at-1])
		require.Equal(t, a.Cost, r.Values(a)[at-1])
		require.Len(t, r.Criteria(), 6)
		for i, worsen := range []func(*victims.Score){
			func(s *victims.Score) { s.Violations++ }, func(s *victims.Score) { s.Highest++ }, func(s *victims.Score) { s.Sum++ },
			func(s *victims.Score) { s.Pods++ }, func(s *victims.Score) { s.Started-- },
		} {
			c := a
			worsen(&c)
			want := -1 // a worse criterion before the cost decides against c, though b costs more
			if i+1 < at {
				want = 1
			}
			require.Equal(t, want, r.Compare(c, b), "cost at %d, against %s", at, victims.Criteria[i])
			require.Equal(t, want, slices.Compare(r.Values(c), r.Values(b)), "its numbers say the same")
		}
	}
	require.Equal(t, victims.Criteria[:], victims.Ranking{}.Criteria())
	require.Len(t, victims.Ranking{}.Values(a), 5)
	r := victims.Ranking{victims.CriterionOverruns, victims.CriterionUnits}
	require.Zero(t, r.Compare(a, b), "nothing else counts")
	b.Units, a.Asked = 1, map[victims.Criterion]int64{victims.CriterionOverruns: 1}
	require.Positive(t, r.Compare(a, b))
}

// Overruns are a function of the victims alone: every budget is charged for every pod.
func TestOverruns(t *testing.T) {
	us := small(t, "nodes n1\nbudget one allowed=1 select=app=web\nbudget debt allowed=-5 select=tier=db\n"+
		"pods a@n1 labels=app=web b@n1 labels=app=web,tier=db c@n1 labels=app=web d@n1")
	budgets := victims.NewBudgets(us.Index(), disruption.Rule137)
	l := budgets.NewLedger()
	for _, c := range []struct {
		pods []string
		want int64
	}{{nil, 0}, {[]string{"a"}, 0}, {[]string{"a", "c"}, 1}, {[]string{"b"}, 1}, {[]string{"c", "b", "a", "d"}, 3}} {
		var list []victims.UnitID
		for _, name := range c.pods {
			list = append(list, unit(t, us, name))
		}
		require.Equal(t, c.want, budgets.Overruns(us, list, nil, l), "%v", c.pods)
	}
	none := small(t, "nodes n1\npods a@n1")
	require.Zero(t, victims.NewBudgets(none.Index(), disruption.Rule137).Overruns(none, []victims.UnitID{0}, nil, nil))
}

// What each unit adds to the violations, charged from the most important to the least:
// the strong use the budget up. Source: kube-scheduler, partition by budgets, of each
// generation; KEP-5710 (beta), "PDB reprieval"; the cases are those of upstream's test.
func TestWhatUnitsChargeToBudgets(t *testing.T) {
	const web = "a@n1 prio=3 labels=app=web b@n1 prio=2 labels=app=web c@n1 prio=1 labels=app=web"
	const pair = "group g mode=All prio=5 g0@n1 labels=app=web uid=1 g1@n1 labels=app=web uid=2\n"
	for _, c := range []struct {
		name, cluster              string
		pods136, groups136, newest string // unit and violations, in order of importance
	}{
		{"no budget", "pods " + web, "a:0 b:0 c:0", "a:0 b:0 c:0", "a:0 b:0 c:0"},
		{"another namespace's", "budget other/p allowed=0 select=app=web\npods " + web, "a:0 b:0 c:0", "a:0 b:0 c:0", "a:0 b:0 c:0"},
		{"it covers the most important", "budget p allowed=1 select=app=web\npods " + web, "a:0 b:1 c:1", "a:0 b:1 c:1", "a:0 b:1 c:1"},
		{"spent", "budget p allowed=0 select=app=web\npods " + web, "a:1 b:1 c:1", "a:1 b:1 c:1", "a:1 b:1 c:1"},
		{"a nil selector covers nobody", "budget p allowed=0\npods " + web, "a:0 b:0 c:0", "a:0 b:0 c:0", "a:0 b:0 c:0"},
		{"the empty selector (kubernetes #141785)", "budget p allowed=0 select=*\npods a@n1 b@n1 labels=app=web", "a:0 b:0", "a:0 b:0", "a:1 b:1"},
		{"a pod without labels", "budget p allowed=0 select=app:DoesNotExist\npods a@n1", "a:0", "a:0", "a:1"},
		{"those under way are paid for", "budget p allowed=0 select=app=web disrupted=b\npods " + web, "a:1 b:0 c:1", "a:1 b:0 c:1", "a:1 b:0 c:1"},
		{
			"two budgets, the first spent: does the second pay, too?",
			"budget p1 allowed=0 select=app=web\nbudget p2 allowed=1 select=app=web,tier=db\nbudget p3 allowed=1 select=tier=db\n" +
				"pods a@n1 prio=3 labels=app=web,tier=db b@n1 prio=2 labels=tier=db",
			"a:1 b:1", "a:1 b:0", "a:1 b:0",
		},
		{
			"in the order of their names",
			"budget q allowed=0 select=app=web\nbudget p allowed=1 select=tier=db\n" +
				"pods a@n1 prio=3 labels=app=web,tier=db b@n1 prio=2 labels=tier=db",
			"a:1 b:1", "a:1 b:1", "a:1 b:1",
		},
		{"a unit within", "budget p allowed=2 select=app=web\n" + pair, "g0:0 g1:0", "g0+g1:0", "g0+g1:0"},
		{"a unit of two, one allowed", "budget p allowed=1 select=app=web\n" + pair, "g0:0 g1:1", "g0+g1:1", "g0+g1:1"},
		{"a unit of two, none allowed: units or pods are counted", "budget p allowed=0 select=app=web\n" + pair, "g0:1 g1:1", "g0+g1:1", "g0+g1:2"},
		{
			"does charging a unit end at its first violating pod?",
			"budget p allowed=0 select=app=web\nbudget q allowed=1 select=app:Exists\n" +
				"group g mode=All prio=5 g0@n1 prio=5 labels=app=web uid=1 g1@n1 prio=5 labels=app=db uid=2\npods h@n1 prio=1 labels=app=db",
			"g0:1 g1:1 h:1", "g0+g1:1 h:0", "g0+g1:1 h:1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ix := index(t, "nodes n1\n"+c.cluster)
			for _, generation := range []struct {
				units   victims.UnitRule
				budgets disruption.Rule
				want    string
			}{
				{victims.Pods136, disruption.PodRule136, c.pods136},
				{victims.Groups136, disruption.GroupRule136, c.groups136},
				{victims.Units137, disruption.Rule137, c.newest},
			} {
				us, b := victims.NewUnits(ix, generation.units, victims.Worth{}), victims.NewBudgets(ix, generation.budgets)
				l := b.NewLedger()
				var got []string
				for _, u := range us.On(0) {
					got = append(got, fmt.Sprintf("%s:%d", spell(us, []victims.UnitID{u}), b.Charge(l, us.Unit(u))))
				}
				require.Equal(t, generation.want, strings.Join(got, " "))
				require.Equal(t, ix.NumBudgets() == 0, b.None())
			}
		})
	}
}

// Budgets follow the pods of their index, and what they allow.
func TestBudgetsFollow(t *testing.T) {
	ix := index(t, "nodes n1\nbudget p allowed=0 select=app=web\nbudget q allowed=0 select=tier=db\npods a@n1 labels=app=web")
	b := victims.NewBudgets(ix, disruption.Rule137)
	fork := b.Fork()
	c := ix.SetPod(&cluster.Pod{Namespace: "default", Name: "c", Node: "n1", Labels: map[string]string{"app": "web", "tier": "db"}}, cluster.NoPod)
	d := ix.SetPod(&cluster.Pod{Namespace: "default", Name: "d", Node: "n1"}, cluster.NoPod)
	for _, p := range []cluster.PodID{c, d} {
		b.Set(ix, p)
	}
	require.Equal(t, []cluster.BudgetID{0, 1}, b.Of(c))
	require.Empty(t, b.Of(d))
	require.Equal(t, []cluster.BudgetID{0}, fork.Of(0))
	ix.SetPod(&cluster.Pod{Namespace: "default", Name: "a", Node: "n1", Labels: map[string]string{"tier": "db"}}, 0)
	b.Set(ix, 0)
	require.Equal(t, []cluster.BudgetID{1}, b.Of(0))
	require.Equal(t, []cluster.BudgetID{0}, fork.Of(0), "the fork knows nothing of it")
	next := *ix.Budget(0)
	next.Allowed = 7
	ix.SetAllowed(0, &next)
	b.Follow(ix)
	require.Equal(t, int64(7), b.NewLedger().Left(0))
}

// Budgets that follow pods as they come and change cover whom those would that are listed anew; a
// fork goes its own way.
func TestBudgetsFollowPods(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		ix := index(t, "nodes n1\nbudget a allowed=1 select=app=web\nbudget b allowed=1 select=tier=x\nbudget c allowed=1 select=app=web,tier=x disrupted=p3")
		b := victims.NewBudgets(ix, disruption.Rule137)
		set := func(ix *cluster.Index, b *victims.Budgets) {
			p := cluster.Pod{Namespace: "default", Name: fmt.Sprint("p", r.IntN(12)), Node: "n1", Labels: map[string]string{}}
			if r.IntN(2) == 0 {
				p.Labels["app"] = "web"
			}
			if r.IntN(2) == 0 {
				p.Labels["tier"] = "x"
			}
			old := ix.PodByName(p.Namespace, p.Name)
			require.True(t, ix.MaySetPod(&p, old))
			b.Set(ix, ix.SetPod(&p, old))
		}
		same := func(ix *cluster.Index, b *victims.Budgets) {
			fresh := victims.NewBudgets(ix, disruption.Rule137)
			for p := range ix.Pods() {
				require.Equal(t, fresh.Of(p), b.Of(p), "seed %d", seed)
			}
		}
		for range r.IntN(6) {
			set(ix, b)
		}
		other, forked := ix.Fork(), b.Fork()
		for range 8 {
			set(ix, b)
			set(other, forked)
			same(ix, b)
			same(other, forked)
		}
	}
	none := victims.NewBudgets(index(t, "nodes n1\npods a@n1"), disruption.Rule137)
	none.Set(index(t, "nodes n1\npods a@n1"), 0)
	require.True(t, none.None())
}

// Where a namespace has many budgets, who is covered is found out by label set: each pod is
// covered by those that cover it by itself.
func TestManyBudgetsCoverByLabelSet(t *testing.T) {
	s := &cluster.Snapshot{}
	for i := range 600 {
		labels := map[string]string{"app": fmt.Sprint(i % 7), "of": fmt.Sprint(i % 50)}
		s.Pods = append(s.Pods, cluster.Pod{Namespace: "shop", Name: fmt.Sprint("p", i), Labels: labels})
		asks := map[string]string{"of": fmt.Sprint(i % 60)}
		if i%3 == 0 {
			asks["app"] = fmt.Sprint(i % 7)
		}
		b := disruption.Budget{Namespace: "shop", Name: fmt.Sprint("b", i), Selector: &disruption.Selector{MatchLabels: asks}}
		if i%5 == 0 {
			b.Disrupted = []string{fmt.Sprint("p", i), "p0", "p0"}
		}
		s.Budgets = append(s.Budgets, b)
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	budgets, covered := victims.NewBudgets(ix, disruption.Rule137), 0
	for p := range ix.Pods() {
		pod := ix.Pod(p)
		want := ix.BudgetSet().Covering(nil, disruption.Rule137, pod.Namespace, pod.Name, pod.Labels)
		require.ElementsMatch(t, want, budgets.Of(p))
		covered += len(want)
	}
	require.Greater(t, covered, 600)
}
