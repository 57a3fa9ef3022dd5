package columns

import (
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
