package domain

import (
	"cmp"
	"math"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Placer chooses nodes for the members of a gang.
type Placer interface {
	// Place puts up to most of members on nodes of d through t.Place, wherever
	// t.CanPlace agrees, and returns how many it placed. Every potential victim has
	// been removed from t, and offers says what room costs; or nobody has, and all room
	// is free. It must be a function of its arguments.
	Place(t *GangTrial, d *Domain, offers Offers, members []MemberID, most int) int
}

// Offers says what it costs to make room. It knows the victims; a Placer does not.
type Offers interface {
	// Price is what has to go so that member m fits on node n beside the members
	// placed there, over and above who has to go for those: nobody of them comes back.
	// So it is never below that of [Free].
	Price(m MemberID, n cluster.NodeID) Price

	// Highest is the priority of the most important pod that has to go for the members
	// that are placed: a price whose Highest is not above it adds nothing to that.
	// math.MinInt64 if nobody has to.
	Highest() int64

	// Taken is to be called when member m has been placed on node n. It returns the
	// other nodes on which room has become cheaper by that: they hold pods of a group
	// that goes as a whole. The slice is good until the next call.
	Taken(m MemberID, n cluster.NodeID) []cluster.NodeID
}

// Price is what a place costs, compared number by number; smaller is better.
type Price struct {
	Lead       int64 // the cost, where the user makes it the first criterion; else 0
	Violations int64 // of budgets
	Highest    int64 // priority of the most important pod that has to go; math.MinInt64 if none has
	Sum        int64 // of the priorities of the pods that have to go, each raised by 2^31
	Pods       int64
}

// Free is the Price of a place that costs nothing.
var Free = Price{Highest: math.MinInt64}

// Compare is below zero if p costs less than q.
func (p Price) Compare(q Price) int {
	switch {
	case p.Lead != q.Lead:
		return cmp.Compare(p.Lead, q.Lead)
	case p.Violations != q.Violations:
		return cmp.Compare(p.Violations, q.Violations)
	case p.Highest != q.Highest:
		return cmp.Compare(p.Highest, q.Highest)
	case p.Sum != q.Sum:
		return cmp.Compare(p.Sum, q.Sum)
	}
	return cmp.Compare(p.Pods, q.Pods)
}

// Add adds q, of what else has to go, to p. A Lead stays at the ends of int64.
func (p *Price) Add(q Price) {
	p.Lead = checked.Add(p.Lead, q.Lead)
	p.Violations += q.Violations
	p.Highest = max(p.Highest, q.Highest)
	p.Sum += q.Sum
	p.Pods += q.Pods
}

// LeastDisruption places each member where the least has to go for it, the first
// node by name among equals; large members first.
type LeastDisruption struct{}

// Pack fills one node after the other: those that hold members already, then the
// one with room for the most. Large members first or, with SmallFirst, small ones, of
// which more find a place.
type Pack struct{ SmallFirst bool }

// Spread puts members on as many nodes as it can: the one with the fewest members,
// then with room for the most.
type Spread struct{}

// Place places as the type says.
func (LeastDisruption) Place(t *GangTrial, d *Domain, offers Offers, members []MemberID, most int) int {
	g := greedy{t: t, d: d, taken: offers.Taken, rank: offers.Price}
	g.queue.Reset(offers.Highest())
	return g.place(members, most)
}

// Place places as the type says.
func (p Pack) Place(t *GangTrial, d *Domain, _ Offers, members []MemberID, most int) int {
	g := greedy{t: t, d: d, rank: func(m MemberID, n cluster.NodeID) Price {
		return ranked(-len(t.on[n]), t.Slots(m, n))
	}}
	g.smallFirst = p.SmallFirst
	return g.place(members, most)
}

// Place places as the type says.
func (Spread) Place(t *GangTrial, d *Domain, _ Offers, members []MemberID, most int) int {
	g := greedy{t: t, d: d, rank: func(m MemberID, n cluster.NodeID) Price {
		return ranked(len(t.on[n]), t.Slots(m, n))
	}}
	return g.place(members, most)
}

// ranked is a rank as a price: by members, then those with room for the most.
func ranked(members int, slots int64) Price {
	return Price{Highest: Free.Highest, Sum: int64(members), Pods: -slots}
}

// Slots is how many members like m the free room of node n takes.
func (t *GangTrial) Slots(m MemberID, n cluster.NodeID) int64 {
	if t.Vacant(n) {
		return t.vacancy.Slots(m, n)
	}
	free, member := t.Free(n), t.members[m]
	most := int64(math.MaxInt64)
	for _, r := range member.asks {
		most = min(most, max(free[r], 0)/member.request[r])
	}
	return most
}

// greedy places one member after the other on the node of the least rank.
type greedy struct {
	t     *GangTrial
	d     *Domain
	rank  func(MemberID, cluster.NodeID) Price
	taken func(MemberID, cluster.NodeID) []cluster.NodeID

	sweep      sweep
	queue      SeatQueue // nodes with their ranks when they were put in
	aside      aside     // nodes that constraints close as things stand
	smallFirst bool
	next       int // in the nodes of the domain: where placeNext goes on
}

// place takes the shapes of members from large to small, or the other way round, and
// returns how many members found a place. O(shapes·nodes + members·log nodes) ranks.
func (g *greedy) place(members []MemberID, most int) int {
	placed := 0
	shapes := g.t.ByShape(members)
	if g.smallFirst {
		slices.Reverse(shapes)
	}
	for _, shape := range shapes {
		if placed == most || g.t.Vain {
			break
		}
		placed += g.placeShape(shape, most-placed)
	}
	return placed
}

// placeNext places each member on the next node that takes it, from where the last one went on.
func (g *greedy) placeNext(members []MemberID, most int) int {
	placed := 0
	for _, m := range members {
		for end := g.next + len(g.d.Nodes); g.next < end && placed < most && !g.t.passed(g.t.stop); g.next++ {
			if n := g.d.Nodes[g.next%len(g.d.Nodes)]; g.t.CanPlace(m, n).OK() {
				g.take(m, n, g.rank(m, n))
				placed++
				break
			}
		}
	}
	return placed
}

// placeShape places members that no built-in check can tell apart.
func (g *greedy) placeShape(members []MemberID, most int) int {
	switch {
	case g.t.passed(g.t.hurry):
		return g.placeNext(members, most)
	case len(members) == 1:
		return g.placeAlone(members[0])
	}
	queued := members[0] // whose nodes are in the queue
	g.fill(queued)
	placed := 0
	for _, m := range members {
		if placed == most || g.t.Vain {
			break
		}
		if len(g.t.states) > 0 && !g.t.fitsSame(queued, m) { // others may be open for m
			g.fill(m)
			queued = m
		}
		if g.placeOne(m) {
			placed++
		}
	}
	return placed
}

// placeAlone places a member that nobody is like, and returns whether it did as a number.
func (g *greedy) placeAlone(m MemberID) int {
	var best SeatOffer // with what it adds
	var price Price
	found := false
	offer := func(n cluster.NodeID) {
		if !g.t.CanPlace(m, n).OK() {
			return
		}
		p := g.rank(m, n)
		if o := (SeatOffer{Price: g.queue.Adds(p), At: int32(n)}); !found || o.Compare(&best) < 0 {
			best, price, found = o, p, true
		}
	}
	for g.begin(offer); g.ahead(&best, found); {
		g.offerMore(m, offer)
	}
	if !found {
		return 0
	}
	g.take(m, cluster.NodeID(best.At), price)
	return 1
}

// take places member m on node n at a price, and returns the nodes that have become cheaper.
func (g *greedy) take(m MemberID, n cluster.NodeID, price Price) []cluster.NodeID {
	g.queue.Take(price)
	g.t.Place(m, n)
	g.t.Vain = g.t.Vain || g.t.Dear != nil && g.t.Dear(n)
	if g.taken == nil {
		return nil
	}
	return g.taken(m, n)
}

// fill queues every node of the domain that takes member m.
func (g *greedy) fill(m MemberID) {
	g.queue.Clear()
	g.aside.clear()
	g.begin(func(n cluster.NodeID) { g.offer(m, n) })
}

// least is the least offer to member m.
func (g *greedy) least(m MemberID) (SeatOffer, bool) {
	least, ok := g.queue.Least()
	for g.ahead(&least, ok) {
		g.offerMore(m, func(n cluster.NodeID) { g.offer(m, n) })
		least, ok = g.queue.Least()
	}
	return least, ok
}

// offer queues node n if it takes member m.
func (g *greedy) offer(m MemberID, n cluster.NodeID) {
	switch {
	case g.t.CanPlace(m, n).OK():
		g.queue.Push(SeatOffer{Price: g.rank(m, n), At: int32(n)})
	case len(g.t.states) > 0:
		if b, ok := g.t.blockOf(m, n); ok {
			g.aside.note(b, n)
		}
	}
}

func (g *greedy) placeOne(m MemberID) bool {
	g.reopen(m)
	for {
		least, ok := g.least(m)
		if !ok {
			return false
		}
		n := cluster.NodeID(least.At)
		if !g.t.CanPlace(m, n).OK() {
			g.queue.Drop()
			if b, ok := g.t.blockOf(m, n); ok {
				g.aside.put(b, least)
			}
			continue
		}
		price := g.rank(m, n)
		if now := g.queue.Adds(price); now.Compare(least.Price) > 0 {
			g.queue.Drop()
			g.queue.Push(SeatOffer{Price: price, At: least.At})
			continue
		}
		if len(g.t.states) > 0 {
			g.queue.Drop()
		}
		for _, n := range g.take(m, n, price) {
			if _, in := slices.BinarySearch(g.d.Nodes, n); in {
				g.offer(m, n)
			}
		}
		if len(g.t.states) > 0 { // it may be cheaper now
			g.offer(m, n)
		}
		return true
	}
}

// reopen queues the nodes from which what is placed has taken what kept member m off.
func (g *greedy) reopen(m MemberID) {
	for i := range g.aside.blocks {
		b := &g.aside.blocks[i]
		if len(b.offers)+len(b.unpriced) == 0 || g.t.blocks(m, b.block) {
			continue
		}
		offers, unpriced := b.offers, b.unpriced
		b.offers, b.unpriced = nil, nil // what is offered again may come to stand aside again
		for _, o := range offers {
			g.queue.Push(o)
		}
		for _, n := range unpriced {
			g.offer(m, n)
		}
	}
}

// ByShape groups members by shape, those that ask for the largest part of a node
// first, then in order of MemberID.
func (t *GangTrial) ByShape(members []MemberID) [][]MemberID {
	var groups [][]MemberID
	at := map[int]int{}
	for _, m := range members {
		i, seen := at[t.shapes[m]]
		if !seen {
			i = len(groups)
			at[t.shapes[m]] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], m)
	}
	slices.SortStableFunc(groups, func(a, b []MemberID) int {
		return cmp.Compare(t.largeness(b[0]), t.largeness(a[0]))
	})
	return groups
}

