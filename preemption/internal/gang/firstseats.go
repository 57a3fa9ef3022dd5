package gang

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/heaps"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// firstSeats are offers, of which those to the first member on a node are priced by the node's columns. These
// come to the same price where every unit on the node is a single pod. They tell of vacant nodes, too.
type firstSeats struct {
	*losses.Offers
	of    *Search
	seats *columns.Seats // nil: the road is closed to the question
	shape int            // that seats were asked about last; none
	told  bool           // and tell of

	last  int  // column: with everybody gone who may go
	exact bool // it is with nobody else gone

	vacates bool // nodes may be vacant: the columns tell of every member, and nothing wants to know of each potential victim
	shapes  int  // then how many shapes of members there are

	walked bool // seats have told who goes for the price that is asked for
	bounds int  // that were asked for

	*seatNotes
}

// seatNotes are what is noted of nodes where members are first. They are reused.
type seatNotes struct {
	costs  []columns.Cost // by node: what a first member cost last
	spans  []uint64       // by node: see span; empty: nobody was asked about
	beside []uint64       // likewise, of prices beside members
	row    []int64        // what members on a node ask for

	pool     []boundedSeats // buffers of Cheapest
	recent   [64]int32      // by a hash of what a member adds: where in pool those found last are; who is not found makes a second group
	cheapest []seatCost     // a heap, the dearest first
	nodes    []cluster.NodeID
	empty    []cluster.NodeID // of takeOut: nodes that are vacant
}

// seatCost is a vacant node with what the first member there adds to what a plan costs, and as an offer that was foreseen if there may be more.
type seatCost struct {
	adds columns.Cost
	next int64
	node cluster.NodeID
}

// boundedSeats are vacant nodes, in order, with the same lower bound.
type boundedSeats struct {
	bound seatCost // of the first of them
	nodes []cluster.NodeID
}

func (c *seatCost) compare(o *seatCost) int {
	if d := c.adds.Compare(o.adds); d != 0 {
		return d
	}
	return cmp.Or(cmp.Compare(c.next, o.next), cmp.Compare(c.node, o.node))
}

func compareDearest(a, b *seatCost) int { return b.compare(a) }

// mostPricedAnew is up to how many shapes are each priced anew on every node: what one costs is seldom what the next costs, and
// to find out for which asks a price lasts takes as long again.
const mostPricedAnew = 16

// knownAsks is how many prices that are known, or bounds, stand for a question about a member on a node.
const knownAsks = 16

// firstSeats returns those of the search.
func (s *Search) firstSeats() *firstSeats {
	if s.firsts == nil {
		s.prepare()
		s.firsts = &firstSeats{of: s, shape: none, seatNotes: &s.notes.seats}
		if ask.ByFirstSeat.Leads(s.q.AllTraits()) && !s.ownVictims() {
			s.firsts.seats = columns.NewSeats(s.q.Columns)
			s.firsts.last, s.firsts.exact = s.q.Columns.Levels().Column(s.q.Priority)
			s.firsts.vacates = s.firsts.mayVacate()
		}
	}
	return s.firsts
}

// withFirstSeats returns offers with first seats priced by the columns, if the road is open.
func (s *Search) withFirstSeats(offers *losses.Offers) seating.Prices {
	f := s.firstSeats()
	if s.harmful || f.seats == nil {
		return offers
	}
	f.Offers = offers
	if f.vacates {
		return lastingSeats{f}
	}
	return f
}

// ask asks about members like m, and reports whether the columns tell of them.
func (f *firstSeats) ask(m domain.MemberID) bool {
	if shape := f.of.Trial.Shape(m); shape != f.shape {
		member := f.of.Trial.Member(m)
		f.shape, f.told = shape, len(member.Pod.Ports)+len(member.Pod.Devices) == 0 && len(member.Unknown()) == 0 && f.seats.Ask(member, f.of.q.Priority, nobody)
	}
	return f.told
}

// Price is that of the offers.
func (f *firstSeats) Price(m domain.MemberID, n cluster.NodeID) domain.Price {
	switch {
	case f.first(m, n):
		return f.cost(n).Price()
	case !f.vacates:
		return f.Offers.Price(m, n)
	}
	f.walked = false
	price := f.Offers.Price(m, n)
	if f.walked && f.shapes > mostPricedAnew {
		f.seats.Span(f.span(&f.beside, n))
	} else {
		f.seats.Void(f.span(&f.beside, n))
	}
	return price
}

