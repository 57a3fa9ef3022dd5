package counting

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/domain"
)

// further offers one more member on the node of o, which is taken; see
// [domain.Offers].
func (t *attempt) further(o domain.SeatOffer) domain.SeatOffer {
	o.K++
	o.Price = t.seats.More(t.node(o.At), int64(o.K))
	return o
}

// least places k members as [domain.LeastDisruption] does. As long as the highest
// priority of the plan is not above that of the next cheapest node, only nodes whose
// first seat is among the k cheapest come into question. It gets above where a seat that
// violates fewer budgets takes somebody more important; then all of them do.
func (t *attempt) least(k int) []int32 {
	t.findCheapest(max(k, ClimbNodes))
	t.offers.Reset(domain.Free.Highest)
	firsts := t.cheapest
	seq := make([]int32, 0, k)
	for len(seq) < k {
		var first domain.SeatOffer
		if len(firsts) > 0 {
			if first = firsts[0].offer(); first.Price.Highest < t.offers.Highest() {
				for _, c := range t.costs[len(t.cheapest)-len(firsts):] { // not taken yet
					t.offers.Push(c.offer())
				}
				firsts = nil
			}
		}
		o, queued := t.offers.Least()
		if len(firsts) > 0 {
			adds := first
			adds.Price = t.offers.Adds(first.Price)
			queued = queued && o.Compare(&adds) < 0
		}
		if queued {
			t.offers.Drop()
		} else {
			o, firsts = first, firsts[1:]
		}
		t.offers.Take(o.Price)
		seq = append(seq, o.At)
		if int64(o.K) < t.slots[o.At] && len(seq) < k {
			t.offers.Push(t.further(o))
		}
	}
	return seq
}

// roomiest orders the nodes that have slots: most of them first, then by number.
func (t *attempt) roomiest() []int32 {
	t.order = t.order[:0]
	even := true
	for at, slots := range t.slots {
		if slots > 0 {
			t.order = append(t.order, int32(at))
			even = even && slots == t.slots[t.order[0]]
		}
	}
	if !even {
		slices.SortStableFunc(t.order, func(a, b int32) int { return cmp.Compare(t.slots[b], t.slots[a]) })
	}
	return t.order
}

// pack places k members as [domain.Pack] does.
func (t *attempt) pack(k int) []int32 {
	seq := make([]int32, 0, k)
	for _, at := range t.roomiest() {
		for range min(t.slots[at], int64(k-len(seq))) {
			seq = append(seq, at)
		}
	}
	return seq
}

// spread places k members as [domain.Spread] does.
func (t *attempt) spread(k int) []int32 {
	seq := make([]int32, 0, k)
	order := t.roomiest()
	for round := int64(0); len(seq) < k; round++ {
		for _, at := range order {
			if t.slots[at] <= round || len(seq) == k {
				break
			}
			seq = append(seq, at)
		}
	}
	return seq
}
