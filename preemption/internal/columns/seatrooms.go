package columns

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Slots is how many members fit on node n with all potential victims gone.
func (s *Seats) Slots(n cluster.NodeID) int64 {
	s.look(n)
	if s.held(n) == nil {
		room := s.at.rooms
		if s.first > 0 {
			if room = s.Room(n, s.first); room == nil {
				return 0
			}
		}
		if slots := s.slots.In(room); slots < mostSlots {
			return slots
		}
	}
	s.row = s.columns.Room(s.row[:0], n, s.first)
	if held := s.held(n); held != nil {
		for r, v := range held {
			s.row[r] -= v
		}
	}
	return s.SlotsIn(s.row)
}

// SlotsUpTo is how many members fit on node n before somebody has to go who is above a priority, which is that of one of the potential victims;
// or more, but no more than Slots, where not each level has a column.
func (s *Seats) SlotsUpTo(n cluster.NodeID, highest int64) int64 {
	v, i := s.columns.levels, int(n%BlockSize)
	b := v.blocks[n/BlockSize]
	c, exact := v.Column(int32(highest) + 1)
	if last, _ := v.Column(s.below); b.Plain>>i&1 == 0 || s.held(n) != nil || !exact && c >= last {
		return s.Slots(n)
	}
	return s.SlotsInColumn(b, c, i)
}

// SlotsOf is how many members fit into room, packed with guards; see
// victims.mostSlots.
func (s *Seats) SlotsOf(room []uint64) int64 { return s.slots.In(room) }

// SlotsIn is how many members fit into row.
func (s *Seats) SlotsIn(row []int64) int64 {
	most := int64(-1)
	for r, v := range s.request {
		switch {
		case v <= 0:
		case row[r] < v:
			return 0
		case most < 0 || row[r]/v < most:
			most = row[r] / v
		}
	}
	return most
}

// SlotsInColumn is how many members fit into column c of node i of b.
func (s *Seats) SlotsInColumn(b *Block, c, i int) int64 {
	return s.slots.inColumn(b, c, i, len(s.one.Words))
}

// Room returns what is free on node n with the units before position in place and the
// other potential victims gone, packed with guards, as far as members ask for it; nil
// if something is short of that. The slice is good until the next call.
func (s *Seats) Room(n cluster.NodeID, position victims.Position) []uint64 {
	words := len(s.one.Words)
	s.look(n)
	s.room = append(s.room[:0], s.at.rooms[int(position)/stride*words:][:words]...)
	if held := s.held(n); held != nil {
		s.pack(&s.other, 0, held)
		for w, v := range s.other.Words {
			s.room[w] -= v
		}
	}
	for g := position / stride * stride; g < position; g++ {
		s.Take(s.room, n, g)
		for w, guards := range s.one.Guards {
			if s.room[w]&guards != guards {
				return nil
			}
		}
	}
	return s.room
}

// Take puts the unit on position g of node n back into room; Leave takes it out again.
func (s *Seats) Take(room []uint64, n cluster.NodeID, g victims.Position) {
	words := len(room)
	s.look(n)
	for w, ask := range s.at.asks[int(g)*words:][:words] {
		room[w] -= ask & s.one.masks[w]
	}
}

// Leave is the inverse of Take.
func (s *Seats) Leave(room []uint64, n cluster.NodeID, g victims.Position) {
	words := len(room)
	s.look(n)
	for w, ask := range s.at.asks[int(g)*words:][:words] {
		room[w] += ask & s.one.masks[w]
	}
}

// CostSettled is Cost of one member on node n, where nobody's loss does harm. It is followed by Span.
func (s *Seats) CostSettled(n cluster.NodeID) (c Cost) {
	s.ask(n, 1)
	if s.first == s.end {
		s.start()
		s.settle(s.end)
		return c
	}
	from, room := s.reach()
	s.take(room)
	s.settle(from)
	for i, g := range s.out {
		if i == 0 {
			c.worst = uint64(int64(s.at.Owns[g]) - lowest)
		}
		c.sum += raised(s.at.Owns[g])
	}
	return c
}

// settle is giveBack, and leaves in s.lack how much less would have to be asked for so that somebody
// would have returned.
func (s *Seats) settle(from victims.Position) {
	l, words := s.columns.Lanes(), len(s.free)
	s.lack = slices.Grow(s.lack[:0], len(l.lane))[:len(l.lane)]
	for r := range s.lack {
		s.lack[r] = math.MaxInt64
	}
	s.giveBack(from)
	for i, g := range s.out {
		ask, left := s.at.asks[int(g)*words:][:words], s.left[i*words:][:words]
		for w, guards := range s.now.Guards {
			if short := guards &^ (left[w] - ask[w]&s.now.masks[w]); short != 0 {
				r := l.first[w][bits.TrailingZeros64(short)]
				lane := &l.lane[r]
				most := uint64(lane.most)
				s.lack[r] = min(s.lack[r], int64(ask[w]>>lane.shift&most-left[w]>>lane.shift&most))
				break
			}
		}
	}
}

// Span sets span to between what asks, packed, the same units go on the node for which CostSettled or Out
// has told who goes, as far as that is known: from the first half of span to the second one. All that
// the member asks for has to be asked for, and nothing else.
func (s *Seats) Span(span []uint64) {
	clear(span)
	l := s.columns.Lanes()
	least, most := span[:l.words], span[l.words:]
	for r, v := range s.request {
		if v <= 0 {
			continue
		}
		at := &l.lane[r]
		ask := int64(s.one.Words[at.word] >> at.shift & uint64(at.most))
		left := int64(s.free[at.word] >> at.shift & uint64(at.most))
		least[at.word] |= uint64(max(1, ask-s.lack[r]+1)) << at.shift
		most[at.word] |= uint64(min(ask+left, at.most)) << at.shift
	}
}

// Only sets span to what one member asks for.
func (s *Seats) Only(span []uint64) {
	copy(span, s.one.Words)
	copy(span[len(s.one.Words):], s.one.Words)
}

// Void sets span to one in which nothing is.
func (s *Seats) Void(span []uint64) {
	clear(span)
	for w, guards := range s.columns.Lanes().guards {
		span[w] = ^guards
	}
}

// Within reports whether what one member asks for is in span.
func (s *Seats) Within(span []uint64) bool {
	words := len(s.one.Words)
	for w, guards := range s.columns.lanes.guards {
		ask := s.one.Words[w]
		if ((ask|guards)-span[w])&((span[words+w]|guards)-ask)&guards != guards {
			return false
		}
	}
	return true
}