// cost is what the member costs who was asked about, as the first on node n.
func (f *firstSeats) cost(n cluster.NodeID) columns.Cost {
	if !f.vacates {
		return f.seats.Cost(n, 1)
	}
	span := f.span(&f.spans, n)
	if f.seats.Within(span) {
		return f.costs[n]
	}
	f.of.Trial.Asked++
	if f.shapes > mostPricedAnew {
		f.costs[n] = f.seats.CostSettled(n)
		f.seats.Span(span)
	} else {
		f.costs[n] = f.seats.Cost(n, 1)
		f.seats.Only(span)
	}
	return f.costs[n]
}

// span is between what asks of members on node n the price holds that was asked for last.
func (f *firstSeats) span(spans *[]uint64, n cluster.NodeID) []uint64 {
	size := 2 * len(f.seats.One().Words)
	if len(*spans) == 0 {
		nodes := f.of.q.Index.NumNodes()
		*spans = slices.Grow(*spans, size*nodes)[:size*nodes]
		clear(*spans)
		f.costs = slices.Grow(f.costs[:0], nodes)[:nodes]
	}
	return (*spans)[int(n)*size:][:size]
}

// first reports whether the columns tell of m as the first member on node n.
func (f *firstSeats) first(m domain.MemberID, n cluster.NodeID) bool {
	q, trial := f.of.q, f.of.Trial
	told, first := f.ask(m), trial.Vacant(n)
	if !first && told && len(trial.On(n)) == 0 && len(q.Index.Nominees(n)) == 0 {
		_, first = q.Columns.NumBelow(n, q.Priority)
	}
	return first
}

// Further is that of the offers; or where somebody more important has to go for more, nothing is told.
func (f *firstSeats) Further(m domain.MemberID, n cluster.NodeID, more int64) (price domain.Price, told bool) {
	if !f.first(m, n) {
		return f.Offers.Further(m, n, more)
	}
	return f.furtherFirsts(n, more)
}

// furtherFirsts is Further where nobody is placed yet.
func (f *firstSeats) furtherFirsts(n cluster.NodeID, more int64) (price domain.Price, told bool) {
	switch {
	case more == 0:
		return f.cost(n).Price(), true
	case f.seats.SlotsUpTo(n, f.cost(n).Price().Highest) <= more:
		return price, false
	}
	return f.seats.Cost(n, 1+more).Price(), true
}

// lastingSeats are first seats of which prices last from one member to others.
type lastingSeats struct{ *firstSeats }

// Lasts is what a placer asks.
func (f lastingSeats) Lasts(m domain.MemberID, n cluster.NodeID) bool {
	if !f.ask(m) {
		return false
	}
	if f.first(m, n) {
		return f.seats.Within(f.span(&f.spans, n))
	}
	return f.seats.Within(f.span(&f.beside, n))
}

// AtLeast is a bound from below for Price on a node with members, by the first column with room for all of them.
func (f lastingSeats) AtLeast(m domain.MemberID, n cluster.NodeID) (price domain.Price, known bool) {
	on := f.of.Trial.On(n)
	if len(on) == 0 || f.of.harmful || f.shapes > mostPricedAnew || !f.ask(m) {
		return price, false
	}
	paid, known := f.Paid(n)
	if !known {
		return price, false
	}
	f.row = append(f.row[:0], f.of.Trial.Member(m).Request()...)
	for _, placed := range on {
		for r, v := range f.of.Trial.Member(placed).Request() {
			f.row[r] = checked.Add(f.row[r], v)
		}
	}
	if f.bounds++; f.bounds%knownAsks == 0 {
		f.of.Trial.Asked++
	}
	cost, known := f.seats.AtLeastFor(n, f.row, f.last)
	return cost.Price().Minus(paid), known
}

// Taken is that of the offers.
func (f *firstSeats) Taken(m domain.MemberID, n cluster.NodeID) []cluster.NodeID {
	if f.vacates {
		f.seats.Void(f.span(&f.beside, n))
	}
	return f.Offers.Taken(m, n)
}

// out says who has to go on a node beside its members, if the columns tell.
func (f *firstSeats) out(dst []victims.UnitID, n cluster.NodeID, free []int64, needed []bool) (out []victims.UnitID, price domain.Price, ok bool) {
	if _, simple := f.of.q.Columns.NumBelow(n, f.of.q.Priority); f.of.harmful || !f.told || !simple {
		return dst, price, false
	}
	out, price, f.walked = f.seats.Out(dst, n, free, needed, f.shapes > mostPricedAnew)
	return out, price, f.walked
}

// nobody is held on any node.
func nobody(cluster.NodeID) []int64 { return nil }

func (f *firstSeats) mayVacate() bool {
	q, t := f.of.q, f.of.q.AllTraits()
	if !ask.ByPriceFirst.Leads(t) || t&(ask.TraitTrace|ask.TraitSpare) != 0 {
		return false
	}
	for m := range domain.MemberID(len(q.Members)) {
		if f.of.Trial.Shape(m) != int(m) {
			continue
		}
		if f.shapes++; !f.ask(m) {
			return false
		}
	}
	return true
}

