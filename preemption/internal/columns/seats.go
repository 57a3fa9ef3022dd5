package columns

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Seats tells who has to go on a node so that several equal members of a gang find
// a seat there, over the packed columns of a [NodeColumns], where nothing but
// resources and budgets decides. It comes to what a [reprieve.Runner] comes to on that node
// over a [domain.GangTrial] on which they are placed. Only for nodes that are
// simple, see [victims.NodeColumns.NumBelow]. Not safe for concurrent use.
type Seats struct {
	columns *NodeColumns
	below   int32
	held    func(cluster.NodeID) []int64

	request []int64
	slots   Slots
	asks    [keptAsks]Ask  // by number of members
	known   [keptAsks]bool // asks says so
	one     Ask
	two     Ask
	narrow  bool          // all that a member asks for is in one word
	wide    int           // then which; below zero: asks are of more than two words
	many    Ask           // of numMany members, if that is above zero
	numMany int64         // not of those of asks
	other   Ask           // beside what is held
	at      nodePositions // of node, which is looked at, with its potential victims
	node    cluster.NodeID
	first   victims.Position
	end     victims.Position
	now     *Ask     // what the members on the node that is looked at ask for together
	free    []uint64 // what they leave, with guards
	out     []victims.Position
	left    []uint64 // by position in out, with guards; see giveBack
	lack    []int64  // by resource, in grains: somebody would have returned with so much less asked for; see settle
	row     []int64
	room    []uint64
	units   [BlockSize]uint64 // buffers of AtLeastIn
	least   [BlockSize]Cost

	harm func(cluster.NodeID) *PositionSet // nil: nobody's loss does
}

// keptAsks is up to how many members, not included, asks are packed once.
const keptAsks = 16

// NewSeats returns Seats over the units laid out in l, which has plain nodes.
func NewSeats(l *NodeColumns) *Seats { return &Seats{columns: l} }

// Over reports whether s is about the units laid out in l.
func (s *Seats) Over(l *NodeColumns) bool { return s.columns == l }

// Ask sets what each member asks for, the priority below which units may be evicted,
// and the row of what else is held on a node, nil for nothing. False if the columns
// cannot tell how often that fits.
func (s *Seats) Ask(m *domain.Member, below int32, held func(cluster.NodeID) []int64) bool {
	s.request, s.below, s.held, s.harm, s.node = m.Request(), below, held, nil, cluster.NoNode
	s.known, s.numMany = [keptAsks]bool{}, 0
	s.pack(&s.one, 1, nil)
	s.pack(&s.two, 2, nil)
	s.narrow, s.wide = wordOf(&s.one)
	return s.slots.Set(s.columns.Lanes(), s.request)
}

// wordOf says whether a asks for lanes of one word only, and of which; -1 if not, and if
// there are more than two words.
func wordOf(a *Ask) (narrow bool, word int) {
	for w, guards := range a.Guards {
		switch {
		case guards == 0:
		case narrow:
			narrow, word = false, 0
			if len(a.Guards) > 2 {
				word = -1
			}
			return narrow, word
		default:
			narrow, word = true, w
		}
	}
	return narrow, word
}

// One is what a member asks for, Two is what two do. They belong to s.
func (s *Seats) One() *Ask { return &s.one }

// Two is what two members ask for.
func (s *Seats) Two() *Ask { return &s.two }

// Asking is what k members ask for. It is good until the next call.
func (s *Seats) Asking(k int64) *Ask { return s.asking(k, nil) }

// look turns to node n.
func (s *Seats) look(n cluster.NodeID) {
	if s.node != n {
		s.node, s.at = n, s.columns.At(n)
		s.first, s.end = s.at.Below(s.below)
	}
}

// Positions are those of the potential victims on node n, most important first.
func (s *Seats) Positions(n cluster.NodeID) (first, end victims.Position) {
	s.look(n)
	return s.first, s.end
}

// ask turns to node n, and sets what k members there ask for; k is at most Slots.
func (s *Seats) ask(n cluster.NodeID, k int64) {
	s.look(n)
	s.now = s.asking(k, s.held(n))
}

// asking is what k members ask for beside what is held.
func (s *Seats) asking(k int64, held []int64) *Ask {
	switch {
	case held != nil:
		s.pack(&s.other, k, held)
		return &s.other
	case k >= keptAsks:
		if s.numMany != k {
			s.numMany = k
			s.pack(&s.many, k, nil)
		}
		return &s.many
	case !s.known[k]:
		s.known[k] = true
		s.pack(&s.asks[k], k, nil)
	}
	return &s.asks[k]
}

func (s *Seats) pack(a *Ask, k int64, held []int64) {
	s.row = s.row[:0]
	for r, v := range s.request {
		sum := v * k
		if held != nil && v > 0 { // nobody looks at the others
			sum += held[r]
		}
		s.row = append(s.row, sum)
	}
	s.columns.Lanes().Pack(a, s.row)
}
