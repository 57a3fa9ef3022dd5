package counting

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
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

// stretch is a part of a domain: nodes in a row, all in one block of the levels.
// Bit i of a set is for the i-th node of the block.
type stretch struct {
	block *columns.Block
	base  cluster.NodeID // the first node of the block
	at    int32          // position in the domain of the first node of the stretch
	nodes uint64
	plain uint64 // of nodes: those for which the columns hold, and that the members may use
	room  uint64 // of plain: those with room for one with every potential victim gone
}

// position is where the node of bit i is in the domain.
func (s *stretch) position(i int) int32 {
	return s.at + int32(bits.OnesCount64(s.nodes&(1<<i-1)))
}

// node is the node of bit i.
func (s *stretch) node(i int) cluster.NodeID { return s.base + cluster.NodeID(i) }

// divide divides nodes into stretches and appends the parts to list.
func (f *Search) divide(list []stretch, nodes []cluster.NodeID) []stretch {
	blocks := f.Columns.Levels().Blocks()
	anywhere := f.member.Anywhere()
	for at := 0; at < len(nodes); {
		n := nodes[at]
		s := stretch{block: blocks[n/columns.BlockSize], base: n / columns.BlockSize * columns.BlockSize, at: int32(at)}
		end := s.base + columns.BlockSize
		for last := n - 1; at < len(nodes) && last < nodes[at] && nodes[at] < end; at++ {
			last = nodes[at]
			s.nodes |= 1 << (last - s.base)
		}
		s.plain = s.nodes & s.block.Plain
		look := s.plain
		if anywhere {
			look &^= s.block.Open
		}
		for ; look != 0; look &= look - 1 {
			if i := bits.TrailingZeros64(look); !f.Admits(s.node(i)) {
				s.plain &^= 1 << i
			}
		}
		list = append(list, s)
	}
	return list
}
