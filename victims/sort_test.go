package victims_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
