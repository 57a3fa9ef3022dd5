package victims

import (
	"math"
	"slices"
	"sort"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Ladder lays the units of each node out, most important first: what each asks for,
// packed, and what is free with the first of them in place. A Rung is a position
// among the units of a node.
//
// Beside it stand the levels of all nodes, see [Levels]. A Ladder is safe for
// concurrent use as long as nobody calls Refresh.
type Ladder struct {
	us      *Units
	budgets *Budgets
	lanes   *Lanes
	nodes   []*rungs
	levels  *Levels
	owner   *owner

	log       []cluster.NodeID // the nodes that were refreshed, in turn
	forgotten int              // how many of them log does not have any more
	cuts      cuts

	row    []int64  // buffer of Refresh
	packed []uint64 // likewise
}

// owner tells who may change a part in place: after a fork nobody may who shares it.
type owner struct{ _ byte }

// Rung is the position of a unit among those of its node, most important first.
type Rung int32

// Stride is how many rungs lie between two points at which a node's free room is kept.
const Stride = 8

// MostRungs is how many units a node may have to be laid out.
const MostRungs = 256

// rungs are the units of one node. Where plain is false nothing else is set.
type rungs struct {
	owner    *owner
	ask      []uint64 // by rung: what the unit asks for, packed
	room     []uint64 // by every Stride-th rung: what is free with the rungs before it in place
	level    []int32  // by rung: what the unit is eligible by
	own      []int32  // by rung: the priority of its pod, which scores; the same slice as level where all are the same
	started  []int64  // by rung
	plain    bool
	uneven   bool // the level of a unit is not its pod's priority
	budgeted bool // some unit is covered by a budget
	elastic  bool // the group of some unit may go in part
}

// NewLadder lays out us; b says which pods budgets cover.
func NewLadder(us *Units, b *Budgets) *Ladder {
	nodes := us.ix.NumNodes()
	all := make([]rungs, nodes)
	l := &Ladder{us: us, budgets: b, nodes: make([]*rungs, nodes), owner: new(owner), row: make([]int64, us.ix.NumResources())}
	for n := range all {
		all[n].owner = l.owner
		l.nodes[n] = &all[n]
	}
	if us.rule.PreemptionPriority || us.by.Order != nil { // levels do not order as importance does
		return l
	}
	if l.lanes = newLanes(us.ix); l.lanes == nil {
		return l
	}
	l.packed = make([]uint64, l.lanes.words)
	l.reserve()
	l.levels = newLevels(l)
	for n := range cluster.NodeID(nodes) {
		l.Refresh(n)
	}
	return l
}

// reserve gives every node its part of a few large columns.
func (l *Ladder) reserve() {
	units, samples := 0, 0
	for n := range l.nodes {
		k := len(l.us.on[n])
		units, samples = units+k, samples+k/Stride+1
	}
	words := l.lanes.words
	ask, room := make([]uint64, units*words), make([]uint64, samples*words)
	level, started := make([]int32, units), make([]int64, units)
	for n := range l.nodes {
		k := len(l.us.on[n])
		at := l.nodes[n]
		at.ask, ask = ask[:0:k*words], ask[k*words:]
		at.level, level = level[:0:k], level[k:]
		at.started, started = started[:0:k], started[k:]
		s := (k/Stride + 1) * words
		at.room, room = room[:0:s], room[s:]
	}
}

// Refresh lays node n out anew after its units, or what it offers, changed. It
// reports whether that could be done; otherwise the whole ladder has to be made
// anew. O(k) for k units on the node.
func (l *Ladder) Refresh(n cluster.NodeID) bool {
	if l.levels == nil {
		return true
	}
	at := l.nodes[n]
	if at.owner != l.owner {
		at = &rungs{owner: l.owner}
		l.nodes[n] = at
	}
	l.note(n)
	at.room, at.plain = at.room[:0], false
	b, i := l.levels.own(n)
	l.levels.odd += b.close(i, l.us.ix.Open(n))
	if len(l.us.on[n]) > MostRungs {
		return true
	}
	switch l.climb(n, at) {
	case notPlain:
		return true
	case notPacked:
		return false
	}
	at.plain = true
	if !l.fillRooms(n, at, b, i) {
		return false
	}
	if !l.levels.knows(at.level) {
		return false
	}
	if !at.uneven && len(l.us.ix.Nominees(n)) == 0 {
		l.levels.odd -= b.open(i, at.level)
	}
	return true
}

// climbed is how laying out the units of a node ended.
type climbed int

const (
	laidOut   climbed = iota
	notPlain          // a unit has several pods
	notPacked         // a unit asks for what no lane holds
)

// climb lays out the units of node n.
func (l *Ladder) climb(n cluster.NodeID, at *rungs) climbed {
	ix, words := l.us.ix, l.lanes.words
	at.ask, at.level, at.started = at.ask[:0], at.level[:0], at.started[:0]
	at.own, at.uneven, at.budgeted, at.elastic = nil, false, false, false
	for _, u := range l.us.on[n] {
		unit := &l.us.units[u]
		if len(unit.Pods) > 1 {
			return notPlain
		}
		p := unit.Pods[0]
		for range words {
			at.ask = append(at.ask, 0)
		}
		if !l.lanes.packRequest(at.ask[len(at.ask)-words:], ix.Request(p)) {
			return notPacked
		}
		at.level, at.started = append(at.level, unit.Level), append(at.started, unit.Started)
		at.uneven = at.uneven || unit.Level != ix.Priority(p)
		at.elastic = at.elastic || unit.Elastic
		at.budgeted = at.budgeted || len(l.budgets.Of(p)) > 0
	}
	if at.own = at.level; at.uneven {
		at.own = make([]int32, len(at.level))
		for i, u := range l.us.on[n] {
			at.own[i] = ix.Priority(l.us.units[u].Pods[0])
		}
	}
	return laidOut
}

// fillRooms sums up what is free on node n with nobody gone, the last unit, the last
// two and so on, and keeps what the rungs and the columns want. False if a lane
// cannot hold it.
func (l *Ladder) fillRooms(n cluster.NodeID, at *rungs, b *Block, i int) bool {
	ix, words, bounds := l.us.ix, l.lanes.words, l.levels.bounds
	copy(l.row, ix.Allocatable(n))
	if l.row[cluster.PodsColumn] = min(l.row[cluster.PodsColumn], openEnded); !l.lanes.packRoom(l.packed, l.row) {
		return false
	}
	b.offer(i, l.packed)
	missing := ix.Allocatable(n)[cluster.PodsColumn] - l.row[cluster.PodsColumn]
	copy(l.row, ix.Free(n))
	l.row[cluster.PodsColumn] -= missing
	overcommitted := false
	for _, v := range l.row {
		overcommitted = overcommitted || v < 0
	}
	if !l.lanes.packRoom(l.packed, l.row) {
		return false
	}
	k := len(at.level)
	at.room = slices.Grow(at.room, (k/Stride+1)*words)[:(k/Stride+1)*words]
	if k%Stride == 0 {
		copy(at.room[k/Stride*words:], l.packed)
	}
	b.put(0, i, l.packed)
	c := 0
	for g := k - 1; g >= 0; g-- {
		for ; c < len(bounds) && at.level[g] > bounds[c]; c++ {
			b.put(c+1, i, l.packed)
		}
		if overcommitted {
			for r, v := range ix.Request(l.us.units[l.us.on[n][g]].Pods[0]) {
				l.row[r] += v
			}
			l.lanes.packRoom(l.packed, l.row)
		} else {
			for w, ask := range at.ask[g*words : (g+1)*words] {
				l.packed[w] += ask
			}
		}
		if g%Stride == 0 {
			copy(at.room[g/Stride*words:], l.packed)
		}
	}
	for ; c < len(bounds); c++ {
		b.put(c+1, i, l.packed)
	}
	return true
}

// Plain reports whether every unit on node n is a single pod, and levels order as
// importance does: only then do the rungs of n say everything.
func (l *Ladder) Plain(n cluster.NodeID) bool { return l.nodes[n].plain }

// Even reports whether the units of node n, which is plain, are eligible by the
// priority that they score with.
func (l *Ladder) Even(n cluster.NodeID) bool { return !l.nodes[n].uneven }

// Budgeted reports whether a budget covers a pod on node n.
func (l *Ladder) Budgeted(n cluster.NodeID) bool { return l.nodes[n].budgeted }

// Budgets returns the budgets that were given to NewLadder.
func (l *Ladder) Budgets() *Budgets { return l.budgets }

// NumResources is the number of columns of a row.
func (l *Ladder) NumResources() int { return l.us.ix.NumResources() }

// Levels returns the levels of all nodes; nil if no node is plain.
func (l *Ladder) Levels() *Levels { return l.levels }

// Lanes returns how asks and rooms are packed; nil if no node is plain.
func (l *Ladder) Lanes() *Lanes { return l.lanes }

// Rungs returns the rungs of the units on node n whose level is below that given:
// from first to end, not included, most important first.
func (l *Ladder) Rungs(n cluster.NodeID, below int32) (first, end Rung) {
	levels := l.nodes[n].level
	if len(levels) > 0 && levels[0] < below {
		return 0, Rung(len(levels))
	}
	return Rung(sort.Search(len(levels), func(i int) bool { return levels[i] < below })), Rung(len(levels))
}

// Unit returns the unit on a rung of node n.
func (l *Ladder) Unit(n cluster.NodeID, rung Rung) UnitID { return l.us.on[n][rung] }

// Room appends to dst the row of what is free on node n with the units before rung
// in place and the others gone. O(k) for k units on the node.
func (l *Ladder) Room(dst []int64, n cluster.NodeID, rung Rung) []int64 {
	ix := l.us.ix
	at := len(dst)
	dst = append(dst, ix.Free(n)...)
	for _, u := range l.us.on[n][rung:] {
		for c, v := range ix.Request(l.us.units[u].Pods[0]) {
			dst[at+c] += v
		}
	}
	return dst
}

// Asks returns what the units of node n ask for, by rung, packed.
func (l *Ladder) Asks(n cluster.NodeID) []uint64 { return l.nodes[n].ask }

// Rooms returns what is free on node n with the units before rungs 0, Stride and so
// on in place, packed with guards.
func (l *Ladder) Rooms(n cluster.NodeID) []uint64 { return l.nodes[n].room }

// Owns returns the priorities of the pods on node n themselves, by rung.
func (l *Ladder) Owns(n cluster.NodeID) []int32 { return l.nodes[n].own }

// Started is the earliest start among those on rungs of node n whose pods have the
// highest priority; see [Score].
func (l *Ladder) Started(n cluster.NodeID, rungs []Rung) int64 {
	at := l.nodes[n]
	highest, started := int32(math.MinInt32), int64(math.MaxInt64)
	for _, g := range rungs {
		if own := at.own[g]; own > highest {
			highest, started = own, at.started[g]
		} else if own == highest {
			started = min(started, at.started[g])
		}
	}
	return started
}

// Fork returns an independent copy for units and budgets that are copies of l's:
// the two share what neither refreshes. O(n) for n nodes, and little for each.
func (l *Ladder) Fork(us *Units, b *Budgets) *Ladder {
	fork := &Ladder{us: us, budgets: b, lanes: l.lanes, nodes: slices.Clone(l.nodes), owner: new(owner)}
	l.owner = new(owner)
	fork.row, fork.packed = slices.Clone(l.row), slices.Clone(l.packed)
	if l.levels != nil {
		fork.levels = l.levels.fork(fork.owner)
		l.levels.owner = l.owner
	}
	return fork
}