// vacant reports whether node n may be vacant, and how many potential victims there are.
func (f *firstSeats) vacant(n cluster.NodeID) (units int, ok bool) {
	q := f.of.q
	units, simple := q.Columns.NumBelow(n, q.Priority)
	return units, simple && len(q.Index.Nominees(n)) == 0 && !f.of.Trial.Looks(n)
}

// Room, Empty, Slots, Fit and Cheapest make a [domain.Vacancy].

func (f *firstSeats) Room(dst []int64, n cluster.NodeID) []int64 {
	first, _ := f.of.q.Columns.Positions(n, f.of.q.Priority)
	return f.of.q.Columns.Room(dst, n, first)
}

func (f *firstSeats) Empty(n cluster.NodeID) { f.of.remove(f.of.q.Evictable(n)) }

func (f *firstSeats) Slots(m domain.MemberID, n cluster.NodeID) int64 {
	f.ask(m)
	return f.seats.Slots(n)
}

func (f *firstSeats) Fit(block int, set uint64, m domain.MemberID, k int64) uint64 {
	f.ask(m)
	return f.fit(block, set, k, f.last)
}

// fit returns those of set, nodes of a block, where there is room for k members with those gone whom a column stands for, or, but
// for the last one, a few more of them.
func (f *firstSeats) fit(block int, set uint64, k int64, column int) uint64 {
	set = f.of.q.Columns.Levels().Blocks()[block].Fit(f.seats.Asking(k), column, set)
	if column == f.last && !f.exact {
		for left := set; left != 0; left &= left - 1 {
			if i := bits.TrailingZeros64(left); f.seats.Slots(cluster.NodeID(columns.BlockSize*block+i)) < k {
				set &^= 1 << i
			}
		}
	}
	return set
}

// Cheapest leaves nodes behind where somebody more important has to go than on others, by the columns, and then those where the
// member adds more to what the plan costs. Where budgets have a say, it orders by columns alone.
func (f *firstSeats) Cheapest(m domain.MemberID, k, ahead int, highest int64, first int, left []uint64) (nodes []cluster.NodeID, behind domain.SeatOffer, more bool) {
	f.ask(m)
	column := f.column(highest)
	gathered := f.gather(m, k, ahead, highest, first, left, column)
	for ; gathered == 0 && column < f.last; column++ {
		gathered = f.gather(m, k, ahead, highest, first, left, column+1)
	}
	f.of.Trial.Asked += gathered / knownAsks
	f.nodes = f.nodes[:0]
	for _, c := range f.cheapest {
		f.nodes = append(f.nodes, c.node)
		left[int(c.node)/columns.BlockSize-first] &^= 1 << (c.node % columns.BlockSize)
	}
	if gathered > k {
		last := f.cheapest[0]
		return f.nodes, domain.SeatOffer{Price: last.adds.Price(), Next: last.next, At: int32(last.node) + 1}, true
	}
	if column < f.last {
		behind.Price.Highest = int64(f.of.q.Columns.Levels().Above(column + 1))
	}
	return f.nodes, behind, column < f.last
}

// gather counts those nodes of left that take member m with those gone whom a column stands for, and fills f.cheapest with the k cheapest.
// It goes through them in order of a bound from below, and prices no more than may be among these.
func (f *firstSeats) gather(m domain.MemberID, k, ahead int, highest int64, first int, left []uint64, column int) (gathered int) {
	f.pool, f.cheapest = f.pool[:0], f.cheapest[:0]
	bounded := !f.of.harmful && f.shapes <= mostPricedAnew
	blocks, anywhere := f.of.q.Columns.Levels().Blocks()[first:], f.of.Trial.Member(m).Anywhere()
	for i := range left {
		set := f.fit(first+i, left[i], 1, column)
		asked := set
		if anywhere {
			asked &^= blocks[i].Open
		}
		for ; asked != 0; asked &= asked - 1 {
			if at := bits.TrailingZeros64(asked); !f.of.Trial.Admits(m, cluster.NodeID(columns.BlockSize*(first+i)+at)) {
				set, left[i] = set&^(1<<at), left[i]&^(1<<at)
			}
		}
		var bounds *[columns.BlockSize]columns.Cost
		if bounded && set != 0 {
			bounds = f.seats.AtLeastIn(first+i, set, 1, column)
		}
		for gathered += bits.OnesCount64(set); set != 0; set &= set - 1 {
			at := bits.TrailingZeros64(set)
			n := cluster.NodeID(columns.BlockSize*(first+i) + at)
			if !bounded {
				f.consider(n, k, ahead, highest)
				continue
			}
			like := f.bounded(bounds[at].Adds(highest), n, ahead)
			like.nodes = append(like.nodes, n)
		}
	}
	slices.SortFunc(f.pool, func(a, b boundedSeats) int { return a.bound.compare(&b.bound) })
	for i := range f.pool {
		c := f.pool[i].bound
		if len(f.cheapest) == k && c.adds.Compare(f.cheapest[0].adds) > 0 {
			break
		}
		for _, c.node = range f.pool[i].nodes {
			if len(f.cheapest) < k || c.compare(&f.cheapest[0]) < 0 ||
				c.adds == f.cheapest[0].adds && f.foreseesLess(c.node, &f.cheapest[0], ahead, highest) {
				f.consider(c.node, k, ahead, highest)
			}
		}
	}
	return gathered
}

