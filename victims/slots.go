package victims

import "github.com/preempt-go/preempt/preemption/cluster"

// Slots counts how often one ask fits into packed room.
type Slots struct {
	lanes []slotLane
}

type slotLane struct {
	word             int
	shift            uint
	mask, guard, ask uint64
}

// Set makes s count row, a row of the index; false if the lanes do not hold it
// exactly. The buffers of s are used again.
func (s *Slots) Set(l *Lanes, row []int64) bool {
	s.lanes = s.lanes[:0]
	for r, v := range row {
		if v <= 0 {
			continue
		}
		at := &l.lane[r]
		if v%at.grain != 0 || v/at.grain > at.most {
			return false
		}
		s.lanes = append(s.lanes, slotLane{
			word: at.word, shift: at.shift, mask: uint64(at.most), guard: uint64(at.most+1) << at.shift, ask: uint64(v / at.grain),
		})
	}
	return true
}

// In is how often what was set fits into room, packed with guards; at most MostSlots.
func (s *Slots) In(room []uint64) int64 {
	most := uint64(MostSlots)
	for i := range s.lanes {
		at := &s.lanes[i]
		word := room[at.word]
		if word&at.guard == 0 {
			return 0
		}
		switch free := word >> at.shift & at.mask; {
		case free < at.ask:
			return 0
		case free < 2*at.ask:
			most = 1
		case most > 1:
			most = min(most, free/at.ask)
		}
	}
	return int64(most)
}

// MostSlots is the largest number that [Slots.In] tells; it stands for more, too.
const MostSlots = 1 << 30

// Simple reports whether node n is Plain and its units are pods like any other: each
// has one priority, by which it is eligible, ordered and scored.
func (l *Ladder) Simple(n cluster.NodeID) bool {
	if l.levels == nil {
		return false
	}
	at := l.node(n)
	return at.plain && !at.several && !at.uneven && !at.elastic
}
