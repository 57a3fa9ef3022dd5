package preemption

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/domain"
)

// slotOffer is a node with what one more member there costs.
type slotOffer struct {
	price domain.Price
	at    int32
	k     int32 // members there, with this one
}

func (o *slotOffer) compare(p *slotOffer) int {
	if c := o.price.Compare(p.price); c != 0 {
		return c
	}
	return cmp.Compare(o.at, p.at)
}

// further is what one more member costs on the node of o, which is taken; see
// [victims.Offers.Price].
func (t *slotTry) further(o slotOffer) slotOffer {
	n := t.node(o.at)
	paid := o.price
	if o.k > 1 {
		paid = t.cost(o.at, o.k).Price()
	}
	o.k++
	o.price = t.seats.More(n, int64(o.k))
	o.price.Violations -= paid.Violations
	o.price.Sum -= paid.Sum
	o.price.Pods -= paid.Pods
	if o.price.Highest <= paid.Highest {
		o.price.Highest = domain.Free.Highest
	}
	return o
}

// least places k members as [domain.LeastDisruption] does. Only nodes whose first
// seat is among the k cheapest ever come into question.
func (t *slotTry) least(k int) []int32 {
	t.findCheapest(max(k, climbNodes))
	seq := make([]int32, 0, k)
	next := 0
	again := t.again[:0] // a heap: further seats on nodes that have some taken
	for len(seq) < k {
		var o slotOffer
		if next < len(t.cheapest) {
			o = t.cheapest[next].offer()
		}
		if next < len(t.cheapest) && (len(again) == 0 || o.compare(&again[0]) < 0) {
			next++
		} else {
			o = again[0]
			last := len(again) - 1
			again[0] = again[last]
			again = again[:last]
			siftDown(again, 0, (*slotOffer).compare)
		}
		seq = append(seq, o.at)
		if int64(o.k) < t.slots[o.at] && len(seq) < k {
			again = append(again, t.further(o))
			siftUp(again, len(again)-1, (*slotOffer).compare)
		}
	}
	t.again = again[:0]
	return seq
}

// roomiest orders the nodes that have slots: most of them first, then by number.
func (t *slotTry) roomiest() []int32 {
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
func (t *slotTry) pack(k int) []int32 {
	seq := make([]int32, 0, k)
	for _, at := range t.roomiest() {
		for range min(t.slots[at], int64(k-len(seq))) {
			seq = append(seq, at)
		}
	}
	return seq
}

// spread places k members as [domain.Spread] does.
func (t *slotTry) spread(k int) []int32 {
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
