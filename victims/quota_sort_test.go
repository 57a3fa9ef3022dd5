package victims_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// TestBackwardIsASort: whatever queues the reservations are of, and however they
// are mixed, the positions are those of a sort from last to first.
func TestBackwardIsASort(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		order := victims.NewQuotaOrder([][]cluster.VictimOrder{
			nil, {cluster.ByLongestRuntime}, {cluster.ByLowestPriority, cluster.ByLongestRuntime},
		}[r.IntN(3)])
		list := make([]*cluster.Reservation, r.IntN(80))
		for i := range list {
			list[i] = &cluster.Reservation{
				Workload: &cluster.Workload{Name: string(rune('a' + i)), UID: string(rune('a' + r.IntN(3)))},
				Queue:    cluster.QuotaID(r.IntN(5)), Priority: int64(r.IntN(4)), Reserved: time.Unix(int64(r.IntN(4)), 0).UnixNano(),
			}
		}
		switch r.IntN(4) {
		case 0:
			slices.SortFunc(list, order.Compare)
		case 1:
			slices.SortFunc(list, func(a, b *cluster.Reservation) int { return order.Compare(b, a) })
		}
		want := slices.Clone(list)
		slices.SortFunc(want, func(a, b *cluster.Reservation) int { return order.Compare(b, a) })
		var got []*cluster.Reservation
		for _, i := range order.Backward(len(list), func(i int) *cluster.Reservation { return list[i] }) {
			got = append(got, list[i])
		}
		require.Len(t, got, len(want), "seed %d", seed)
		for i := range want {
			require.Same(t, want[i], got[i], "seed %d", seed)
		}
	}
}
