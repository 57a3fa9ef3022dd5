package domain

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// Vacancy tells of nodes from which everybody who may go has gone as far as a [GangTrial] can
// tell, although nobody was removed: see [GangTrial.Vacate]. Its levels are numbers: from one
// to the next, more important pods are gone.
type Vacancy interface {
	// Room appends to dst the row of what is free on node n.
	Room(dst []int64, n cluster.NodeID) []int64

	// Empty removes from the trial those who are gone from node n. It is called once somebody
	// wants to know who that is.
	Empty(n cluster.NodeID)

	// Slots is [GangTrial.Slots] for a vacant node.
	Slots(m MemberID, n cluster.NodeID) int64

	// Fit returns those of set, vacant nodes from number 64·block on, bit by bit, where there is
	// room for k members like m with those gone whom a level stands for, or a few more of them.
	// At the last level it is exact.
	Fit(block int, set uint64, m MemberID, k int64, level int) uint64

	// Level is the lowest level at which nobody up to a priority is left who may go.
	Level(highest int64) int

	// Beyond is the lowest priority that has to go where there is no room at a level; ok is
	// false if that is the last one.
	Beyond(level int) (highest int64, ok bool)
}

// Vacate lets everybody who may go be gone from nodes, in order, on which no constraint looks at
// anybody and no member is placed; all of them are of the domain that members are placed in. v
// tells what that comes to, until nil ends it, or [GangTrial.Home].
func (t *GangTrial) Vacate(v Vacancy, nodes []cluster.NodeID) {
	for i, set := range t.counted {
		for ; set != 0; set &= set - 1 {
			n := cluster.NodeID(64*(t.firstBlock+i) + bits.TrailingZeros64(set))
			copy(t.row(n), t.AtHome(n))
		}
	}
	t.counted = t.counted[:0]
	if t.vacancy = nil; len(nodes) == 0 {
		return
	}
	t.vacancy, t.firstBlock = v, int(nodes[0]/64)
	blocks := int(nodes[len(nodes)-1]/64) + 1 - t.firstBlock
	t.vacant, t.counted = slices.Grow(t.vacant[:0], blocks)[:blocks], slices.Grow(t.counted[:0], blocks)[:blocks]
	clear(t.vacant)
	clear(t.counted)
	for _, n := range nodes {
		t.vacant[int(n/64)-t.firstBlock] |= 1 << (n % 64)
	}
}

// Vacant reports whether node n is vacant still.
func (t *GangTrial) Vacant(n cluster.NodeID) bool {
	return t.vacancy != nil && t.vacantSet(int(n/64))>>(n%64)&1 != 0
}

// vacantSet are the vacant nodes of a block.
func (t *GangTrial) vacantSet(block int) uint64 {
	if i := block - t.firstBlock; uint(i) < uint(len(t.vacant)) {
		return t.vacant[i]
	}
	return 0
}

// fitsVacant reports whether there is room for member m on node n, which is vacant.
func (t *GangTrial) fitsVacant(m MemberID, n cluster.NodeID) bool {
	return t.vacancy.Fit(int(n/64), 1<<(n%64), m, 1, t.vacancy.Level(math.MaxInt32)) != 0
}

// look notes what is free on node n, if it is vacant. Nobody is removed for that.
func (t *GangTrial) look(n cluster.NodeID) {
	if n >= 0 && t.Vacant(n) {
		i, bit := int(n/64)-t.firstBlock, uint64(1)<<(n%64)
		t.vacant[i] &^= bit
		t.counted[i] |= bit
		t.vacancy.Room(t.row(n)[:0], n)
	}
}

// Empty lets node n, if it is vacant or was, be like any other: whoever is gone from there has
// been removed.
func (t *GangTrial) Empty(n cluster.NodeID) {
	if t.look(n); !t.emptyable(n) {
		return
	}
	t.counted[int(n/64)-t.firstBlock] &^= 1 << (n % 64)
	copy(t.row(n), t.AtHome(n))
	for _, m := range t.on[n] {
		t.book(n, t.members[m].request, -1)
	}
	t.vacancy.Empty(n)
}

// emptyable reports whether node n was vacant, and nobody has been removed from it yet.
func (t *GangTrial) emptyable(n cluster.NodeID) bool {
	i := int(n/64) - t.firstBlock
	return n >= 0 && uint(i) < uint(len(t.counted)) && t.counted[i]>>(n%64)&1 != 0
}

// sweep goes over the vacant nodes of a domain, of which it takes no more than are needed.
type sweep struct {
	left  []uint64 // by block, from the first one on: nodes that were not offered
	block int      // the next one
	level int      // of those that are offered next; or how many seats these have, where the roomiest come first
	rank  Price    // none of those that are left has a lower one
	more  bool     // some may be left
}

// mostSeats is how many seats the roomiest nodes have that come first, or more.
const mostSeats = 32

// begin begins with all vacant nodes.
func (g *greedy) begin() {
	s, t := &g.sweep, g.t
	s.more = t.vacancy != nil && slices.ContainsFunc(t.vacant, func(set uint64) bool { return set != 0 })
	if s.more {
		s.left, s.block = append(s.left[:0], t.vacant...), 0
		if s.level, s.rank = mostSeats, ranked(0, math.MaxInt64); g.taken != nil {
			s.level, s.rank = t.vacancy.Level(g.queue.Highest()), Free
		}
	}
}

// skip leaves node n out.
func (s *sweep) skip(t *GangTrial, n cluster.NodeID) {
	if i := int(n/64) - t.firstBlock; s.more && uint(i) < uint(len(s.left)) {
		s.left[i] &^= 1 << (n % 64)
	}
}

// offerMore offers vacant nodes of the next block: those where the least important have
// to go for member m come first, or the roomiest.
func (g *greedy) offerMore(m MemberID) {
	s, v := &g.sweep, g.t.vacancy
	if s.block == len(s.left) {
		s.block = 0
		if g.taken != nil {
			s.rank.Highest, s.more = v.Beyond(s.level)
			s.rank.Sum, s.rank.Pods = priority.Raised(int32(s.rank.Highest)), 1
			s.level++
		} else {
			s.rank, s.more = ranked(0, int64(s.level)-1), s.level > 1
			s.level--
		}
		return
	}
	left, block := &s.left[s.block], g.t.firstBlock+s.block
	s.block++
	if *left == 0 {
		return
	}
	var set uint64
	if g.taken != nil {
		set = v.Fit(block, *left, m, 1, s.level)
	} else {
		set = v.Fit(block, *left, m, int64(s.level), v.Level(math.MaxInt32))
	}
	*left &^= set
	for ; set != 0; set &= set - 1 {
		g.offer(m, cluster.NodeID(block*64+bits.TrailingZeros64(set)))
	}
}

// ahead reports whether some vacant node that was not offered may come before best, the first of
// those that were, if there is one.
func (g *greedy) ahead(best *SeatOffer, any bool) bool {
	s := &g.sweep
	next := SeatOffer{Price: g.queue.Adds(s.rank), At: int32(64 * (g.t.firstBlock + s.block))}
	return s.more && (!any || next.Compare(best) <= 0)
}
