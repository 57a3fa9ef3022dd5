package columns

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Violating tells, for one preemptor's priority, which units of each node would
// violate a budget if everybody below that priority there went: on each node the
// allowances go to the most important first.
type Violating struct {
	below  int32
	mu     sync.Mutex
	seen   int // how much of their journal is in
	ledger *disruption.Ledger
	of     paged.Column[PositionSet] // by node
	any    []uint64                  // by block: the nodes for which of is not empty
	all    []uint64                  // by block: the nodes where of has everybody who may go
	shared bool                      // any and all are those of a fork, too: cloned before they are changed
}

// PositionSet has a bit for every position of a node.
type PositionSet [mostPositions / 64]uint64

// Empty reports whether no position is in s.
func (s *PositionSet) Empty() bool { return s[0]|s[1]|s[2]|s[3] == 0 }

// Add puts position g into s.
func (s *PositionSet) Add(g victims.Position) { s[g/64] |= 1 << (g % 64) }

// First returns the first position in s, mostPositions if there is none.
func (s *PositionSet) First() victims.Position {
	for i, word := range s {
		if word != 0 {
			return victims.Position(i*64 + bits.TrailingZeros64(word))
		}
	}
	return mostPositions
}

// Has reports whether position g is in s.
func (s *PositionSet) Has(g victims.Position) bool { return s[g/64]>>(g%64)&1 != 0 }

// Covers reports whether all positions from first to end are in s.
func (s *PositionSet) Covers(first, end victims.Position) bool {
	for w := first / 64; w*64 < end; w++ {
		if between(w, first, end)&^s[w] != 0 {
			return false
		}
	}
	return true
}

// between has the bits of word w of a PositionSet for the positions from first to end, not
// included.
func between(w, first, end victims.Position) uint64 {
	set := ^uint64(0)
	if first > w*64 {
		set <<= first - w*64
	}
	if end < w*64+64 {
		set &= 1<<(end-w*64) - 1
	}
	return set
}

// cuts are the priorities for which it was asked lately.
type cuts struct {
	mu   sync.Mutex
	list []*Violating
}

const mostCuts = 16

// inherit takes what of knows, the cuts of columns that are forked. Questions may ask it
// meanwhile.
func (c *cuts) inherit(of *cuts) {
	of.mu.Lock()
	defer of.mu.Unlock()
	for _, v := range of.list {
		v.mu.Lock()
		v.shared = true
		c.list = append(c.list, &Violating{below: v.below, seen: v.seen, of: v.of.Fork(), any: v.any, all: v.all, shared: true})
		v.mu.Unlock()
	}
}

// Violating returns what holds for a preemptor of that priority. The first question
// costs a pass over all units, the next what has changed since.
func (l *NodeColumns) Violating(below int32) *Violating {
	l.cuts.mu.Lock()
	i := slices.IndexFunc(l.cuts.list, func(v *Violating) bool { return v.below == below })
	if i < 0 {
		if len(l.cuts.list) == mostCuts {
			l.cuts.list = slices.Delete(l.cuts.list, 0, 1)
		}
		i = len(l.cuts.list)
		l.cuts.list = append(l.cuts.list, &Violating{
			below: below, seen: -1, of: paged.Make[PositionSet](l.us.Index().NumNodes()),
			any: make([]uint64, len(l.levels.blocks)), all: make([]uint64, len(l.levels.blocks)),
		})
	}
	v := l.cuts.list[i]
	l.cuts.mu.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen == l.Changes() {
		return v
	}
	if v.shared {
		v.any, v.all, v.shared = slices.Clone(v.any), slices.Clone(v.all), false
	}
	if v.ledger == nil {
		v.ledger = l.budgets.NewLedger()
	}
	l.Since(&v.seen, v.below, func(n cluster.NodeID) { v.find(l, n) })
	return v
}

// Reconsider is called when what budgets allow has changed, and nothing else.
func (l *NodeColumns) Reconsider() { l.cuts.list = nil }

// Of returns the positions of node n that would violate a budget.
func (v *Violating) Of(n cluster.NodeID) *PositionSet { return v.of.At(int(n)) }

// Any returns the nodes of a block for which Of is not empty.
func (v *Violating) Any(block int) uint64 { return v.any[block] }

// All returns the nodes of a block where Of has everybody who may go, somebody at least.
func (v *Violating) All(block int) uint64 { return v.all[block] }

// find settles node n.
func (v *Violating) find(l *NodeColumns, n cluster.NodeID) {
	bit := uint64(1) << (n % BlockSize)
	if v.any[n/BlockSize]&bit != 0 {
		v.any[n/BlockSize] &^= bit
		*v.of.Edit(int(n)) = PositionSet{}
	}
	v.all[n/BlockSize] &^= bit
	if at := l.node(n); !at.plain || !at.budgeted {
		return
	}
	v.ledger.Reset()
	first, end := l.Positions(n, v.below)
	for g := first; g < end; g++ {
		if l.budgets.Charge(v.ledger, l.us.Unit(l.us.On(n)[g])) > 0 {
			v.of.Edit(int(n)).Add(g)
			v.any[n/BlockSize] |= bit
		}
	}
	if first < end && v.of.At(int(n)).Covers(first, end) {
		v.all[n/BlockSize] |= bit
	}
}
