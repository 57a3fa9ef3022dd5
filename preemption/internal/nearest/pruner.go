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

// pruner rules nodes out, by their columns, that cannot be nearer than the
// nearest so far. It knows nodes that ask nothing of the pod, and resources alone.
type pruner struct {
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

// newPruner returns one without a nearest; nil, which rules nothing out, if the
// columns do not do.
func (s *Pod) newPruner() *pruner {
	if !s.search.Sweeps() || s.search.Nominated() != cluster.NoNode || !s.search.Member.Anywhere() {
		return nil
	}
	p := &pruner{q: s.q, search: s.search, last: s.q.Columns.Levels().Last()}
	p.top, _ = s.q.Columns.Levels().Column(s.q.Priority)
	s.q.Columns.Lanes().Pack(&p.ask, s.search.Member.Request())
	for r, amount := range s.search.Member.Request() {
		if amount > 0 {
			p.asked = append(p.asked, asked{id: cluster.ResourceID(r), amount: amount})
		}
	}
	return p
}

// below is the most of amount that is less than that many millionths of it.
func below(amount, millionths int64) int64 {
	if millionths <= 0 {
		return -1
	}
	most, _ := checked.MulDiv(amount, millionths-1, million)
	return most
}

// beat takes best as the nearest so far.
func (p *pruner) beat(best *relaxed) {
	if p == nil {
		return
	}
	p.known, p.count = true, len(best.changes)
	raised := best.below > p.q.Priority
	if p.lower = 0; p.count == 1 {
		to := int64(best.below) - 1
		if !raised {
			to = checked.Add(int64(p.q.Priority), best.size-1)
			if best.size > million { // more than any priority counts as
				to = math.MaxInt32
			}
		}
		if to > int64(p.q.Priority) {
			p.lower, _ = p.q.Columns.Levels().Column(int32(min(to, math.MaxInt32)))
		}
	}
	size := best.size
	if raised {
		size = checked.Add(size, 1) // as much will do, with a lower priority
	}
	for i := range p.asked {
		a := &p.asked[i]
		a.most, a.beside = below(a.amount, size), below(a.amount, size-1)
	}
	if p.single() {
		row := slices.Clone(p.search.Member.Request())
		for _, a := range p.asked {
			row[a.id] = max(0, a.amount-max(0, a.most))
		}
		p.q.Columns.Lanes().Pack(&p.near, row)
	}
}

// single reports that a nearer node lacks one resource, and less of it than the
// nearest so far, or needs a higher priority alone.
func (p *pruner) single() bool { return p.known && p.count == 1 }

// next returns the first node from n on that may be nearer.
func (p *pruner) next(n cluster.NodeID) cluster.NodeID {
	for ; p != nil && p.known && int(n) < p.q.Index.NumNodes(); n++ {
		if !p.single() {
			if !p.none(n) {
				break
			}
			continue
		}
		b, i := p.q.Columns.Levels().Blocks()[n/columns.BlockSize], n%columns.BlockSize
		known := b.Plain & b.Open
		maybe := (b.Plain|b.Odd)&^known | b.Fit(&p.near, p.top, known)
		if p.lower > 0 {
			maybe |= b.Fit(&p.ask, p.lower, known)
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
func (p *pruner) none(n cluster.NodeID) bool {
	b, i := p.q.Columns.Levels().Blocks()[n/columns.BlockSize], int(n)%columns.BlockSize
	if b.Plain&b.Open>>i&1 == 0 {
		return false
	}
	switch shorts := b.Shorts(&p.ask, p.top, i); {
	case shorts < p.count, shorts == p.count && p.within(b, p.top, i, false):
		return false
	}
	switch shorts := b.Shorts(&p.ask, p.last, i); {
	case shorts+1 < p.count, shorts+1 == p.count && p.within(b, p.last, i, true):
		return false
	}
	return true
}

// within reports whether each resource by itself lacks little enough in column c for
// the node to be nearer, beside a higher priority or not.
func (p *pruner) within(b *columns.Block, c, i int, beside bool) bool {
	for _, a := range p.asked {
		most := a.most
		if beside {
			most = a.beside
		}
		if free := b.FreeAtMost(p.q.Columns.Lanes(), c, i, a.id); free < a.amount && a.amount-free > most {
			return false
		}
	}
	return true
}
