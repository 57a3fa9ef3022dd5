package reprieve

import (
	"math/bits"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Sweep is the reprieve of one pod on one node after the other, over the packed
// columns of a [victims.Ladder], where nothing but resources and budgets decides. It
// comes to what a [Runner] comes to over a [domain.NodeTrial]; nodes that cannot beat
// a score are left early. Not safe for concurrent use.
type Sweep struct {
	ladder    *victims.Ladder
	violating *victims.Violating // nil where there are no budgets
	request   []int64
	ask       victims.Ask
	free      []uint64 // what is free with everybody who stays, with guards
	node      cluster.NodeID
	gate      Gate

	out []victims.Rung
	row []int64 // buffer of short
}

// NewSweep returns a Sweep over the units laid out in l.
func NewSweep(l *victims.Ladder) *Sweep {
	return &Sweep{ladder: l, out: make([]victims.Rung, 0, victims.MostRungs)}
}

// Ask sets the pod that is to be placed, and the priority below which units may go.
func (s *Sweep) Ask(m *domain.Member, below int32) {
	s.request = m.Request()
	s.ladder.Lanes().Pack(&s.ask, s.request)
	s.violating = nil
	if !s.ladder.Budgets().None() {
		s.violating = s.ladder.Violating(below)
	}
}

// Gate decides beside resources and budgets who returns.
type Gate interface {
	// Admit returns unit u as far as it is concerned, or reports that u must stay out.
	Admit(u victims.UnitID) bool
}

// Fits reports whether the pod fits on node n with the units before rung in place and
// the others gone. O(1).
func (s *Sweep) Fits(n cluster.NodeID, rung victims.Rung) bool {
	s.node = n
	words, at := len(s.ask.Words), rung/victims.Stride
	room := s.ladder.Rooms(n)[int(at)*words:][:words]
	if !s.ask.Fits(room) {
		return false
	}
	s.take(room)
	for g := at * victims.Stride; g < rung; g++ {
		if !s.returns(g) {
			return false
		}
	}
	return true
}

// Node gives back whom it can of the units on rungs first to end of node n, with
// which gone the pod is known to fit; if gate is not nil, each that has room has to
// pass it, in the order in which they are tried. ok is false if the outcome is worse
// than bound, which may be nil; the score is then not complete, and the gate not
// asked about everybody. O(k) for k units.
func (s *Sweep) Node(n cluster.NodeID, first, end victims.Rung, bound *victims.Score, gate Gate) (score victims.Score, ok bool) {
	s.node, s.gate = n, gate
	s.out = s.out[:0]
	violations := 0
	switch {
	case s.violating != nil && !s.violating.Of(n).Empty():
		limit := end
		if bound != nil {
			limit = victims.Rung(bound.Violations)
		}
		if violations = s.violatingFirst(first, end, limit); violations < 0 {
			return victims.Score{}, false
		}
	case gate != nil:
		s.Fits(n, first) // takes its room
		for g := first; g < end; g++ {
			s.giveBack(g)
		}
	default:
		if bound != nil && bound.Violations > 0 {
			bound = nil // no violations here: better in any case
		}
		if !s.plainly(first, end, bound) {
			return victims.Score{}, false
		}
	}
	score = s.ladder.Score(n, s.out, violations)
	return score, bound == nil || score.Compare(*bound) <= 0
}

// Victims returns the rungs of the units that stay out after the latest Node, most
// important first. The slice is good until the next.
func (s *Sweep) Victims() []victims.Rung { return s.out }

// plainly gives back without budgets or gates; false if the outcome is worse than
// bound.
func (s *Sweep) plainly(first, end victims.Rung, bound *victims.Score) bool {
	rooms, words := s.ladder.Rooms(s.node), len(s.ask.Words)
	at := (int(end) - 1) / victims.Stride // all before the last point with room return
	for ; at > int(first)/victims.Stride && !s.ask.Fits(rooms[at*words:][:words]); at-- {
	}
	l := loss{owns: s.ladder.Owns(s.node), out: s.out, most: ^uint64(0)}
	if bound != nil {
		l.bounded, l.highest, l.most = true, bound.Highest, uint64(bound.Sum)
	}
	from, room, asks := victims.Rung(at*victims.Stride), rooms[at*words:][:words], s.ladder.Asks(s.node)
	switch words {
	case 1:
		l.ok = s.back1(asks, room[0], from, end, &l)
	case 2:
		l.ok = s.back2(asks, room[0], room[1], from, end, &l)
	default:
		l.ok = s.backN(room, from, end, &l)
	}
	s.out = l.out
	return l.ok
}

// loss is what stays out, and what it may come to at most.
type loss struct {
	owns      []int32
	out       []victims.Rung
	sum, most uint64
	highest   int32
	bounded   bool
	ok        bool
}

// add notes that rung g stays out; false if that is more than what is allowed.
func (l *loss) add(g victims.Rung) bool {
	own := l.owns[g]
	if l.bounded && len(l.out) == 0 {
		if own > l.highest {
			return false
		}
		if own < l.highest {
			l.most = ^uint64(0)
		}
	}
	l.out = append(l.out, g)
	l.sum += uint64(int64(own) + 1<<31)
	return l.sum <= l.most
}

// back1 gives back the units on rungs from to end with room free, one word wide.
func (s *Sweep) back1(asks []uint64, room uint64, from, end victims.Rung, l *loss) bool {
	mask, guards := s.ask.Masks[0], s.ask.Guards[0]
	free := room - s.ask.Words[0] | s.ask.Rest[0]
	for g, ask := range asks[from:end] {
		if left := free - ask&mask; left&guards == guards {
			free = left
		} else if !l.add(from + victims.Rung(g)) {
			return false
		}
	}
	return true
}

// back2 is back1 with two words.
func (s *Sweep) back2(asks []uint64, room0, room1 uint64, from, end victims.Rung, l *loss) bool {
	mask0, guards0, mask1, guards1 := s.ask.Masks[0], s.ask.Guards[0], s.ask.Masks[1], s.ask.Guards[1]
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

// backN is back1 with any number of words.
func (s *Sweep) backN(room []uint64, from, end victims.Rung, l *loss) bool {
	s.take(room)
	for g := from; g < end; g++ {
		if !s.returns(g) && !l.add(g) {
			return false
		}
	}
	return true
}

// violatingFirst tries the units that violate a budget first, and returns how many of
// them stay out; below zero as soon as that is more than limit.
func (s *Sweep) violatingFirst(first, end, limit victims.Rung) int {
	s.Fits(s.node, first) // takes its room
	set := s.violating.Of(s.node)
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			if s.giveBack(victims.Rung(w*64 + bits.TrailingZeros64(word))); len(s.out) > int(limit) {
				return -1
			}
		}
	}
	violations := len(s.out)
	for g := first; g < end; g++ {
		if !set.Has(g) {
			s.giveBack(g)
		}
	}
	if violations > 0 && violations < len(s.out) {
		merge(s.out, violations)
	}
	return violations
}

