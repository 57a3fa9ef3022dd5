package nearest

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
)

// hopes rules nodes out, by the columns of the ladder, that cannot be nearer than the
// nearest so far. It knows nodes that ask nothing of the pod, and resources alone.
type hopes struct {
	q      *ask.Question
	search *onepod.Search
	ask    columns.Ask
	top    int // the column of the pod's priority
	last   int // with everybody gone
	asked  []asked

	known bool
	count int         // of the nearest so far
	lower int         // the column of the highest priority that is nearer by itself, where the nearest needs one thing; 0: none
	near  columns.Ask // where the nearest needs one thing: what a nearer node has room for
}

// asked is a resource that the pod asks for.
type asked struct {
	id     cluster.ResourceID
	amount int64
	most   int64 // what may be missing of it alone where the way is to be nearer; below zero: nothing
	beside int64 // likewise, beside a higher priority
}

// newHopes returns hopes without a nearest; nil, which rules nothing out, if the
// columns do not do.
func (s *Pod) newHopes() *hopes {
	if !s.search.Sweeps() || s.search.Nominated() != cluster.NoNode || !s.search.Member.Anywhere() {
		return nil
	}
	h := &hopes{q: s.q, search: s.search, last: s.q.Columns.Levels().Last()}
	h.top, _ = s.q.Columns.Levels().Column(s.q.Priority)
	s.q.Columns.Lanes().Pack(&h.ask, s.search.Member.Request())
	for r, amount := range s.search.Member.Request() {
		if amount > 0 {
			h.asked = append(h.asked, asked{id: cluster.ResourceID(r), amount: amount})
		}
	}
	return h
}

// below is the most of amount that is less than that many millionths of it.
func below(amount, millionths int64) int64 {
	if millionths <= 0 {
		return -1
	}
	hi, lo := bits.Mul64(uint64(amount), uint64(millionths-1))
	if hi >= million {
		return 1<<63 - 1
	}
	most, _ := bits.Div64(hi, lo, million)
	return int64(min(most, 1<<63-1))
}

// beat takes best as the nearest so far.
func (h *hopes) beat(best *relaxed) {
	if h == nil {
		return
	}
	h.known, h.count = true, len(best.changes)
	raised := best.below > h.q.Priority
	if h.lower = 0; h.count == 1 {
		to := int64(best.below) - 1
		if !raised {
			to = checked.Add(int64(h.q.Priority), best.size-1)
			if best.size > million { // more than any priority counts as
				to = math.MaxInt32
			}
		}
		if to > int64(h.q.Priority) {
			h.lower, _ = h.q.Columns.Levels().Column(int32(min(to, math.MaxInt32)))
		}
	}
	size := best.size
	if raised {
		size = checked.Add(size, 1) // as much will do, with a lower priority
	}
	for i := range h.asked {
		a := &h.asked[i]
		a.most, a.beside = below(a.amount, size), below(a.amount, size-1)
	}
	if h.single() {
		row := slices.Clone(h.search.Member.Request())
		for _, a := range h.asked {
			row[a.id] = max(0, a.amount-max(0, a.most))
		}
		h.q.Columns.Lanes().Pack(&h.near, row)
	}
}

// single reports that a nearer node lacks one resource, and less of it than the
// nearest so far, or needs a higher priority alone.
func (h *hopes) single() bool { return h.known && h.count == 1 }

// next returns the first node from n on that may be nearer.
func (h *hopes) next(n cluster.NodeID) cluster.NodeID {
	for ; h != nil && h.known && int(n) < h.q.Index.NumNodes(); n++ {
		if !h.single() {
			if !h.none(n) {
				break
			}
			continue
		}
		b, i := h.q.Columns.Levels().Blocks()[n/columns.BlockSize], n%columns.BlockSize
		known := b.Plain & b.Open
		maybe := (b.Plain|b.Odd)&^known | b.Fit(&h.near, h.top, known)
		if h.lower > 0 {
			maybe |= b.Fit(&h.ask, h.lower, known)
		}
		maybe = maybe >> i << i
		if maybe != 0 {
			return n - i + cluster.NodeID(bits.TrailingZeros64(maybe))
		}
		n += columns.BlockSize - i - 1
	}
	return n
}

// none reports that node n cannot be nearer.
func (h *hopes) none(n cluster.NodeID) bool {
	b, i := h.q.Columns.Levels().Blocks()[n/columns.BlockSize], int(n)%columns.BlockSize
	if b.Plain&b.Open>>i&1 == 0 {
		return false
	}
	switch shorts := b.Shorts(&h.ask, h.top, i); {
	case shorts < h.count, shorts == h.count && h.within(b, h.top, i, false):
		return false
	}
	switch shorts := b.Shorts(&h.ask, h.last, i); {
	case shorts+1 < h.count, shorts+1 == h.count && h.within(b, h.last, i, true):
		return false
	}
	return true
}

// within reports whether each resource by itself lacks little enough in column c for
// the node to be nearer, beside a higher priority or not.
func (h *hopes) within(b *columns.Block, c, i int, beside bool) bool {
	for _, a := range h.asked {
		most := a.most
		if beside {
			most = a.beside
		}
		if free := b.FreeAtMost(h.q.Columns.Lanes(), c, i, a.id); free < a.amount && a.amount-free > most {
			return false
		}
	}
	return true
}
