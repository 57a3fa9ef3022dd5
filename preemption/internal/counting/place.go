package counting

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/domain"
)

// further offers one more member on the node of o, which is taken; see
// [domain.Offers].
func (t *attempt) further(o domain.SeatOffer) domain.SeatOffer {
	return domain.SeatOffer{Price: t.seats.More(t.node(o.At), int64(o.K)), At: o.At, K: o.K + 1}
}

// least places k members as [domain.LeastDisruption] does. Only nodes whose first seat is among the k
// cheapest, or costs the same, come into question; all of them do where budgets may be violated: a seat that
// violates fewer of them may take somebody more important, beside whom others cost less.
func (t *attempt) least(k int) []int32 {
	t.findCheapest(max(k, ClimbNodes))
	t.offers.Reset(domain.Free.Highest)
	for _, c := range t.inQuestion(k) {
		t.offers.Push(c.offer())
	}
	seq := make([]int32, 0, k)
	for len(seq) < k {
		o, _ := t.offers.Least()
		t.offers.Drop()
		if k > 1 && o.Blind() {
			t.foresee(&o, k)
			t.offers.Push(o)
			continue
		}
		t.offers.Take(o.Price)
		seq = append(seq, o.At)
		if int64(o.K) < t.slots[o.At] && len(seq) < k {
			t.offers.Push(t.further(o))
		}
	}
	return seq
}

// foresee looks at more members on the node of o, of all that are to be placed.
func (t *attempt) foresee(o *domain.SeatOffer, all int) {
	n, k := t.node(o.At), int64(o.K)
	most := min(t.slots[o.At]-k, int64(all)-1)
	if most > 0 && !t.harmful {
		most = min(most, t.seats.SlotsUpTo(n, t.cost(o.At, o.K).Price().Highest)-k)
	}
	o.Foresee(most, func(more int64) (domain.Price, bool) { return t.seats.Cost(n, k+more).Price(), true })
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

// everyWay considers every placement of k members, in the order in which trials look at them.
func (t *attempt) everyWay(k int) {
	w := ways{attempt: t, spots: make([]spot, 0, k)}
	w.from(0, int64(k), domain.Free)
}

// ways is a walk over placements: spots are the nodes with members so far.
type ways struct {
	*attempt
	spots []spot
}

// from places so many more members on nodes from at on, in every way that does not cost more than
// the best so far, as far as that is known; those who have a place cost price.
func (w *ways) from(at int32, left int64, price domain.Price) {
	if left == 0 {
		w.goOn()
		if p := w.draft(price); p != nil {
			w.consider(p)
		}
		return
	}
	for ; int(at) < len(w.slots); at++ {
		for k := min(left, w.slots[at]); k > 0; k-- {
			s, sum := spot{at: at, k: int32(k)}, price
			if !w.joint {
				s.cost = w.cost(at, int32(k))
				if sum.Add(s.cost.Price()); sum.Compare(w.top.price) > 0 {
					continue
				}
			}
			w.spots = append(w.spots, s)
			w.from(at+1, left-k, sum)
			w.spots = w.spots[:len(w.spots)-1]
		}
	}
}

// draft is the placement at which the walk is, nil if it costs more than the best so far.
func (w *ways) draft(price domain.Price) *draft {
	w.seq = w.seq[:0]
	for _, s := range w.spots {
		for range s.k {
			w.seq = append(w.seq, s.at)
		}
	}
	if w.joint {
		return w.weigh(w.seq)
	}
	p := w.attempt.draft(w.seq)
	p.spots, p.price = append(p.spots[:0], w.spots...), price
	return p
}
