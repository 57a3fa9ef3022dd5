package columns

import (
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