// merge sorts list, whose first k and other elements are in order.
func merge(list []victims.Rung, k int) {
	for ; k < len(list); k++ {
		v, i := list[k], k
		for ; i > 0 && list[i-1] > v; i-- {
			list[i] = list[i-1]
		}
		list[i] = v
	}
}

// giveBack returns the unit on rung g if there is room and the gate is open, and
// notes it as out otherwise.
func (s *Sweep) giveBack(g victims.Rung) {
	if s.gate == nil && s.returns(g) {
		return
	}
	if s.gate != nil && s.hasRoom(g) && s.gate.Admit(s.ladder.Unit(s.node, g)) && s.returns(g) {
		return
	}
	s.out = append(s.out, g)
}

// hasRoom reports whether the unit on rung g finds room.
func (s *Sweep) hasRoom(g victims.Rung) bool {
	words := len(s.ask.Words)
	for w, ask := range s.ladder.Asks(s.node)[int(g)*words : (int(g)+1)*words] {
		if guards := s.ask.Guards[w]; (s.free[w]-ask&s.ask.Masks[w])&guards != guards {
			return false
		}
	}
	return true
}

// returns takes the room of the unit on rung g if it is there.
func (s *Sweep) returns(g victims.Rung) bool {
	if !s.hasRoom(g) {
		return false
	}
	words := len(s.ask.Words)
	for w, ask := range s.ladder.Asks(s.node)[int(g)*words : (int(g)+1)*words] {
		s.free[w] -= ask & s.ask.Masks[w]
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
// rung in place and the others gone. It does not fit there.
func (s *Sweep) short(n cluster.NodeID, rung victims.Rung) cluster.ResourceID {
	s.row = s.ladder.Room(s.row[:0], n, rung)
	for r, v := range s.request {
		if v > 0 && v > s.row[r] {
			return cluster.ResourceID(r)
		}
	}
	panic("reprieve: nothing is short")
}
