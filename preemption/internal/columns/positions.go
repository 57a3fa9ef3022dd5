package columns

import (
	"math"
	"math/bits"
	"sort"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Positions returns the range of positions, from first to end, not included, of the units
// on node n whose level is below that given, most important first.
func (l *NodeColumns) Positions(n cluster.NodeID, below int32) (first, end victims.Position) {
	r := nodePositions{Levels: l.node(n).levels()}
	return r.Below(below)
}

// Unit returns the unit on a position of node n.
func (l *NodeColumns) Unit(n cluster.NodeID, position victims.Position) victims.UnitID {
	return l.us.On(n)[position]
}

// Room appends to dst the row of what is free on node n with the units before position
// in place and the others gone. O(k) for k units on the node: those before position where these
// are fewer, and nobody else is there.
func (l *NodeColumns) Room(dst []int64, n cluster.NodeID, position victims.Position) []int64 {
	at, ix, us := len(dst), l.us.Index(), l.us.On(n)
	if int(position) < len(us)/2 && len(ix.PodsOn(n)) == len(us) {
		dst = append(dst, ix.Allocatable(n)...)
		for _, u := range us[:position] {
			addRequests(dst[at:], l.us, n, u, -1)
		}
		return dst
	}
	dst = append(dst, ix.Free(n)...)
	for _, u := range us[position:] {
		addRequests(dst[at:], l.us, n, u, +1)
	}
	return dst
}

// nodePositions are the units of a node that is plain, or of which [NodeColumns.Joint] holds, most
// important first. It belongs to the NodeColumns.
type nodePositions struct {
	rooms   []uint64 // what is free with the units before positions 0, Stride and so on in place, packed with guards
	asks    []uint64 // by position: what the unit asks for, packed
	Started []uint64 // by position: nanoseconds, an int64
	Levels  []int32  // by position: what the unit is eligible by, descending
	Owns    []int32  // by position: the priority of the pod itself
	mixed   bool     // those of one unit differ in priority

	several *PositionSet     // whose units have several pods; nil: nobody's
	unitsOn []victims.UnitID // by position, where some have
	units   *victims.Units
}

// Pods is how many pods the unit on a position has, here and elsewhere.
func (r *nodePositions) Pods(g victims.Position) int {
	if !r.Several(g) {
		return 1
	}
	return len(r.units.Unit(r.unitsOn[g]).Pods)
}

// Several reports whether the unit on a position has several pods.
func (r *nodePositions) Several(g victims.Position) bool { return r.several != nil && r.several.Has(g) }

// WordOfSeveral is a word of the [PositionSet] of those from first to end, not included, whose units have several pods.
func (r *nodePositions) WordOfSeveral(w, first, end victims.Position) uint64 {
	if r.several == nil {
		return 0
	}
	return r.several[w] & between(w, first, end)
}

// At returns the positions of node n, which is plain, or of which [NodeColumns.Joint] holds.
func (l *NodeColumns) At(n cluster.NodeID) (r nodePositions) {
	at := l.node(n)
	r.Levels = at.levels()
	r.Owns, r.mixed = r.Levels, at.mixed
	k := len(r.Levels)
	if at.uneven {
		r.Owns = at.level[k:]
	} else if at.several != nil {
		r.several, r.unitsOn, r.units = at.several, l.us.On(n), l.us
	}
	r.rooms, r.asks, r.Started = l.parts(at.data, k)
	return r
}

// Below returns the positions whose level is below that given: from first to end, not
// included.
func (r *nodePositions) Below(level int32) (first, end victims.Position) {
	if len(r.Levels) > 0 && r.Levels[0] < level {
		return 0, victims.Position(len(r.Levels))
	}
	return victims.Position(sort.Search(len(r.Levels), func(i int) bool { return r.Levels[i] < level })), victims.Position(len(r.Levels))
}

// earliestStart is the earliest start among those on positions whose pods have the highest
// priority; see [victims.Score].
func (r *nodePositions) earliestStart(positions []victims.Position) int64 {
	highest, started := int32(math.MinInt32), int64(math.MaxInt64)
	for _, g := range positions {
		if own := r.Owns[g]; own > highest {
			highest, started = own, int64(r.Started[g])
		} else if own == highest {
			started = min(started, int64(r.Started[g]))
		}
	}
	return started
}

// row is one word of a column, for the nodes of a block: free room, packed with guards.
type row = [BlockSize]uint64

// span bounds a row, lane by lane: no room in it is below least, and none above most.
// It may be wider than need be, as a room that changes only widens it.
type span struct{ least, most uint64 }

// empty is the span of a row without rooms.
func empty(guards uint64) span { return span{least: ^uint64(0), most: guards} }

// widen makes s bound room too.
func (s *span) widen(room, guards uint64) {
	if (s.most-room&^guards)&guards == guards && (room-s.least&^guards)&guards == guards {
		return
	}
	low := uint64(0) // the bits below the lane
	for left := guards; left != 0; left &= left - 1 {
		guard := left & -left
		lane := (guard - 1) &^ low
		if room&lane > s.most&lane {
			s.most = s.most&^lane | room&lane
		}
		if room&lane < s.least&lane {
			s.least = s.least&^lane | room&lane
		}
		low = guard<<1 - 1
	}
}

// fit returns those of set with enough room for ask in r, which s bounds: enough in
// all lanes of guards.
func (s span) fit(r *row, ask, guards, set uint64) uint64 {
	switch {
	case (s.least-ask)&guards == guards:
		return set
	case (s.most-ask)&guards != guards:
		return 0
	case bits.OnesCount64(set) < BlockSize/4: // cheaper one by one
		for left := set; left != 0; left &= left - 1 {
			if i := bits.TrailingZeros64(left); (r[i]-ask)&guards != guards {
				set &^= 1 << i
			}
		}
		return set
	}
	var fits uint64
	for i := BlockSize - 1; i >= 0; i-- {
		fits <<= 1
		if (r[i]-ask)&guards == guards {
			fits |= 1
		}
	}
	return fits & set
}
