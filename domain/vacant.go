package domain

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/lists"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Vacancy tells of nodes from which everybody who may go has gone as far as a [GangTrial] can
// tell, although nobody was removed: see [GangTrial.Vacate]. Sets of them are bit by bit, 64 nodes to a block.
type Vacancy interface {
	// Room appends to dst the row of what is free on node n.
	Room(dst []int64, n cluster.NodeID) []int64

	// Empty removes from the trial those who are gone from node n. It is called once somebody wants to know who that is.
	Empty(n cluster.NodeID)

	// Slots is [GangTrial.Slots] for a vacant node.
	Slots(m MemberID, n cluster.NodeID) int64

	// Fit returns those of set, nodes of a block, where there is room for k members like m.
	Fit(block int, set uint64, m MemberID, k int64) uint64

	// Cheapest takes out of left, nodes by block from the first on, those that do not take member m, and lists those that are the best offers
	// to it in a plan of that highest priority, foreseen for up to ahead members: k of them, if as many are left, or more. What is left comes
	// behind an offer; more is false if that is none.
	Cheapest(m MemberID, k, ahead int, highest int64, first int, left []uint64) (nodes []cluster.NodeID, behind SeatOffer, more bool)
}

// Vacate lets everybody who may go be gone from nodes, in order, on which no constraint looks at
// anybody and no member is placed. v tells what that comes to, until nil ends it, or [GangTrial.Home].
func (t *GangTrial) Vacate(v Vacancy, nodes []cluster.NodeID) {
	for i, set := range t.counted {
		for ; set != 0; set &= set - 1 {
			n := cluster.NodeID(64*(t.firstBlock+i) + bits.TrailingZeros64(set))
			copy(t.row(n), t.AtHome(n))
		}
	}
	t.vacant, t.counted = t.vacant[:0], t.counted[:0]
	if t.vacancy = nil; len(nodes) == 0 {
		return
	}
	t.vacancy = v
	t.vacant, t.firstBlock = lists.Blocks(t.vacant, nodes)
	t.counted = slices.Grow(t.counted, len(t.vacant))[:len(t.vacant)]
	clear(t.counted)
}

// Vacant reports whether node n is vacant still.
func (t *GangTrial) Vacant(n cluster.NodeID) bool {
	i := int(n/64) - t.firstBlock
	return uint(i) < uint(len(t.vacant)) && t.vacant[i]>>(n%64)&1 != 0
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

// Empty lets node n, if it is vacant or was, be like any other: whoever is gone from there has been removed.
func (t *GangTrial) Empty(n cluster.NodeID) {
	i := int(n/64) - t.firstBlock
	if t.look(n); n < 0 || uint(i) >= uint(len(t.counted)) || t.counted[i]>>(n%64)&1 == 0 {
		return
	}
	t.counted[i] &^= 1 << (n % 64)
	copy(t.row(n), t.AtHome(n))
	for _, m := range t.on[n] {
		t.book(n, ^int(m), t.members[m].request, -1)
	}
	t.vacancy.Empty(n)
}

// sweep goes over the vacant nodes of a domain, of which it takes no more than are needed.
type sweep struct {
	left    []uint64         // by block, from the first of the trial on: nodes that were not offered
	offered []cluster.NodeID // others, for members of the shape
	behind  SeatOffer        // none of those that are left comes before it
	more    bool             // some may be left
	count   int              // how many are offered next where the cheapest come first; where the roomiest do,
	block   int              // in which block,
	seats   int64            // and how many seats they have
}

// mostSeats is how many seats the roomiest nodes have that come first, or more.
const mostSeats = 32

// begin begins with these nodes or, where the roomiest come first, with those of them that have room for member m.
func (g *greedy) begin(m MemberID, nodes []uint64) {
	s := &g.sweep
	s.left, s.block, s.seats, s.more = nodes, 0, mostSeats, false
	for i, set := range s.left {
		if set != 0 && g.taken == nil {
			set = g.t.vacancy.Fit(g.t.firstBlock+i, set, m, 1)
		}
		s.left[i], s.more = set, s.more || set != 0
	}
	g.resume()
}

// resume lets whatever is left come before all others.
func (g *greedy) resume() {
	g.sweep.count = g.wanted
	if g.sweep.behind = (SeatOffer{Price: Free}); g.taken == nil {
		g.sweep.behind.Price = ranked(0, math.MaxInt64)
	}
}

// offerMore offers vacant nodes: those where the least has to go for member m, or of the next block the roomiest.
func (g *greedy) offerMore(m MemberID) {
	s, t := &g.sweep, g.t
	if g.taken != nil {
		var nodes []cluster.NodeID
		nodes, s.behind, s.more = t.vacancy.Cheapest(m, s.count, min(g.more, ahead), g.queue.Highest(), t.firstBlock, s.left)
		s.count *= 2
		for _, n := range nodes {
			g.offer(m, n)
		}
		return
	}
	for s.block < len(s.left) && s.left[s.block] == 0 {
		s.block++
	}
	if s.block == len(s.left) {
		s.block, s.seats = 0, s.seats-1
		s.behind, s.more = SeatOffer{Price: ranked(0, s.seats)}, s.seats > 0
		return
	}
	block := t.firstBlock + s.block
	set := t.vacancy.Fit(block, s.left[s.block], m, s.seats)
	s.left[s.block] &^= set
	s.block++
	s.behind.At = int32(64 * (block + 1))
	for ; set != 0; set &= set - 1 {
		g.offer(m, cluster.NodeID(block*64+bits.TrailingZeros64(set)))
	}
}

// ahead reports whether some vacant node that was not offered may come before best, the first of those that were, if there is one.
func (g *greedy) ahead(best *SeatOffer, any bool) bool {
	s := &g.sweep
	if !s.more || !any {
		return s.more
	}
	next := s.behind
	next.Price = g.queue.Adds(next.Price)
	return next.Compare(best) <= 0
}
