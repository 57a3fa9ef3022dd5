package domain

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/lists"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Placer chooses nodes for the members of a gang.
type Placer interface {
	// Place puts up to most of members on nodes of d through t.Place, wherever t.CanPlace agrees, and returns how many it placed. Every potential
	// victim has been removed from t, and offers says what room costs; or nobody has, and all room is free. It must be a function of its arguments.
	// members may be read until it returns.
	Place(t *GangTrial, d *Domain, offers Offers, members []MemberID, most int) int
}

// Offers says what it costs to make room. It knows the victims; a Placer does not.
type Offers interface {
	// Price is what m adds to what has to go on node n for the members placed there; see [Price.Minus]. It may be below that of [Free]: for more
	// members others go, who may be fewer.
	Price(m MemberID, n cluster.NodeID) Price

	// Highest is the priority of the most important pod that has to go for the members that are placed: a price whose Highest is not above
	// it adds nothing to that. math.MinInt64 if nobody has to.
	Highest() int64

	// Taken is to be called when member m has been placed on node n. It returns the other nodes on which room has become cheaper by that:
	// they hold pods of a group that goes as a whole. The slice is good until the next call.
	Taken(m MemberID, n cluster.NodeID) []cluster.NodeID
}

// lasting is an optional part of Offers.
type lasting interface {
	// Lasts reports whether nobody was placed on node n since a price was given for it last, and it is that of member m, too.
	Lasts(m MemberID, n cluster.NodeID) bool

	// AtLeast is a bound from below for the price, if one is known that takes less to find.
	AtLeast(m MemberID, n cluster.NodeID) (price Price, known bool)
}