// bounded are those of pool where a first member adds at least so much, new ones if need be, of which node n is to be the first.
func (f *firstSeats) bounded(adds columns.Cost, n cluster.NodeID, ahead int) *boundedSeats {
	recent := &f.recent[adds.Hash()%uint64(len(f.recent))]
	if int(*recent) < len(f.pool) && f.pool[*recent].bound.adds == adds {
		return &f.pool[*recent]
	}
	*recent = int32(len(f.pool))
	f.pool = slices.Grow(f.pool, 1)[:len(f.pool)+1]
	like := &f.pool[*recent]
	like.bound, like.nodes = seatCost{adds: adds, node: n}, like.nodes[:0]
	if o := (domain.SeatOffer{Price: adds.Price()}); ahead > 0 && o.Blind() {
		o.Foresee(0, nil)
		like.bound.next = o.Next
	}
	return like
}

// consider prices the member on node n and keeps it if it is among the k cheapest so far.
func (f *firstSeats) consider(n cluster.NodeID, k, ahead int, highest int64) {
	c, full := seatCost{node: n}, len(f.cheapest) == k
	if !f.of.harmful {
		c.adds = f.cost(n).Adds(highest)
		if ahead > 0 && !(full && c.adds.Compare(f.cheapest[0].adds) > 0) {
			c.next = f.next(n, c.adds, ahead)
		}
	}
	if !full {
		f.cheapest = heaps.Push(f.cheapest, c, compareDearest)
	} else if c.compare(&f.cheapest[0]) < 0 {
		f.cheapest[0] = c
		heaps.Down(f.cheapest, 0, compareDearest)
	}
}

// foreseesLess reports whether the member, if it adds as much on node n as in last, may foresee less there, or as little on an earlier node.
func (f *firstSeats) foreseesLess(n cluster.NodeID, last *seatCost, ahead int, highest int64) bool {
	o := domain.SeatOffer{Price: last.adds.Price()}
	if !o.Blind() {
		return false
	}
	highest = max(highest, o.Price.Highest)
	column := f.column(highest)
	if f.fit(int(n/columns.BlockSize), 1<<(n%columns.BlockSize), 2, column) == 0 {
		return false
	}
	less := last.next
	if n < last.node {
		less++
	}
	for k := min(int64(ahead)+1, f.seats.SlotsUpTo(n, highest)); k > 1; k-- { // it alone is not less
		if 1+f.seats.AtLeast(n, k, column).Price().Sum/k < less {
			return true
		}
	}
	return false
}

// next is what the member who adds so much on node n foresees there, with up to so many more.
func (f *firstSeats) next(n cluster.NodeID, adds columns.Cost, ahead int) int64 {
	o := domain.SeatOffer{Price: adds.Price()}
	if o.Blind() {
		o.Foresee(int64(ahead), func(more int64) (domain.Price, bool) { return f.furtherFirsts(n, more) })
	}
	return o.Next
}

// least is a bound from below for Price: with nobody placed by the first column with room, else as AtLeast says.
func (f *firstSeats) least(m domain.MemberID, n cluster.NodeID) domain.Price {
	if !f.first(m, n) {
		if price, known := (lastingSeats{f}).AtLeast(m, n); f.vacates && known {
			return price
		}
		return domain.Price{Lead: math.MinInt64} // none
	}
	cost, _ := f.seats.AtLeastFor(n, f.of.Trial.Member(m).Request(), f.last)
	return cost.Price()
}

// column is the lowest column in which nobody up to a priority is left who may go.
func (f *firstSeats) column(highest int64) int {
	if highest >= int64(f.of.q.Priority) {
		return f.last
	}
	if highest < math.MinInt32 {
		return 0
	}
	c, _ := f.of.q.Columns.Levels().Column(int32(highest + 1))
	return c
}
