package columns

import (
	"sort"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Slots counts how often one ask fits into packed room.
type Slots struct {
	lanes []slotLane
	room  []uint64 // buffer of inColumn
}

type slotLane struct {
	word             int
	shift            uint
	mask, guard, ask uint64
}

// Set makes s count row, a row of the index; false if the lanes do not hold it
// exactly. The buffers of s are reused.
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

// In is how often what was set fits into room, packed with guards; at most mostSlots.
func (s *Slots) In(room []uint64) int64 {
	most := uint64(mostSlots)
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

// mostSlots is the largest number that [Slots.In] tells; it stands for more, too.
const mostSlots = 1 << 30

// inColumn is In for what node i of b has in column c.
func (s *Slots) inColumn(b *Block, c, i, words int) int64 {
	s.room = s.room[:0]
	for w := range words {
		s.room = append(s.room, b.columns[c*words+w][i])
	}
	return s.In(s.room)
}

// simplePositions are the units of a node that is simple, see [NodeColumns.NumBelow], most
// important first; see nodePositions.
type simplePositions struct {
	rooms, asks, Started []uint64
	Owns                 []int32 // what a unit is eligible by, too
}

// AtSimple is At for a node that is simple.
func (l *NodeColumns) AtSimple(n cluster.NodeID) simplePositions {
	at := l.node(n)
	k, words := len(at.level), l.lanes.words
	r := (k/stride + 1) * words
	a := r + k*words
	return simplePositions{at.data[:r], at.data[r:a], at.data[a:], at.level}
}

// Below returns the first position whose level is below that given; len(Owns) if there is
// none.
func (r *simplePositions) Below(level int32) victims.Position {
	if len(r.Owns) == 0 || r.Owns[0] < level {
		return 0
	}
	return victims.Position(sort.Search(len(r.Owns), func(i int) bool { return r.Owns[i] < level }))
}

// Joint reports whether node n is laid out, and its units are like those of a simple node
// but for having several pods, which may differ in priority.
func (l *NodeColumns) Joint(n cluster.NodeID) bool {
	at := l.node(n)
	return at.laid && !at.uneven && !at.elastic
}

// NumBelow is how many units on node n are of a level below that given, if it is
// simple: if it is plain, and its units are pods like any other, each of one priority,
// by which it is eligible, ordered and scored.
func (l *NodeColumns) NumBelow(n cluster.NodeID, level int32) (units int, simple bool) {
	at := l.node(n)
	if !at.plain || at.several != nil || at.uneven || at.elastic {
		return 0, false
	}
	if levels := at.level; len(levels) > 0 && levels[0] >= level {
		return len(levels) - sort.Search(len(levels), func(i int) bool { return levels[i] < level }), true
	}
	return len(at.level), true
}

// Asks appends to dst, for each of the last units of node n, which is simple, its priority and the row of what it asks for.
func (l *NodeColumns) Asks(dst []int64, n cluster.NodeID, units int) []int64 {
	at, words := l.AtSimple(n), l.lanes.words
	for g := len(at.Owns) - units; g < len(at.Owns); g++ {
		dst = append(dst, int64(at.Owns[g]))
		for r := range l.lanes.lane {
			lane := &l.lanes.lane[r]
			dst = append(dst, int64(at.asks[g*words+lane.word]>>lane.shift&uint64(lane.most))*lane.grain)
		}
	}
	return dst
}
