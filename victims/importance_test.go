package victims_test

import (
	"cmp"
	"testing"

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
