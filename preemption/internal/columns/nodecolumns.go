package columns

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// NodeColumns lays the units of each node out, most important first: what each asks for,
// packed, and what is free with the first of them in place. A Position is a position
// among the units of a node.
//
// Beside it stand the levels of all nodes, see [Levels]. A NodeColumns is safe for
// concurrent use, but for Refresh, Follow, Grow and Reconsider, which need exclusive use.
type NodeColumns struct {
	us      *victims.Units
	budgets *victims.Budgets
	lanes   *Lanes
	levels  *Levels // nil: no node is laid out
	owner   *owner

	journal journal
	cuts    cuts

	looked map[victims.UnitID]uniformity // while no unit of several pods is formed anew
	formed int                           // what Formed of the units was then

	row    []int64  // buffer of Refresh
	asked  []int64  // likewise
	packed []uint64 // likewise
	asks   []uint64 // buffer of Follow
	starts []uint64 // likewise
}

// owner tells who may change a part in place: after a fork nobody may who shares it.
type owner struct{ _ byte }

// stride is how many positions lie between two points at which a node's free room is kept.
const stride = 8

// mostPositions is how many units a node may have to be laid out.
const mostPositions = 256

// positions are the units of one node. Where laid is false nothing else is set. It is
// small, and what a sweep reads stands together: that is what a sweep costs.
type positions struct {
	owner    *owner
	data     []uint64 // rooms: what is free with the positions before every Stride-th in place; asks, packed; starts
	level    []int32  // by position: what the unit is eligible by; then, where uneven, the priorities of their pods
	plain    bool
	several  *PositionSet // whose units have several pods; nil: nobody's; then none is uneven
	mixed    bool         // and the pods of one differ in priority
	laid     bool         // the units are laid out: plain, but that they may be mixed
	uneven   bool         // the level of a unit is not its pod's priority
	budgeted bool         // some unit is covered by a budget
	elastic  bool         // the group of some unit may go in part
}

// NewNodeColumns lays out us; b says which pods budgets cover. O(k) for k units, on as many
// goroutines as GOMAXPROCS allows where there are many, none of which outlives the call.
func NewNodeColumns(us *victims.Units, b *victims.Budgets) *NodeColumns {
	l := &NodeColumns{us: us, budgets: b, owner: new(owner)}
	if !us.ByLevel() {
		return l
	}
	if l.lanes = newLanes(us.Index()); l.lanes == nil {
		return l
	}
	l.buffer()
	l.levels = newLevels(l)
	l.reserve()
	l.layOut()
	return l
}

// refresh lays node n out anew after its units, or what it offers, changed. It
// reports whether that could be done; otherwise all columns have to be made
// anew. O(k) for k units on the node.
func (l *NodeColumns) refresh(n cluster.NodeID) bool {
	l.note(n)
	if l.levels == nil {
		return true
	}
	b, i := l.levels.own(n)
	at := &b.positions[i]
	if at.owner != l.owner {
		*at = positions{owner: l.owner}
	}
	at.plain, at.laid = false, false
	if !l.us.Index().IsNode(n) {
		l.levels.odd -= b.vacate(i)
		return true
	}
	l.levels.odd += b.close(i, l.us.Index().Open(n))
	if len(l.us.On(n)) > mostPositions {
		l.measure(n, b, i)
		return true
	}
	if !l.fillOffer(n, b, i) { // before units are called larger than any node
		return false
	}
	switch l.climb(n, at) {
	case notPlain:
		l.measure(n, b, i)
		return true
	case notPacked:
		return false
	}
	return l.levels.knows(at.level[:len(l.us.On(n))]) && l.finish(n, at, b, i, changed{})
}

// finish completes node n, whose units are laid out, and reports whether it could.
func (l *NodeColumns) finish(n cluster.NodeID, at *positions, b *Block, i int, what changed) bool {
	at.plain, at.laid = !at.mixed, true
	if !l.fillRooms(n, at, b, i, what) {
		return false
	}
	if at.plain && !at.uneven && len(l.us.Index().Nominees(n)) == 0 {
		k := len(l.us.On(n))
		_, asks, started := l.parts(at.data, k)
		l.levels.odd -= b.open(i, at.level[:k], l.levels.bounds, asks, started, l.lanes.guards)
		b.changed(l.lanes.guards)
	} else {
		l.measure(n, b, i)
	}
	return true
}

// measure keeps what is free on node n, which is odd.
func (l *NodeColumns) measure(n cluster.NodeID, b *Block, i int) {
	if bit := uint64(1) << i; b.Open&bit != 0 && len(l.us.Index().Nominees(n)) == 0 && l.packFree(n) {
		b.measured |= bit
		b.put(0, i, l.packed, l.lanes.guards)
		b.changed(l.lanes.guards)
	}
}

// packFree packs what is free on node n, less than nothing as nothing. False if a lane cannot hold it.
func (l *NodeColumns) packFree(n cluster.NodeID) bool {
	copy(l.row, l.us.Index().Free(n))
	l.row[cluster.PodsColumn] -= max(l.us.Index().Allocatable(n)[cluster.PodsColumn]-openEnded, 0)
	return l.lanes.packRoom(l.packed, l.row)
}

