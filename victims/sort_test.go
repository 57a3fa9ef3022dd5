package victims_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/scenario"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

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
				rule := domain.NewNodeRule(pod)
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
