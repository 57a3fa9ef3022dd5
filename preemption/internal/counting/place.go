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