// resize gives the data of a node the size that k units take. What they are is lost.
func (l *NodeColumns) resize(at *positions, k int) {
	if size := l.numWords(k); size <= cap(at.data) {
		at.data = at.data[:size]
	} else {
		at.data = make([]uint64, size, size+size/4)
	}
}

// parts divides the data of a node with k units.
func (l *NodeColumns) parts(data []uint64, k int) (rooms, asks, started []uint64) {
	r, a := (k/stride+1)*l.lanes.words, k*l.lanes.words
	return data[:r], data[r : r+a], data[r+a:]
}

// fillOffer keeps what node n offers in all. False if a lane cannot hold it.
func (l *NodeColumns) fillOffer(n cluster.NodeID, b *Block, i int) bool {
	copy(l.row, l.us.Index().Allocatable(n))
	if l.row[cluster.PodsColumn] = min(l.row[cluster.PodsColumn], openEnded); !l.lanes.packRoom(l.packed, l.row) {
		return false
	}
	b.offer(i, l.packed, l.lanes.guards)
	return true
}

// changed bounds what is new about the units of a node: with all of them from a position on
// gone, that was of level below, or lower, everything is as it was. Zero: all is new.
type changed struct {
	from  victims.Position
	below int32
}

// fillRooms sums up what is free on node n with nobody gone, the last unit, the last
// two and so on, and keeps what the positions and the columns want. False if a lane
// cannot hold it.
func (l *NodeColumns) fillRooms(n cluster.NodeID, at *positions, b *Block, i int, what changed) bool {
	words, bounds := l.lanes.words, l.levels.bounds
	if !l.packFree(n) {
		return false
	}
	overcommitted := false
	for _, v := range l.row {
		overcommitted = overcommitted || v < 0
	}
	k := len(l.us.On(cluster.NodeID(n)))
	rooms, asks, _ := l.parts(at.data, k)
	if k%stride == 0 {
		copy(rooms[k/stride*words:], l.packed)
	}
	b.put(0, i, l.packed, l.lanes.guards)
	c := 0
	for g := k - 1; g >= int(what.from); g-- {
		for ; c < len(bounds) && at.level[g] > bounds[c]; c++ {
			b.put(c+1, i, l.packed, l.lanes.guards)
		}
		if overcommitted {
			addRequests(l.row, l.us, n, l.us.On(n)[g], +1)
			l.lanes.packRoom(l.packed, l.row)
		} else {
			for w, ask := range asks[g*words : (g+1)*words] {
				l.packed[w] += ask
			}
		}
		if g%stride == 0 {
			copy(rooms[g/stride*words:], l.packed)
		}
	}
	for ; c < len(bounds) && (what.from == 0 || bounds[c] < what.below); c++ {
		b.put(c+1, i, l.packed, l.lanes.guards)
	}
	return true
}

// node returns the positions of node n. There are levels.
func (l *NodeColumns) node(n cluster.NodeID) *positions {
	return &l.levels.blocks[uint32(n)/BlockSize].positions[uint32(n)%BlockSize]
}

// levels are what the units are eligible by.
func (at *positions) levels() []int32 {
	if at.uneven {
		return at.level[:len(at.level)/2]
	}
	return at.level
}

// Plain reports whether every unit on node n is a single pod, and levels order as
// importance does: only then do the positions of n say everything.
func (l *NodeColumns) Plain(n cluster.NodeID) bool { return l.Laid(n) && l.node(n).several == nil }

// Laid reports whether the positions of node n say everything that resources, budgets and
// scores read of its units; some may have several pods.
func (l *NodeColumns) Laid(n cluster.NodeID) bool { return l.levels != nil && l.node(n).plain }

// Even reports whether the units of node n, which is plain, are eligible by the
// priority that they score with.
func (l *NodeColumns) Even(n cluster.NodeID) bool { return !l.node(n).uneven }

// Budgeted reports whether a budget covers a pod on node n, which is plain.
func (l *NodeColumns) Budgeted(n cluster.NodeID) bool { return l.node(n).budgeted }

// Budgets returns the budgets that were given to NewNodeColumns.
func (l *NodeColumns) Budgets() *victims.Budgets { return l.budgets }

// NumResources is the number of columns of a row.
func (l *NodeColumns) NumResources() int { return l.us.Index().NumResources() }

// Levels returns the levels of all nodes; nil if no node is plain.
func (l *NodeColumns) Levels() *Levels { return l.levels }

// Lanes returns how asks and rooms are packed; nil if no node is plain.
func (l *NodeColumns) Lanes() *Lanes { return l.lanes }

// Fork returns an independent copy for units and budgets that are copies of l's:
// the two share what neither refreshes. A pointer for each BlockSize nodes.
func (l *NodeColumns) Fork(us *victims.Units, b *victims.Budgets) *NodeColumns {
	fork := &NodeColumns{
		us: us, budgets: b, lanes: l.lanes, owner: new(owner), journal: l.journal.fork(),
	}
	fork.cuts.inherit(&l.cuts)
	l.owner = new(owner)
	fork.row, fork.asked, fork.packed = slices.Clone(l.row), slices.Clone(l.asked), slices.Clone(l.packed)
	if l.levels != nil {
		fork.levels = l.levels.fork(fork.owner)
		l.levels.owner = l.owner
	}
	return fork
}
