package victims_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

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
