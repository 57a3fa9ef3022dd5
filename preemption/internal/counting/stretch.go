package counting

import (
	"math/bits"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
)

// stretch is a part of a domain: nodes in a row, all in one block of the levels.
// Bit i of a set is for the i-th node of the block.
type stretch struct {
	block *columns.Block
	base  cluster.NodeID // the first node of the block
	at    int32          // position in the domain of the first node of the stretch
	nodes uint64
	plain uint64 // of nodes: those for which the columns hold, and that the members may use
	room  uint64 // of plain: those with room for one with every potential victim gone
}

// position is where the node of bit i is in the domain.
func (s *stretch) position(i int) int32 {
	return s.at + int32(bits.OnesCount64(s.nodes&(1<<i-1)))
}

// node is the node of bit i.
func (s *stretch) node(i int) cluster.NodeID { return s.base + cluster.NodeID(i) }

// divide divides nodes into stretches and appends the parts to list.
func (f *Search) divide(list []stretch, nodes []cluster.NodeID) []stretch {
	blocks := f.Columns.Levels().Blocks()
	anywhere := f.member.Anywhere()
	for at := 0; at < len(nodes); {
		n := nodes[at]
		s := stretch{block: blocks[n/columns.BlockSize], base: n / columns.BlockSize * columns.BlockSize, at: int32(at)}
		end := s.base + columns.BlockSize
		for last := n - 1; at < len(nodes) && last < nodes[at] && nodes[at] < end; at++ {
			last = nodes[at]
			s.nodes |= 1 << (last - s.base)
		}
		s.plain = s.nodes & s.block.Plain
		look := s.plain
		if anywhere {
			look &^= s.block.Open
		}
		for ; look != 0; look &= look - 1 {
			if i := bits.TrailingZeros64(look); !f.Admits(s.node(i)) {
				s.plain &^= 1 << i
			}
		}
		list = append(list, s)
	}
	return list
}