// largeness is the largest part, in millionths, that m asks for of the most that
// any node offers of a resource; see offered.
func (t *GangTrial) largeness(m MemberID) int64 {
	most := t.offered()
	var largest int64
	for _, r := range t.members[m].asks {
		if r != cluster.PodsColumn && most[r] > 0 {
			part, _ := checked.MulDiv(t.members[m].request[r], 1_000_000, most[r])
			largest = max(largest, part)
		}
	}
	return largest
}

// offered is the most that any node offers of each resource, of those that some member
// could have to itself: others must not change who is large.
func (t *GangTrial) offered() []int64 {
	if t.most == nil {
		t.most = make([]int64, t.ix.NumResources())
		for n := range t.ix.Nodes() {
			if !t.Usable(n) {
				continue
			}
			for r, v := range t.ix.Allocatable(n) {
				t.most[r] = max(t.most[r], v)
			}
		}
	}
	return t.most
}

// Offered reports whether of each resource some node has as much as member m asks for.
func (t *GangTrial) Offered(m MemberID) bool {
	most := t.offered()
	return !slices.ContainsFunc(t.members[m].asks, func(r cluster.ResourceID) bool { return t.members[m].request[r] > most[r] })
}

// Usable reports whether some member could be on node n if that were empty, as far as the
// node and its room decide.
func (t *GangTrial) Usable(n cluster.NodeID) bool {
	offers := t.ix.Allocatable(n)
	if t.least == nil && len(t.members) > 0 {
		t.least = slices.Clone(t.members[0].request)
		for _, m := range t.members[1:] {
			for r, v := range m.request {
				t.least[r] = min(t.least[r], v)
			}
		}
	}
	for r, v := range t.least {
		if v > 0 && v > offers[r] {
			return false
		}
	}
	return t.anyShape(func(m MemberID) bool { return t.passesStatic(m, n) && t.members[m].Resources(offers, offers).OK() })
}
