package gang

import (
	"math"
	"math/bits"

	"github.com/preempt-go/preempt/domain"
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

	last  int  // level: with everybody gone who may go
	exact bool // the columns are, at the last level

	spans  []uint64 // by node, where nodes may be vacant: see span; nil: none yet
	walked bool     // seats have told who goes for the price that is asked for

	vacates bool // nodes may be vacant: the columns tell of every member, and nothing wants to know of each potential victim
}

// firstSeats returns those of the search.
func (s *Search) firstSeats() *firstSeats {
	if s.firsts == nil {
		s.firsts = &firstSeats{of: s, shape: none}
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
		f.shape, f.told = shape, len(member.Pod.Ports) == 0 && len(member.Unknown()) == 0 && f.seats.Ask(member, f.of.q.Priority, nobody)
	}
	return f.told
}

// Price is that of the offers.
func (f *firstSeats) Price(m domain.MemberID, n cluster.NodeID) domain.Price {
	first := f.first(m, n)
	switch {
	case first && !f.vacates:
		return f.seats.Cost(n, 1).Price()
	case !f.vacates:
		return f.Offers.Price(m, n)
	case first:
		price := f.seats.Price(n)
		f.seats.Span(f.span(n))
		return price
	}
	f.walked = false
	price := f.Offers.Price(m, n)
	if f.walked {
		f.seats.Span(f.span(n))
	} else {
		f.seats.Void(f.span(n))
	}
	return price
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

// Further is that of the offers.
func (f *firstSeats) Further(m domain.MemberID, n cluster.NodeID) (price domain.Price, told bool) {
	if f.first(m, n) {
		return f.seats.More(n, 2), true
	}
	return f.Offers.Further(m, n)
}

// span is between what members on node n have the price that was asked for last.
func (f *firstSeats) span(n cluster.NodeID) []uint64 {
	size := 2 * len(f.seats.One().Words)
	if f.spans == nil {
		f.spans = make([]uint64, size*f.of.q.Index.NumNodes())
	}
	return f.spans[int(n)*size:][:size]
}

// lastingSeats are first seats of which prices last from one member to others.
type lastingSeats struct{ *firstSeats }

// Lasts is what a placer asks.
func (f lastingSeats) Lasts(m domain.MemberID, n cluster.NodeID) bool {
	return f.ask(m) && f.seats.Within(f.span(n))
}

// Taken is that of the offers.
func (f *firstSeats) Taken(m domain.MemberID, n cluster.NodeID) []cluster.NodeID {
	if f.vacates {
		f.seats.Void(f.span(n))
	}
	return f.Offers.Taken(m, n)
}

// out says who has to go on a node beside its members, if the columns tell.
func (f *firstSeats) out(dst []victims.UnitID, n cluster.NodeID, free []int64, needed []bool, broken []int32) (out []victims.UnitID, ok bool) {
	if _, simple := f.of.q.Columns.NumBelow(n, f.of.q.Priority); f.of.harmful || !f.told || !simple {
		return dst, false
	}
	out, f.walked = f.seats.Out(dst, n, free, needed, broken)
	return out, f.walked
}

// nobody is held on any node.
func nobody(cluster.NodeID) []int64 { return nil }

func (f *firstSeats) mayVacate() bool {
	q, t := f.of.q, f.of.q.AllTraits()
	if !ask.ByPriceFirst.Leads(t) || t&(ask.TraitTrace|ask.TraitSpare) != 0 {
		return false
	}
	for m := range domain.MemberID(len(q.Members)) {
		if !f.ask(m) {
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

// Room, Empty, Slots, Fit, Level and Beyond make a [domain.Vacancy]: level c is column c.

func (f *firstSeats) Room(dst []int64, n cluster.NodeID) []int64 {
	first, _ := f.of.q.Columns.Positions(n, f.of.q.Priority)
	return f.of.q.Columns.Room(dst, n, first)
}

func (f *firstSeats) Empty(n cluster.NodeID) { f.of.remove(f.of.q.Evictable(n)) }

func (f *firstSeats) Slots(m domain.MemberID, n cluster.NodeID) int64 {
	f.ask(m)
	return f.seats.Slots(n)
}

func (f *firstSeats) Fit(block int, set uint64, m domain.MemberID, k int64, level int) uint64 {
	f.ask(m)
	set = f.of.q.Columns.Levels().Blocks()[block].Fit(f.seats.Asking(k), level, set)
	if level == f.last && !f.exact {
		for left := set; left != 0; left &= left - 1 {
			if i := bits.TrailingZeros64(left); f.seats.Slots(cluster.NodeID(columns.BlockSize*block+i)) < k {
				set &^= 1 << i
			}
		}
	}
	return set
}

func (f *firstSeats) Level(highest int64) int {
	if highest >= int64(f.of.q.Priority) {
		return f.last
	}
	if highest < math.MinInt32 {
		return 0
	}
	c, _ := f.of.q.Columns.Levels().Column(int32(highest + 1))
	return c
}

func (f *firstSeats) Beyond(level int) (highest int64, ok bool) {
	if level >= f.last {
		return 0, false
	}
	return int64(f.of.q.Columns.Levels().Above(level + 1)), true
}
