package counting

import (
	"math/bits"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
)

// Fit returns the first of domains where most members fit with everybody in
// place; nil if not enough of them do anywhere.
func (f *Search) Fit(domains []domain.Domain) *domain.Domain {
	most, at := int64(0), (*domain.Domain)(nil)
	all := int64(len(f.Members))
	for i := range domains {
		if room := f.freeIn(domains[i].Nodes, all); room >= int64(f.Gang.Need()) && room > most {
			most, at = room, &domains[i]
		}
	}
	return at
}

// freeIn is how many members fit on nodes with everybody in place, at most most.
func (f *Search) freeIn(nodes []cluster.NodeID, most int64) (room int64) {
	f.tools.stretches = f.divide(f.tools.stretches[:0], nodes)
	for i := range f.tools.stretches {
		s := &f.tools.stretches[i]
		for set := s.block.Fit(f.tools.seats.One(), 0, s.plain); set != 0; set &= set - 1 {
			room += f.tools.seats.SlotsInColumn(s.block, 0, bits.TrailingZeros64(set))
		}
		for set := s.nodes & s.block.Odd; set != 0; set &= set - 1 {
			if n := s.node(bits.TrailingZeros64(set)); f.Admits(n) {
				room += min(most, f.freeSlots(n))
			}
		}
		if room >= most {
			return most
		}
	}
	return room
}

// freeSlots is how many members fit on node n with everybody in place.
func (f *Search) freeSlots(n cluster.NodeID) int64 {
	f.tools.row = append(f.tools.row[:0], f.Index.Free(n)...)
	if held := f.heldOn(n); held != nil {
		take(f.tools.row, held, 1)
	}
	return f.tools.seats.SlotsIn(f.tools.row)
}

// Full is why node n takes no member more, once every potential victim is gone and as many members as fit
// are there.
func (f *Search) Full(n cluster.NodeID) domain.Reason {
	if why := f.member.Static(f.Index.Node(n)); !why.OK() {
		return why
	}
	f.freeSlots(n)
	row := f.tools.row
	for _, u := range f.Units.On(n) {
		if unit := f.Units.Unit(u); unit.Level < f.Priority {
			for _, p := range unit.Pods {
				if f.Index.NodeOf(p) == n {
					take(row, f.Index.Request(p), -1)
				}
			}
		}
	}
	for range f.tools.seats.SlotsIn(row) {
		take(row, f.member.Request(), 1)
	}
	return f.member.Resources(row, f.Index.Allocatable(n))
}

// take takes a request off a row, or with sign -1 gives it back.
func take(row, request []int64, sign int64) {
	for r, v := range request[:len(row)] {
		row[r] -= sign * v
	}
}

// measure counts slots and potential victims, and returns the slots in all; ok is
// false if trials have to tell.
func (t *attempt) measure() (room int64, ok bool) {
	for _, n := range t.domain.Nodes {
		units, simple := t.Columns.NumBelow(n, t.Priority)
		if !simple {
			if units, ok = t.countJoint(n); !ok {
				return 0, false
			}
		}
		t.potential += units
	}
	t.slots, t.count = zeroed(t.slots, len(t.domain.Nodes)), grown(t.count, len(t.domain.Nodes))
	t.odd, t.firsts = t.odd[:0], t.firsts[:0]
	t.parts = t.divide(t.parts[:0], t.domain.Nodes)
	for i := range t.parts {
		room += t.measurePart(&t.parts[i])
	}
	return room, true
}

// zeroed returns list with room for n, all zero.
func zeroed[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	list = list[:n]
	clear(list)
	return list
}

// measurePart counts the slots of s. Most nodes have room for one or for none, which
// the columns tell of many at once.
func (t *attempt) measurePart(s *stretch) (room int64) {
	all := int64(len(t.Members))
	column, exact := t.Columns.Levels().Column(t.Priority)
	alone := s.nodes & s.block.Odd // those to be looked at one by one
	if exact {
		s.room = s.block.Fit(t.seats.One(), column, s.plain)
		several := s.block.Fit(t.seats.Two(), column, s.room)
		for set := s.room; set != 0; set &= set - 1 {
			i, slots := bits.TrailingZeros64(set), int64(1)
			if several>>i&1 != 0 {
				slots = t.seats.SlotsInColumn(s.block, column, i)
			}
			t.slots[s.position(i)] = slots
			room += min(slots, all)
		}
	} else {
		alone |= s.plain
	}
	for ; alone != 0; alone &= alone - 1 {
		i := bits.TrailingZeros64(alone)
		n, bit := s.node(i), uint64(1)<<i
		if s.plain&bit == 0 && !t.Admits(n) {
			continue
		}
		slots := t.seats.Slots(n)
		switch {
		case slots == 0:
			continue
		case s.plain&bit == 0:
			t.odd = append(t.odd, s.position(i))
		default:
			s.room |= bit
		}
		t.slots[s.position(i)] = slots
		room += min(slots, all)
	}
	return room
}

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
