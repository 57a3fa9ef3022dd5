package counting

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// draft is a placement with what it costs.
type draft struct {
	seq    []int32 // where the members go, in order
	spots  []spot
	price  domain.Price
	start  int64 // the earliest among the most important of those who go, once that was needed
	known  bool  // start is
	losses losses
	lost   []victims.Marked // room for those of losses
	tried  int              // where units have several pods: how many units were looked at
}

// draft is a placement to be priced: the same one again, until it is kept as the best.
func (t *attempt) draft(seq []int32) *draft {
	if t.spare == nil {
		t.spare = &draft{lost: []victims.Marked{}} // none, but known
	}
	p := t.spare
	*p = draft{seq: append(p.seq[:0], seq...), spots: t.spots(p.spots[:0], seq), price: domain.Free, lost: p.lost[:0]}
	return p
}

// spot is a node with members on it.
type spot struct {
	at   int32
	k    int32
	cost columns.Cost
}

// on is how many members are on a node.
func (p *draft) on(at int32) int32 {
	for _, s := range p.spots {
		if s.at == at {
			return s.k
		}
	}
	return 0
}

// weigh prices a placement; nil if it costs more than the best so far. Where units have several pods
// only giving back tells what it costs, and the placement counts as tried whatever that is.
func (t *attempt) weigh(seq []int32) *draft {
	if t.joint {
		p := t.giveBack(seq)
		if !t.shared && t.top != nil && p.price.Compare(t.top.price) > 0 {
			return nil
		}
		return p
	}
	p := t.draft(seq)
	for i := range p.spots {
		s := &p.spots[i]
		s.cost = t.cost(s.at, s.k)
		p.price.Add(s.cost.Price())
		if t.top != nil && p.price.Compare(t.top.price) > 0 {
			return nil
		}
	}
	return p
}

// spots appends to dst how many members each node has, nodes in order of their first.
func (t *attempt) spots(dst []spot, seq []int32) []spot {
	t.touched = t.touched[:0]
	for _, at := range seq {
		if t.count[at]++; t.count[at] == 1 {
			t.touched = append(t.touched, at)
		}
	}
	dst = slices.Grow(dst, len(t.touched))
	for _, at := range t.touched {
		dst = append(dst, spot{at: at, k: t.count[at]})
		t.count[at] = 0
	}
	return dst
}

// started is the start that the score of p tells.
func (t *attempt) started(p *draft) int64 {
	if p.known {
		return p.start
	}
	p.start, p.known = math.MaxInt64, true
	for _, s := range p.spots {
		if s.cost.Price().Highest == p.price.Highest {
			p.start = min(p.start, t.seats.Started(t.node(s.at), int64(s.k)))
		}
	}
	return p.start
}

// score is what p costs as a score.
func (p *draft) score() victims.Score {
	s := victims.Score{Violations: int(p.price.Violations), Highest: math.MinInt32, Started: math.MaxInt64}
	if p.price.Pods > 0 {
		s.Highest, s.Sum, s.Pods, s.Started = int32(p.price.Highest), p.price.Sum, int(p.price.Pods), p.start
	}
	return s
}
