package quotasearch_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestBackwardIsASort: whatever queues the reservations are of, and however they
// are mixed, the positions are those of a sort from last to first.
func TestBackwardIsASort(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		order := quotasearch.NewOrder([][]cluster.VictimOrder{
			nil, {cluster.ByLongestRuntime}, {cluster.ByLowestPriority, cluster.ByLongestRuntime},
		}[r.IntN(3)])
		list := make([]*quota.Reservation, r.IntN(80))
		for i := range list {
			list[i] = &quota.Reservation{
				Workload: &cluster.Workload{Name: string(rune('a' + i)), UID: string(rune('a' + r.IntN(3)))},
				Queue:    quota.HolderID(r.IntN(5)), Priority: int64(r.IntN(4)), Reserved: time.Unix(int64(r.IntN(4)), 0).UnixNano(),
			}
		}
		switch r.IntN(4) {
		case 0:
			slices.SortFunc(list, order.Compare)
		case 1:
			slices.SortFunc(list, func(a, b *quota.Reservation) int { return order.Compare(b, a) })
		}
		want := slices.Clone(list)
		slices.SortFunc(want, func(a, b *quota.Reservation) int { return order.Compare(b, a) })
		var got []*quota.Reservation
		for _, i := range order.Backward(len(list), func(i int) *quota.Reservation { return list[i] }) {
			got = append(got, list[i])
		}
		require.Len(t, got, len(want), "seed %d", seed)
		for i := range want {
			require.Same(t, want[i], got[i], "seed %d", seed)
		}
	}
}

// Who goes first of two workloads that hold quota. Source: KEP-83, order of candidates;
// Kueue's own test of it. What eviction and the queues decide is not the order's.
func TestWhichWorkloadGoesFirst(t *testing.T) {
	type r = quota.Reservation
	youngest := []cluster.VictimOrder{cluster.ByLowestRuntime, cluster.ByLowestPriority}
	longest := []cluster.VictimOrder{cluster.ByLongestRuntime}
	for _, c := range []struct {
		name         string
		by           []cluster.VictimOrder
		first, other r
	}{
		{"lower priority", nil, r{Priority: 1, Reserved: 1}, r{Priority: 2, Reserved: 9}},
		{"beyond what an int32 holds", nil, r{Priority: -1 << 40}, r{Priority: -1 << 31}},
		{"then who began later", nil, r{Reserved: 9}, r{Reserved: 1}},
		{"then the smaller UID", nil, r{Workload: &cluster.Workload{UID: "1", Name: "z"}}, r{Workload: &cluster.Workload{UID: "2", Name: "a"}}},
		{"then the namespace", nil, r{Workload: &cluster.Workload{Namespace: "a", Name: "z"}}, r{Workload: &cluster.Workload{Namespace: "b", Name: "a"}}},
		{"then the name", nil, r{Workload: &cluster.Workload{Name: "a"}}, r{Workload: &cluster.Workload{Name: "b"}}},
		{"age is not looked at", nil, r{Ordered: 1, Workload: &cluster.Workload{UID: "1"}}, r{Ordered: 9, Workload: &cluster.Workload{UID: "2"}}},
		{"whom the queue wants: who ran least", youngest, r{Priority: 9, Reserved: 9}, r{Priority: 1, Reserved: 1}},
		{"then its next criterion", youngest, r{Priority: 1, Reserved: 9}, r{Priority: 9, Reserved: 9}},
		{"or who ran longest, and priority not at all", longest, r{Priority: 9, Reserved: 1}, r{Priority: 1, Reserved: 9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, w := range []*r{&c.first, &c.other} {
				if w.Workload == nil {
					w.Workload = &cluster.Workload{}
				}
			}
			order := quotasearch.NewOrder(c.by)
			require.Negative(t, order.Compare(&c.first, &c.other))
			require.Positive(t, order.Compare(&c.other, &c.first))
		})
	}
	require.True(t, quotasearch.NewOrder(nil).Equal(quotasearch.NewOrder([]cluster.VictimOrder{cluster.ByLowestPriority, cluster.ByLowestRuntime})))
	require.False(t, quotasearch.NewOrder(nil).Equal(quotasearch.NewOrder(longest)))
}

// Of one queue, those told to stop go first, then who uses most through its LocalQueue,
// whatever the priority; the walk over two queues compares without either.
func TestWithinAQueueTheHeaviestUserGoesFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	ix := reservations(t, rng, 60, cluster.QueuePreemption{}, true)
	order, q := quotasearch.NewOrder(nil), ix.QueueByName("q")
	rs := quotasearch.NewReservations(ix, order)
	require.True(t, rs.Order().Equal(order))
	anybody := quotasearch.NewRule(cluster.AnyPriority, 0, 0)
	w := rs.Walk(q, []quota.ColumnID{0, 1}, false, anybody, nil)
	local := w.Peek().LocalUsage
	require.Negative(t, local)
	raised := false
	for before := w.Peek(); w.Peek() != nil; w.Next() {
		require.GreaterOrEqual(t, w.Peek().LocalUsage, local)
		raised = raised || w.Peek().LocalUsage > before.LocalUsage && w.Peek().Priority < before.Priority
		before, local = w.Peek(), w.Peek().LocalUsage
	}
	require.True(t, raised, "a lower priority came later")
	evicted := rs.Walk(q, []quota.ColumnID{0, 1}, true, anybody, nil)
	differ := false
	a := rs.Walk(q, []quota.ColumnID{0, 1}, false, anybody, nil)
	for ; a.Peek() != nil; a.Next() {
		x, y := a.Peek(), evicted.Peek()
		require.Equal(t, order.Compare(x, y) < 0, a.Before(&evicted))
		require.Equal(t, order.Compare(y, x) < 0, evicted.Before(&a))
		differ = differ || x.LocalUsage > y.LocalUsage && a.Before(&evicted)
	}
	require.True(t, differ, "across queues, what a LocalQueue uses is not looked at")
	a = rs.Walk(q, []quota.ColumnID{0, 1}, false, anybody, nil)
	a.Stop()
	require.Nil(t, a.Peek())
}
