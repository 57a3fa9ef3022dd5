package columns

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Victims are the positions of those who have to go on node n for k members, in
// ascending order. The slice is good until the next call.
func (s *Seats) Victims(n cluster.NodeID, k int64) []victims.Position {
	s.ask(n, k)
	s.out = s.out[:0]
	switch {
	case s.first == s.end:
	case !s.harmed(n) || s.harm(n).Covers(s.first, s.end): // then the order is that of importance
		from, room := s.reach()
		s.take(room)
		s.giveBack(from)
	default:
		s.harmfulFirst(s.harm(n))
	}
	return s.out
}

// Started is the earliest start among the most important of the Victims.
func (s *Seats) Started(n cluster.NodeID, k int64) int64 {
	out := s.Victims(n, k)
	return s.at.earliestStart(out)
}

// giveBack gives the units from a position on back, in order, into the free room. It
// leaves in s.out who does not return, and in s.left what was free when each of them was tried.
func (s *Seats) giveBack(from victims.Position) {
	k, words := int(s.end-from), len(s.free)
	s.out, s.left = slices.Grow(s.out[:0], k)[:k], slices.Grow(s.left[:0], k*words)[:k*words]
	if words <= 2 {
		s.giveBackFew(from)
		return
	}
	n := 0
	for g := from; g < s.end; g++ {
		copy(s.left[n*words:], s.free)
		if !s.returns(g) {
			s.out[n] = g
			n++
		}
	}
	s.out = s.out[:n]
}

// giveBackFew is giveBack for one word or two, without a branch that depends on who returns.
func (s *Seats) giveBackFew(from victims.Position) {
	a, out, left := s.now, s.out, s.left
	words := len(s.free)
	last := words - 1
	mask0, guards0, free0 := a.masks[0], a.Guards[0], s.free[0]
	mask1, guards1, free1 := a.masks[last], a.Guards[last], s.free[last]
	if last == 0 { // there is no other
		mask1, guards1 = 0, 0
	}
	n, asks := 0, s.at.asks[:int(s.end)*words]
	for g, i := from, int(from)*words; i+last < len(asks); g, i = g+1, i+words {
		ask0, ask1 := asks[i]&mask0, asks[i+last]&mask1
		out[n], left[n*words+last], left[n*words] = g, free1, free0
		short := guards0&^(free0-ask0) | guards1&^(free1-ask1)
		stays := -((short | -short) >> 63) // all bits, if the unit does not return
		free0, free1 = free0-ask0&^stays, free1-ask1&^stays
		n += int(stays & 1)
	}
	s.free[last], s.free[0], s.out = free1, free0, out[:n]
}

// harmfulFirst tries the units of set before the others.
func (s *Seats) harmfulFirst(set *PositionSet) {
	s.start()
	var out PositionSet
	for _, harmful := range []bool{true, false} {
		for g := s.first; g < s.end; g++ {
			if set.Has(g) == harmful && !s.returns(g) {
				out.Add(g)
			}
		}
	}
	for g := s.first; g < s.end; g++ {
		if out.Has(g) {
			s.out = append(s.out, g)
		}
	}
}

// Out appends to dst the units that have to go on node n, most important first, where members
// who are there leave free, of the resources that are needed, with every potential victim gone.
// They have that price. ok is false where less than nothing is left. With spans it is followed by Span.
func (s *Seats) Out(dst []victims.UnitID, n cluster.NodeID, free []int64, needed []bool, spans bool) (out []victims.UnitID, price domain.Price, ok bool) {
	s.look(n)
	l := s.columns.Lanes()
	s.row = s.row[:0]
	for _, is := range needed {
		one := int64(0)
		if is {
			one = 1
		}
		s.row = append(s.row, one)
	}
	l.Pack(&s.other, s.row)
	s.now, s.free = &s.other, s.free[:0]
	for w, guards := range l.guards {
		s.free = append(s.free, guards|s.other.Rest[w])
	}
	for r, is := range needed {
		if at := &l.lane[r]; is && free[r] >= 0 {
			s.free[at.word] |= uint64(min(at.grains(free[r]), at.most)) << at.shift
		} else if is {
			return dst, price, false
		}
	}
	if spans {
		s.settle(s.first)
	} else {
		s.giveBack(s.first)
	}
	us := s.columns.us.On(n)
	price = domain.Free
	for _, g := range s.out {
		dst = append(dst, us[g])
		s.charge(&price, g)
	}
	return dst, price, true
}

// Stops is the first position on node n whose unit does not return beside k members, or the
// end where all do, if they are tried in order of importance.
func (s *Seats) Stops(n cluster.NodeID, k int64) victims.Position {
	s.ask(n, k)
	if s.first == s.end {
		return s.end
	}
	g, room := s.reach()
	for s.take(room); g < s.end && s.returns(g); g++ {
	}
	return g
}

// reach returns a position up to which everybody returns, and what is free with those in
// place.
func (s *Seats) reach() (from victims.Position, room []uint64) {
	words := len(s.now.Words)
	at := (int(s.end) - 1) / stride
	for ; at > int(s.first)/stride && !s.now.Fits(s.at.rooms[at*words:][:words]); at-- {
	}
	return victims.Position(at * stride), s.at.rooms[at*words:][:words]
}

// start leaves what is free with nobody of the potential victims in place, beside the
// members, who fit.
func (s *Seats) start() {
	words, from := len(s.now.Words), s.first/stride
	s.take(s.at.rooms[int(from)*words:][:words])
	for g := from * stride; g < s.first; g++ {
		s.returns(g)
	}
}

// take leaves what room has beside the members, who fit.
func (s *Seats) take(room []uint64) {
	s.free = s.free[:0]
	for w, v := range room {
		s.free = append(s.free, v-s.now.Words[w]|s.now.Rest[w])
	}
}

// returns takes the room of the unit on position g if it is there.
func (s *Seats) returns(g victims.Position) bool {
	words := len(s.free)
	ask := s.at.asks[int(g)*words:][:words]
	for w, guards := range s.now.Guards {
		if (s.free[w]-ask[w]&s.now.masks[w])&guards != guards {
			return false
		}
	}
	for w, v := range ask {
		s.free[w] -= v & s.now.masks[w]
	}
	return true
}

// More is what one more member adds to what has to go on node n for k. O(units).
func (s *Seats) More(n cluster.NodeID, k int64) domain.Price {
	before := s.Cost(n, k).Price()
	return s.Cost(n, k+1).Price().Minus(before)
}

// harmed reports whether the loss of some unit on node n violates a budget.
func (s *Seats) harmed(n cluster.NodeID) bool { return s.harm != nil && !s.harm(n).Empty() }

// Harms reports whether the loss of the unit on position g of node n violates a budget.
func (s *Seats) Harms(n cluster.NodeID, g victims.Position) bool {
	return s.harm != nil && s.harm(n).Has(g)
}

// charge adds what the loss of the unit on position g costs.
func (s *Seats) charge(price *domain.Price, g victims.Position) {
	own := int64(s.at.Owns[g])
	price.Highest = max(price.Highest, own)
	price.Sum += priority.Raised(int32(own))
	price.Pods++
	if s.Harms(s.node, g) {
		price.Violations++
	}
}

// Charge says for each node whose loss violates a budget; nil: nobody's.
func (s *Seats) Charge(harm func(cluster.NodeID) *PositionSet) { s.harm = harm }
