package preemption

import (
	"cmp"
	"math/bits"
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
		paid = t.seats.Price(n, int64(o.k))
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
		if next < len(t.cheapest) && (len(again) == 0 || t.cheapest[next].compare(&again[0]) < 0) {
			o = t.cheapest[next]
			next++
		} else {
			o = again[0]
			last := len(again) - 1
			again[0] = again[last]
			again = again[:last]
			siftDown(again, 0)
		}
		seq = append(seq, o.at)
		if int64(o.k) < t.slots[o.at] && len(seq) < k {
			again = append(again, t.further(o))
			siftUp(again, len(again)-1)
		}
	}
	t.again = again[:0]
	return seq
}

func siftUp(h []slotOffer, i int) {
	for i > 0 {
		up := (i - 1) / 2
		if h[i].compare(&h[up]) >= 0 {
			return
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func siftDown(h []slotOffer, i int) {
	for {
		down := 2*i + 1
		if down >= len(h) {
			return
		}
		if down+1 < len(h) && h[down+1].compare(&h[down]) < 0 {
			down++
		}
		if h[i].compare(&h[down]) <= 0 {
			return
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}

// findCheapest finds the nodes on which a first member costs least, at least so many
// if there are. Who goes first at least settles for most nodes, without budgets, that
// they are not among them.
func (t *slotTry) findCheapest(wanted int) {
	t.order, t.levels = t.order[:0], t.levels[:0]
	for at, slots := range t.slots {
		if slots > 0 {
			t.order = append(t.order, int32(at))
		}
	}
	if !t.harmful && len(t.order) > wanted {
		for _, at := range t.order {
			t.levels = append(t.levels, t.seats.Highest(t.node(at), 1))
		}
		sorted := append(t.levels, t.levels...)[len(t.levels):]
		selectLeast(sorted, wanted, func(a, b *int64) int { return cmp.Compare(*a, *b) })
		most := slices.Max(sorted[:wanted])
		kept := t.order[:0]
		for i, at := range t.order {
			if t.levels[i] <= most {
				kept = append(kept, at)
			}
		}
		t.order = kept
	}
	t.offers = t.offers[:0]
	for _, at := range t.order {
		t.offers = append(t.offers, slotOffer{price: t.seats.Price(t.node(at), 1), at: at, k: 1})
	}
	t.cheapest = t.offers
	if len(t.cheapest) > wanted {
		selectLeast(t.cheapest, wanted, (*slotOffer).compare)
		t.cheapest = t.cheapest[:wanted]
	}
	slices.SortFunc(t.cheapest, func(a, b slotOffer) int { return a.compare(&b) })
}

// selectLeast puts the k least of list first, in no order. O(len) on average; where
// that does not go well, it sorts.
func selectLeast[T any](list []T, k int, compare func(a, b *T) int) {
	for rounds := 2 * bits.Len(uint(len(list))); len(list) > 1 && k > 0 && k < len(list); rounds-- {
		if rounds == 0 {
			slices.SortFunc(list, func(a, b T) int { return compare(&a, &b) })
			return
		}
		last := len(list) - 1
		a, b, c := 0, len(list)/2, last // their median divides
		if compare(&list[a], &list[b]) > 0 {
			a, b = b, a
		}
		if compare(&list[b], &list[c]) > 0 {
			if b = c; compare(&list[a], &list[b]) > 0 {
				b = a
			}
		}
		pivot := list[b]
		i, j := 0, last
		for i <= j {
			for compare(&list[i], &pivot) < 0 {
				i++
			}
			for compare(&list[j], &pivot) > 0 {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j+1:
			list = list[:j+1]
		case k >= i:
			list, k = list[i:], k-i
		default:
			return
		}
	}
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
