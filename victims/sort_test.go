package victims_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

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
