package domain_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/domain"
)

// TestSeatQueueIsAScan: it finds what looking at every offer finds, as the highest
// priority of the plan rises, and offers that were put in once come out by keeping the others.
func TestSeatQueueIsAScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q domain.SeatQueue
		var list []domain.SeatOffer
		highest := rapid.SampledFrom([]int64{domain.Free.Highest, 2}).Draw(t, "highest")
		q.Reset(highest)
		small := rapid.Int64Range(0, 3)
		for at := range int32(rapid.IntRange(1, 40).Draw(t, "steps")) {
			for range rapid.IntRange(0, 2).Draw(t, "dead") {
				q.Push(domain.SeatOffer{At: at, K: -1, Price: domain.Price{Highest: small.Draw(t, "priority") * 2}})
			}
			q.Keep(func(o *domain.SeatOffer) bool { return o.K >= 0 })
			if rapid.IntRange(0, 2).Draw(t, "push") > 0 || len(list) == 0 {
				o := domain.SeatOffer{At: at, Next: small.Draw(t, "next"), Price: domain.Price{
					Violations: small.Draw(t, "violations") / 3, Highest: small.Draw(t, "priority") * 2, Sum: small.Draw(t, "sum"), Pods: 1,
				}}
				list = append(list, o)
				q.Push(o)
				continue
			}
			best := -1
			var adds domain.SeatOffer
			for i, o := range list {
				if o.Price.Highest <= highest {
					o.Price.Highest = domain.Free.Highest
				}
				if best < 0 || o.Compare(&adds) < 0 {
					best, adds = i, o
				}
			}
			got, ok := q.Least()
			require.True(t, ok)
			require.Equal(t, adds, got)
			q.Drop()
			require.Equal(t, list[best].Price.Highest > highest, q.Take(got.Price))
			highest = max(highest, list[best].Price.Highest)
			list = append(list[:best], list[best+1:]...)
		}
		if _, ok := q.Least(); ok != (len(list) > 0) {
			t.Fatalf("%d offers are left, and it says %t", len(list), ok)
		}
	})
}

func TestPricesAddUp(t *testing.T) {
	p := domain.Free
	p.Add(domain.Price{Lead: 5, Violations: 1, Highest: 7, Sum: 10, Pods: 2})
	p.Add(domain.Price{Lead: math.MaxInt64, Highest: 3, Sum: 1, Pods: 1})
	require.Equal(t, domain.Price{Lead: math.MaxInt64, Violations: 1, Highest: 7, Sum: 11, Pods: 3}, p)
	p.Add(domain.Free)
	require.Equal(t, int64(7), p.Highest)
}
