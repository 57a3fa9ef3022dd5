package columns

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Levels keeps, for each node and each of some priorities, what is free there with
// every unit of at most that priority gone, packed: so that the lowest priority that
// has to go, on any node, is found by one pass. It covers the plain nodes without
// nominated pods; the others are odd, and have to be looked at one by one.
type Levels struct {
	lanes  *Lanes
	bounds []int32 // ascending; column i+1 is with every unit of at most bounds[i] gone, column 0 with nobody gone
	// Complete: every level of a unit is among the bounds.
	complete bool
	blocks   []*Block
	owner    *owner
	odd      int
}

// mostBounds is how many priorities have a column. With more levels than that, the
// bounds divide the units into parts of the same size.
const mostBounds = 16

func newLevels(l *NodeColumns) *Levels {
	v := &Levels{lanes: l.lanes, owner: l.owner}
	v.setBounds(l.us)
	v.grow(l.us.Index().NumNodes())
	return v
}

// setBounds chooses the priorities that have a column.
func (v *Levels) setBounds(us *victims.Units) {
	parts := make([]distinct, parts(us.Index()))
	ranges.Each(us.Len(), len(parts), func(part, first, end int) {
		var d distinct
		for u := victims.UnitID(first); u < victims.UnitID(end); u++ {
			if us.Exists(u) {
				d.add(us.Unit(u).Level)
			}
		}
		parts[part] = d
	})
	var all distinct
	for _, d := range parts {
		for _, level := range d.levels {
			all.add(level)
		}
	}
	if v.complete = len(all.levels) <= mostBounds; v.complete {
		v.bounds = all.levels
		return
	}
	v.splitEvenly(us)
}

// distinct are some levels, ascending, no more of them than one above mostBounds.
type distinct struct {
	levels []int32
	recent [64]int64 // some of them, with 1<<32 added: most units have one of these
}

func (d *distinct) add(level int32) {
	recent := &d.recent[uint32(level)*0x9e3779b1>>26]
	if *recent == int64(level)+1<<32 {
		return
	}
	*recent = int64(level) + 1<<32
	if i, known := slices.BinarySearch(d.levels, level); !known && len(d.levels) <= mostBounds {
		d.levels = slices.Insert(d.levels, i, level)
	}
}

// splitEvenly lets the bounds divide the units into parts of the same size.
func (v *Levels) splitEvenly(us *victims.Units) {
	v.complete, v.bounds = false, nil
	all := make([]int32, 0, us.Len())
	for u := range victims.UnitID(us.Len()) {
		if us.Exists(u) {
			all = append(all, us.Unit(u).Level)
		}
	}
	slices.Sort(all)
	for i := 1; i <= mostBounds; i++ {
		v.bounds = append(v.bounds, all[i*len(all)/mostBounds-1])
	}
	v.bounds = slices.Compact(v.bounds)
}

// knows reports whether the bounds suit levels, of a node's units.
func (v *Levels) knows(levels []int32) bool {
	c := len(v.bounds)
	if !v.complete {
		return len(levels) == 0 || levels[0] <= v.bounds[c-1]
	}
	for _, level := range levels { // descending
		for c > 0 && v.bounds[c-1] > level {
			c--
		}
		if c == 0 || v.bounds[c-1] != level {
			return false
		}
	}
	return true
}

// own returns the block of node n for a change in place, and the place of n in it.
func (v *Levels) own(n cluster.NodeID) (*Block, int) {
	i := int(n) / BlockSize
	b := v.blocks[i]
	if b.owner != v.owner {
		mine := *b
		mine.owner = v.owner
		mine.columns, mine.offers, mine.largest = slices.Clone(b.columns), slices.Clone(b.offers), slices.Clone(b.largest)
		mine.spans, mine.offered = slices.Clone(b.spans), slices.Clone(b.offered)
		b = &mine
		v.blocks[i] = b
	}
	return b, int(n) % BlockSize
}

func (v *Levels) fork(o *owner) *Levels {
	fork := *v
	fork.owner = o
	fork.blocks = slices.Clone(v.blocks)
	return &fork
}

// Column returns the column with all of the units gone that are below a priority,
// and whether that is exactly so: otherwise some more are gone.
func (v *Levels) Column(below int32) (c int, exact bool) {
	c, _ = slices.BinarySearch(v.bounds, below)
	if v.complete || c == len(v.bounds) || c > 0 && v.bounds[c-1] == below-1 {
		return c, true
	}
	return c + 1, false
}

// grow adds blocks of holes, for so many numbers of nodes in all.
func (v *Levels) grow(nodes int) (grown bool) {
	for ; len(v.blocks)*BlockSize < nodes; grown = true {
		v.blocks = append(v.blocks, newBlock(v.owner, len(v.bounds)+1, v.lanes.guards))
	}
	return grown
}

// NumOdd is how many nodes are odd.
func (v *Levels) NumOdd() int { return v.odd }

// Blocks returns the blocks, in order of the nodes. They belong to v.
func (v *Levels) Blocks() []*Block { return v.blocks }

// Last is the column with everybody gone.
func (v *Levels) Last() int { return len(v.bounds) }

// Above is a bound from below for the highest level that has to go where column c is
// the first with room: the level itself, as far as each has a column.
func (v *Levels) Above(c int) int32 {
	switch {
	case v.complete:
		return v.bounds[c-1]
	case c > 1:
		return v.bounds[c-2] + 1
	}
	return math.MinInt32
}

// fewPods are laid out by one goroutine.
const fewPods = 4096

// parts is how many goroutines share what is laid out for the pods of ix.
func parts(ix *cluster.Index) int { return ranges.Parts(ix.NumPods(), fewPods) }

// layOut lays out all nodes, block by block, on as many goroutines as pay.
func (l *NodeColumns) layOut() {
	parts := make([]*NodeColumns, parts(l.us.Index()))
	ranges.Each(len(l.levels.blocks), len(parts), func(part, first, end int) {
		p := l.part()
		for n := first * BlockSize; n < min(end*BlockSize, l.us.Index().NumNodes()); n++ {
			p.refresh(cluster.NodeID(n))
		}
		parts[part] = p
	})
	for _, p := range parts {
		l.levels.odd += p.levels.odd
	}
}

// part is l with buffers, a journal and a count of its own, to lay out some of the blocks.
func (l *NodeColumns) part() *NodeColumns {
	p := &NodeColumns{us: l.us, budgets: l.budgets, lanes: l.lanes, owner: l.owner}
	levels := *l.levels
	levels.odd = 0
	p.levels = &levels
	p.buffer()
	return p
}

// buffer makes the buffers of Refresh.
func (l *NodeColumns) buffer() {
	l.row, l.asked = make([]int64, l.us.Index().NumResources()), make([]int64, l.us.Index().NumResources())
	l.packed = make([]uint64, l.lanes.words)
}

// reserve gives every node its part of two large columns.
func (l *NodeColumns) reserve() {
	units, words := 0, 0
	for n := range cluster.NodeID(l.us.Index().NumNodes()) {
		k := len(l.us.On(n))
		units, words = units+k, words+l.numWords(k)
	}
	data, level := make([]uint64, words), make([]int32, units)
	for n := range cluster.NodeID(l.us.Index().NumNodes()) {
		k, at := len(l.us.On(n)), l.node(n)
		at.owner = l.owner
		at.data, data = data[:0:l.numWords(k)], data[l.numWords(k):]
		at.level, level = level[:0:k], level[k:]
	}
}

// numWords is how many words the data of a node with k units take.
func (l *NodeColumns) numWords(k int) int { return (k/stride+1+k)*l.lanes.words + k }