// farther is an optional part of Offers.
type farther interface {
	// Further is what has to go on node n for the members placed there, m, and so many more like it. told is false where there is no room
	// for all or a unit of several pods may have to go; and it may be where somebody more important has to than for m alone.
	Further(m MemberID, n cluster.NodeID, more int64) (price Price, told bool)
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

// Minus is what p adds to q: the highest priority only where it is above that of q. A Lead stays at the ends of int64.
func (p Price) Minus(q Price) Price {
	if p.Highest <= q.Highest {
		p.Highest = Free.Highest
	}
	p.Lead = checked.Sub(p.Lead, q.Lead)
	p.Violations -= q.Violations
	p.Sum -= q.Sum
	p.Pods -= q.Pods
	return p
}

// LeastDisruption places each member where the least has to go for it; large members first. Among equals one that is like others, and that
// no constraint ties to them, goes where it costs least together with the next of them, as far as the offers tell; then the first node by name does.
type LeastDisruption struct{}

// Pack fills one node after the other: those that hold members already, then the one with room for the most. Large members first or, with
// SmallFirst, small ones, of which more find a place.
type Pack struct{ SmallFirst bool }

// Spread puts members on as many nodes as it can: the one with the fewest members, then with room for the most.
type Spread struct{}

// Place places as the type says.
func (LeastDisruption) Place(t *GangTrial, d *Domain, offers Offers, members []MemberID, most int) int {
	g := newGreedy(t, d, offers.Price, offers.Highest())
	g.taken = offers.Taken
	g.lasting, _ = offers.(lasting)
	if f, ok := offers.(farther); ok && len(t.states) == 0 {
		g.further = f.Further
	}
	return g.place(members, most)
}

// Place places as the type says.
func (p Pack) Place(t *GangTrial, d *Domain, _ Offers, members []MemberID, most int) int {
	g := newGreedy(t, d, func(m MemberID, n cluster.NodeID) Price { return ranked(-len(t.on[n]), t.Slots(m, n)) }, Free.Highest)
	g.smallFirst = p.SmallFirst
	return g.place(members, most)
}

// Place places as the type says.
func (Spread) Place(t *GangTrial, d *Domain, _ Offers, members []MemberID, most int) int {
	g := newGreedy(t, d, func(m MemberID, n cluster.NodeID) Price { return ranked(len(t.on[n]), t.Slots(m, n)) }, Free.Highest)
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
	t       *GangTrial
	d       *Domain
	nodes   []uint64 // the same by block, from firstBlock on
	rank    func(MemberID, cluster.NodeID) Price
	taken   func(MemberID, cluster.NodeID) []cluster.NodeID
	lasting lasting                                             // nil: no rank lasts, and no bound is known
	further func(MemberID, cluster.NodeID, int64) (Price, bool) // see farther; may be nil

	sweep      sweep
	queue      *SeatQueue // of the trial: nodes with their ranks when they were put in; only the latest offer of each counts
	first      int32      // number of the first offer
	fresh      int32      // and of the first to the member that is placed next
	aside      aside      // nodes that constraints close as things stand
	firstBlock int
	smallFirst bool
	wanted     int // how many places members of the shape may still take
	more       int // how many like the member that is placed next may follow it at most, of whom further tells
	next       int // in the nodes of the domain: where placeNext goes on
}

// newGreedy has an empty queue, for a plan of that highest priority.
func newGreedy(t *GangTrial, d *Domain, rank func(MemberID, cluster.NodeID) Price, highest int64) greedy {
	t.queue.Reset(highest)
	return greedy{t: t, d: d, rank: rank, queue: &t.queue}
}

// place takes the shapes of members from large to small, or the other way round, and returns how many members found a place. O(shapes·nodes
// + members·log nodes), of which as many ranks as do not last.
func (g *greedy) place(members []MemberID, most int) int {
	placed, shapes := 0, g.t.ByShape(members)
	if g.smallFirst {
		shapes = lists.Reversed(shapes)
	}
	if g.t.offers == nil {
		g.t.offers = make([]int32, g.t.ix.NumNodes())
	}
	g.first = g.t.lastOffer + 1
	g.nodes, g.firstBlock = lists.Blocks(g.t.nodes[:0], g.d.Nodes)
	g.t.nodes = g.nodes
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
			if n := g.d.Nodes[g.next%len(g.d.Nodes)]; g.t.takes(m, n) {
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
	if g.t.passed(g.t.hurry) {
		return g.placeNext(members, most)
	}
	queued := members[0] // whose nodes are in the queue
	g.wanted = min(len(members), most)
	if g.more > 0 {
		g.queue.forget()
	}
	if g.more = 0; g.further != nil && len(g.t.members[queued].Pod.Ports) == 0 {
		g.more = g.wanted - 1
	}
	g.fill(queued)
	placed := 0
	for _, m := range members {
		if g.wanted == 0 || g.t.Vain {
			break
		}
		if len(g.t.states) > 0 && !g.t.FitAlike(queued, m) { // others may be open for m
			g.fill(m)
			queued = m
		}
		if g.placeOne(m) {
			placed++
			g.wanted--
		}
		g.fresh = g.t.lastOffer + 1
	}
	return placed
}

// take places member m on node n at a price, and returns the nodes that have become cheaper.
func (g *greedy) take(m MemberID, n cluster.NodeID, price Price) []cluster.NodeID {
	if g.queue.Take(price) && g.queue.Highest() > g.sweep.behind.Price.Highest { // else what is left stays behind
		g.resume()
	}
	g.t.Place(m, n)
	g.t.Vain = g.t.Vain || g.t.Dear != nil && g.t.Dear(n)
	if g.taken == nil {
		return nil
	}
	return g.taken(m, n)
}

// fill queues every node of the domain that takes member m, but vacant ones, which are offered later. Offers of others stay whose price lasts.
func (g *greedy) fill(m MemberID) {
	for _, b := range g.aside.blocks {
		for _, o := range b.offers {
			g.queue.Push(o)
		}
	}
	g.aside.clear()
	for _, n := range g.sweep.offered {
		if g.t.Vacant(n) {
			g.t.offers[n] = 0
		}
	}
	left := slices.Grow(g.sweep.left[:0], len(g.t.vacant))[:len(g.t.vacant)]
	g.sweep.offered = g.sweep.offered[:0]
	g.fresh = g.t.lastOffer + 1
	kept := 0
	for i, nodes := range g.nodes {
		at := g.firstBlock + i - g.t.firstBlock
		if uint(at) < uint(len(left)) {
			left[at] = nodes & g.t.vacant[at]
			nodes &^= left[at]
		}
		for ; nodes != 0; nodes &= nodes - 1 {
			n := cluster.NodeID(64*(g.firstBlock+i) + bits.TrailingZeros64(nodes))
			if offered := &g.t.offers[n]; g.lasting != nil && *offered >= g.first && g.lasting.Lasts(m, n) {
				kept++
			} else {
				*offered = 0
				g.offer(m, n)
			}
		}
	}
	g.begin(m, left)
	g.t.Asked += kept / keptAsks
	g.queue.keep(kept+int(g.t.lastOffer+1-g.fresh), func(o *SeatOffer) bool { return o.K == g.t.offers[o.At] })
}

// keptAsks is how many prices that last stand for a question about a member on a node.
const keptAsks = 16

// least is the least offer to member m.
func (g *greedy) least(m MemberID) (SeatOffer, bool) {
	for blind := 0; ; {
		least, ok := g.queue.Least()
		switch {
		case ok && least.K != g.t.offers[least.At]:
			g.queue.Drop()
		case ok && least.K < 0:
			g.queue.Drop()
			g.price(m, cluster.NodeID(least.At))
		case g.ahead(&least, ok):
			g.offerMore(m)
		case ok && g.more > 0 && least.Blind():
			blind++
			g.queue.open(blind, func(o *SeatOffer) { g.foresee(m, o) })
		default:
			return least, ok
		}
	}
}

// foresee finds out what more like m cost where o is, if that counts.
func (g *greedy) foresee(m MemberID, o *SeatOffer) {
	if n := cluster.NodeID(o.At); o.K == g.t.offers[n] {
		o.Foresee(int64(g.more), func(more int64) (Price, bool) { return g.further(m, n, more) })
	}
}

// offer queues node n if it takes member m: by a bound, if one is known, with a number below zero, until that is the least.
func (g *greedy) offer(m MemberID, n cluster.NodeID) {
	if g.lasting != nil {
		if price, known := g.lasting.AtLeast(m, n); known {
			g.t.lastOffer++
			g.t.offers[n] = -g.t.lastOffer
			g.queue.Push(SeatOffer{Price: price, Next: -1, At: int32(n), K: -g.t.lastOffer}) // all of a price are priced before one is foreseen
			return
		}
	}
	g.price(m, n)
}

// price queues node n at its price for m, if it takes m.
func (g *greedy) price(m MemberID, n cluster.NodeID) {
	switch {
	case g.t.takes(m, n):
		g.push(m, g.rank(m, n), n)
	case len(g.t.states) > 0:
		if b, ok := g.t.blockOf(m, n); ok {
			c := g.aside.of(b)
			c.unpriced = append(c.unpriced, n)
		}
	}
}

// push queues node n for member m at a price, in place of what was offered there before.
func (g *greedy) push(m MemberID, price Price, n cluster.NodeID) {
	g.t.lastOffer++
	g.t.offers[n] = g.t.lastOffer
	o := SeatOffer{Price: price, At: int32(n), K: g.t.lastOffer}
	if g.t.Vacant(n) {
		g.sweep.offered = append(g.sweep.offered, n)
		if g.more > 0 && o.Blind() { // as good as others, as a rule: it is asked in the end
			g.foresee(m, &o)
		}
	}
	g.queue.Push(o)
}

func (g *greedy) placeOne(m MemberID) bool {
	g.reopen(m)
	for {
		least, ok := g.least(m)
		if !ok {
			return false
		}
		n, price := cluster.NodeID(least.At), least.Price
		if least.K < g.fresh {
			if !g.t.CanPlace(m, n).OK() {
				g.queue.Drop()
				if b, ok := g.t.blockOf(m, n); ok {
					c := g.aside.of(b)
					c.offers = append(c.offers, least)
				} else {
					g.t.offers[n] = 0
				}
				continue
			}
			price = g.rank(m, n)
			if now := g.queue.Adds(price); now.Compare(least.Price) > 0 {
				g.queue.Drop()
				g.push(m, price, n)
				continue
			}
		}
		again := g.more > 0 || len(g.t.states) > 0 // it may be cheaper now, or not as much dearer
		if again {
			g.queue.Drop()
		}
		for _, n := range g.take(m, n, price) {
			if _, in := slices.BinarySearch(g.d.Nodes, n); in {
				g.offer(m, n)
			}
		}
		if again {
			g.offer(m, n)
		}
		return true
	}
}

// reopen queues the nodes from which what is placed has taken what kept member m off. Where the roomiest come first, vacant ones are offered later.
func (g *greedy) reopen(m MemberID) {
	swept := false
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
			if g.taken == nil && g.t.Vacant(n) { // else the cheapest would be found anew
				g.sweep.left[int(n/64)-g.t.firstBlock] |= 1 << (n % 64)
				swept = true
			} else {
				g.offer(m, n)
			}
		}
	}
	if swept {
		g.begin(m, g.sweep.left)
	}
}

