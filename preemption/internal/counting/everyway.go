package counting

import "github.com/preempt-go/preempt/domain"

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
