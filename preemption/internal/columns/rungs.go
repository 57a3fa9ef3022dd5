package columns

import (
	"math"
	"sort"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Rungs returns the rungs of the units on node n whose level is below that given:
// from first to end, not included, most important first.
func (l *Ladder) Rungs(n cluster.NodeID, below int32) (first, end victims.Rung) {
	at := l.At(n)
	return at.Below(below)
}

// Unit returns the unit on a rung of node n.
func (l *Ladder) Unit(n cluster.NodeID, rung victims.Rung) victims.UnitID { return l.us.On(n)[rung] }

// Room appends to dst the row of what is free on node n with the units before rung
// in place and the others gone. O(k) for k units on the node.
func (l *Ladder) Room(dst []int64, n cluster.NodeID, rung victims.Rung) []int64 {
	at := len(dst)
	dst = append(dst, l.us.Index().Free(n)...)
	for _, u := range l.us.On(n)[rung:] {
		addRequests(dst[at:], l.us, n, l.us.Unit(u))
	}
	return dst
}

// NodeRungs are the units of a node that is plain, or of which [Ladder.Joint] holds, most
// important first. It belongs to the Ladder.
type NodeRungs struct {
	Rooms   []uint64 // what is free with the units before rungs 0, Stride and so on in place, packed with guards
	Asks    []uint64 // by rung: what the unit asks for, packed
	Started []uint64 // by rung: nanoseconds, an int64
	Levels  []int32  // by rung: what the unit is eligible by, descending
	Owns    []int32  // by rung: the priority of the pod itself
	Pods    []int32  // by rung: the number of pods, here and elsewhere; nil: one each
}

// At returns the rungs of node n, which is plain, or of which [Ladder.Joint] holds.
func (l *Ladder) At(n cluster.NodeID) (r NodeRungs) {
	at := l.node(n)
	k := len(at.level)
	switch {
	case at.uneven:
		k /= 2
		r.Owns = at.level[k:]
	case at.several:
		k /= 2
		r.Owns, r.Pods = at.level[:k], at.level[k:]
	default:
		r.Owns = at.level
	}
	r.Levels = at.level[:k]
	r.Rooms, r.Asks, r.Started = l.parts(at.data, k)
	return r
}

// Below returns the rungs whose level is below that given: from first to end, not
// included.
func (r *NodeRungs) Below(level int32) (first, end victims.Rung) {
	if len(r.Levels) > 0 && r.Levels[0] < level {
		return 0, victims.Rung(len(r.Levels))
	}
	return victims.Rung(sort.Search(len(r.Levels), func(i int) bool { return r.Levels[i] < level })), victims.Rung(len(r.Levels))
}

// EarliestStart is the earliest start among those on rungs whose pods have the highest
// priority; see [Score].
func (r *NodeRungs) EarliestStart(rungs []victims.Rung) int64 {
	highest, started := int32(math.MinInt32), int64(math.MaxInt64)
	for _, g := range rungs {
		if own := r.Owns[g]; own > highest {
			highest, started = own, int64(r.Started[g])
		} else if own == highest {
			started = min(started, int64(r.Started[g]))
		}
	}
	return started
}
