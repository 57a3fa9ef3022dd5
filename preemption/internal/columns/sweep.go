package columns

import (
	"math"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Sweep is the reprieve of one pod on one node after the other, over the packed
// columns of a [NodeColumns], where nothing but resources and budgets decides. It
// comes to what a [reprieve.Runner] comes to over a [domain.NodeTrial]; nodes that cannot beat
// a score are left early. Not safe for concurrent use.
type Sweep struct {
	columns   *NodeColumns
	violating *Violating // nil where there are no budgets
	request   []int64
	ask       Ask
	free      []uint64 // what is free with everybody who stays, with guards
	node      cluster.NodeID
	at        nodePositions // of node
	gate      *Gate

	out []victims.Position
	row []int64 // buffer of short
}

// NewSweep returns a Sweep over the units laid out in l.
func NewSweep(l *NodeColumns) *Sweep {
	return &Sweep{columns: l, out: make([]victims.Position, 0, mostPositions)}
}

// Ask sets the pod that is to be placed, and the priority below which units may go.
func (s *Sweep) Ask(m *domain.Member, below int32) {
	s.request = m.Request()
	s.columns.Lanes().Pack(&s.ask, s.request)
	s.violating = nil
	if !s.columns.Budgets().None() {
		s.violating = s.columns.Violating(below)
	}
}

// Short are odd nodes of b without room for the pod as things are, which admit every pod and to which none is nominated.
func (s *Sweep) Short(b *Block) uint64 { return b.measured &^ b.Fit(&s.ask, 0, b.measured) }

// Gate decides beside resources and budgets who returns.
type Gate struct {
	Minds PositionSet // the units that it has a say about
	// Admit returns such a unit as far as the gate is concerned, or reports that it must
	// stay out.
	Admit func(u victims.UnitID) bool
}

// Fits reports whether the pod fits on node n with the units before position in place and
// the others gone. O(1).
func (s *Sweep) Fits(n cluster.NodeID, position victims.Position) bool {
	s.node, s.at = n, s.columns.At(n)
	return s.fitsAt(position)
}

// fitsAt is Fits on the current node; it takes the pod's room.
func (s *Sweep) fitsAt(position victims.Position) bool {
	words, at := len(s.ask.Words), position/stride
	room := s.at.rooms[int(at)*words:][:words]
	if !s.ask.Fits(room) {
		return false
	}
	s.take(room)
	for g := at * stride; g < position; g++ {
		if !s.returns(g) {
			return false
		}
	}
	return true
}

// Node gives back whom it can of the units on positions first to end of node n, with
// which gone the pod is known to fit; if gate is not nil, those that it minds and that
// have room have to pass it, in the order in which they are tried. ok is false if the
// outcome is worse than bound, which may be nil; the score is then not complete, and
// the gate not asked about everybody. O(k) for k units.
func (s *Sweep) Node(n cluster.NodeID, first, end victims.Position, bound *victims.Score, gate *Gate) (score victims.Score, ok bool) {
	s.node, s.at, s.gate = n, s.columns.At(n), gate
	l := loss{at: &s.at, out: s.out[:0], bound: bound, most: math.MaxUint64, limit: math.MaxInt}
	if s.violating != nil && !s.violating.Of(n).Empty() {
		if bound != nil {
			l.limit = bound.Violations
		}
		if gate == nil && s.violating.Of(n).Covers(first, end) { // then the order is that of importance
			l.bound = nil
			ok = s.inOrder(first, end, &l)
			l.violations = len(l.out)
		} else {
			ok = s.violatingFirst(first, end, &l)
		}
	} else {
		if bound != nil && bound.Violations > 0 {
			l.bound = nil // no violations here: better in any case
		}
		ok = s.inOrder(first, end, &l)
	}
	if s.out = l.out; !ok {
		return victims.Score{}, false
	}
	return s.score(&l, bound)
}

// score is that of what stays out; ok is false if it is worse than bound.
func (s *Sweep) score(l *loss, bound *victims.Score) (score victims.Score, ok bool) {
	score = victims.Score{Violations: l.violations, Highest: math.MinInt32, Sum: int64(l.sum), Pods: l.pods, Started: math.MaxInt64}
	if len(l.out) > 0 {
		score.Highest = l.at.Owns[l.out[0]]
	}
	if bound == nil {
		score.Started = s.at.earliestStart(l.out)
		return score, true
	}
	if at := *bound; at.Started != math.MaxInt64 { // the start matters where all else ties
		at.Started = math.MaxInt64
		if c := score.Compare(at); c != 0 {
			if c < 0 {
				score.Started = s.at.earliestStart(l.out)
			}
			return score, c < 0
		}
	}
	score.Started = s.at.earliestStart(l.out)
	return score, score.Compare(*bound) <= 0
}

// Victims returns the positions of the units that stay out after the latest Node, most
// important first. The slice is good until the next.
func (s *Sweep) Victims() []victims.Position { return s.out }

// loss is what stays out, and what it must not be worse than.
type loss struct {
	at         *nodePositions
	out        []victims.Position
	pods       int
	sum        uint64
	violations int

	bound *victims.Score // nil: anything will do
	most  uint64         // of sum
	limit int            // of units
}

// add notes that position g stays out, the most important first; false if that is worse
// than the bound.
func (l *loss) add(g victims.Position) bool {
	own := l.at.Owns[g]
	if len(l.out) == 0 && l.bound != nil {
		if own > l.bound.Highest {
			return false
		}
		if own == l.bound.Highest {
			l.most = uint64(l.bound.Sum)
		}
	}
	pods := l.at.Pods(g)
	l.out = append(l.out, g)
	l.pods += pods
	l.sum += uint64(priority.Raised(own)) * uint64(pods)
	return l.sum <= l.most && len(l.out) <= l.limit
}

// inOrder gives back whom it can, most important first; false if the outcome is worse
// than the bound.
func (s *Sweep) inOrder(first, end victims.Position, l *loss) bool {
	rooms, words := s.at.rooms, len(s.ask.Words)
	last := end - 1
	if s.gate != nil {
		last = min(last, s.gate.Minds.First())
	}
	at := int(last) / stride // all before the last point with room return
	for ; at > int(first)/stride && !s.ask.Fits(rooms[at*words:][:words]); at-- {
	}
	from, room, asks := victims.Position(at*stride), rooms[at*words:][:words], s.at.asks
	switch {
	case s.gate != nil || words > 2:
		s.take(room)
		for g := from; g < first; g++ {
			s.returns(g)
		}
		for g := max(from, first); g < end; g++ {
			if !s.admits(g) && !l.add(g) {
				return false
			}
		}
		return true
	case words == 2:
		return s.back2(asks, room[0], room[1], from, end, l)
	}
	return s.back1(asks, room[0], from, end, l)
}

// back1 gives back the units on positions from to end with room free, one word wide.
func (s *Sweep) back1(asks []uint64, room uint64, from, end victims.Position, l *loss) bool {
	mask, guards := s.ask.masks[0], s.ask.Guards[0]
	free := room - s.ask.Words[0] | s.ask.Rest[0]
	for g, ask := range asks[from:end] {
		if left := free - ask&mask; left&guards == guards {
			free = left
		} else if !l.add(from + victims.Position(g)) {
			return false
		}
	}
	return true
}

// back2 is back1 with two words.
func (s *Sweep) back2(asks []uint64, room0, room1 uint64, from, end victims.Position, l *loss) bool {
	mask0, guards0, mask1, guards1 := s.ask.masks[0], s.ask.Guards[0], s.ask.masks[1], s.ask.Guards[1]
	free0, free1 := room0-s.ask.Words[0]|s.ask.Rest[0], room1-s.ask.Words[1]|s.ask.Rest[1]
	asks = asks[:2*end]
	for g := from; g < end; g++ {
		left0, left1 := free0-asks[2*g]&mask0, free1-asks[2*g+1]&mask1
		if left0&guards0 == guards0 && left1&guards1 == guards1 {
			free0, free1 = left0, left1
		} else if !l.add(g) {
			return false
		}
	}
	return true
}

// admits returns the unit on position g if there is room and the gate is open.
func (s *Sweep) admits(g victims.Position) bool {
	if s.gate != nil && s.gate.Minds.Has(g) && !(s.hasRoom(g) && s.gate.Admit(s.columns.Unit(s.node, g))) {
		return false
	}
	return s.returns(g)
}

// hasRoom reports whether the unit on position g finds room.
func (s *Sweep) hasRoom(g victims.Position) bool {
	words := len(s.ask.Words)
	for w, ask := range s.at.asks[int(g)*words : (int(g)+1)*words] {
		if guards := s.ask.Guards[w]; (s.free[w]-ask&s.ask.masks[w])&guards != guards {
			return false
		}
	}
	return true
}

// returns takes the room of the unit on position g if it is there.
func (s *Sweep) returns(g victims.Position) bool {
	if !s.hasRoom(g) {
		return false
	}
	words := len(s.ask.Words)
	for w, ask := range s.at.asks[int(g)*words : (int(g)+1)*words] {
		s.free[w] -= ask & s.ask.masks[w]
	}
	return true
}

// take sets the free room to room with the pod in place, which fits.
func (s *Sweep) take(room []uint64) {
	s.free = s.free[:0]
	for w, v := range room {
		s.free = append(s.free, v-s.ask.Words[w]|s.ask.Rest[w])
	}
}

// short returns the first resource that the pod lacks on node n with the units before
// position in place and the others gone. It does not fit there.
func (s *Sweep) short(n cluster.NodeID, position victims.Position) cluster.ResourceID {
	s.row = s.columns.Room(s.row[:0], n, position)
	for r, v := range s.request {
		if v > 0 && v > s.row[r] {
			return cluster.ResourceID(r)
		}
	}
	panic("reprieve: nothing is short")
}