// ByShape groups members by shape, those that ask for the largest part of a node first, then in order of MemberID. The slices belong to the
// trial, must not be changed, and are good until the next call.
func (t *GangTrial) ByShape(members []MemberID) [][]MemberID {
	switch {
	case len(members) == 1:
		t.single[0] = members
		return t.single[:]
	case slices.Equal(members, t.sorted):
		return t.byShape
	}
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
	t.sorted, t.byShape = slices.Clone(members), groups
	return groups
}

// largeness is the largest part, in millionths, that m asks for of the most that any node offers of a resource; see offered.
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

// offered is the most that any node offers of each resource, of those that some member could have to itself: others must not change who is large.
func (t *GangTrial) offered() []int64 {
	if t.most == nil {
		t.most = make([]int64, t.ix.NumResources())
		for n := range t.ix.Nodes() {
			more := false
			for r, v := range t.ix.Allocatable(n) {
				more = more || v > t.most[r]
			}
			if !more || !t.Usable(n) {
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

// Usable reports whether some member could be on node n if that were empty, as far as the node and its room decide.
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
	for m, member := range t.members {
		if t.shapes[m] == m && t.Admits(MemberID(m), n) && member.Resources(offers, offers).OK() {
			return true
		}
	}
	return false
}

// FirstFit puts one member after the other on the first node that takes it: the members in the order given or from the last on, the nodes
// in order of name or from the last on. It asks for no price.
type FirstFit struct{ LastMemberFirst, LastNodeFirst bool }

// Place places as the type says. Where one member may make room for another, as constraints can, a member begins where the one like it
// before it went, and those without a place are tried again from the first node on. O(shapes·nodes + members) a round.
func (f FirstFit) Place(t *GangTrial, d *Domain, _ Offers, members []MemberID, most int) int {
	if f.LastMemberFirst {
		members = lists.Reversed(members)
	}
	node := func(i int) cluster.NodeID {
		if f.LastNodeFirst {
			i = len(d.Nodes) - 1 - i
		}
		return d.Nodes[i]
	}
	type place struct {
		member MemberID
		at     int // of node
	}
	placed := 0
	for {
		before := placed
		from := map[int]place{} // by shape: of its latest member
		for _, m := range members {
			if placed == most || t.passed(t.stop) {
				return placed
			}
			if t.At(m) != cluster.NoNode {
				continue
			}
			at := 0
			if last, ok := from[t.shapes[m]]; ok && t.FitAlike(last.member, m) {
				at = last.at // nodes before it take no more
			}
			for at < len(d.Nodes) && !t.takes(m, node(at)) {
				at++
			}
			if from[t.shapes[m]] = (place{m, at}); at < len(d.Nodes) {
				t.Place(m, node(at))
				placed++
			}
		}
		if placed == before || len(t.states) == 0 {
			return placed
		}
	}
}

// Preference says which node a pod goes to, of several that are equally good otherwise.
type Preference string

// The preferences. The empty Preference is the first node by name. The others compare what would be left with the pod there, on average
// over the resources that the pod asks for, each as a share of what the node offers, in millionths rounded down; the number of pods does
// not count. Those that tie go by name.
//
// Source: kube-scheduler, NodeResourcesFit, scoring strategies of these names.
const (
	FirstByName    Preference = ""
	LeastAllocated Preference = "LeastAllocated" // spreads pods over nodes
	MostAllocated  Preference = "MostAllocated"  // keeps nodes free for large pods
)

// Valid reports whether p is one of those.
func (p Preference) Valid() bool {
	return p == FirstByName || p == LeastAllocated || p == MostAllocated
}

// Of is how much p likes a node for member m, on which it has room once free is free: more is better. free and allocatable are rows of the
// index; what is over allocated counts as all of it. A resource that m asks for and the index does not know makes it 0.
func (p Preference) Of(m *Member, free, allocatable []int64) int64 {
	if p == FirstByName || len(m.unknown) > 0 {
		return 0
	}
	sum, numResources := int64(0), int64(0)
	for _, r := range m.asks {
		if r == cluster.PodsColumn {
			continue
		}
		all := max(allocatable[r], 0)
		part, _ := checked.MulDiv(min(free[r]-min(free[r], m.request[r]), all), 1_000_000, max(all, 1))
		sum, numResources = sum+part, numResources+1
	}
	if numResources == 0 {
		return 0
	}
	if p == MostAllocated {
		sum = -sum
	}
	return sum / numResources
}
