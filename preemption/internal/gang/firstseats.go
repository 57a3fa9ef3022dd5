package gang

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// firstSeats are offers, of which those to the first member on a node are priced by the node's columns. These
// come to the same price where every unit on the node is a single pod.
type firstSeats struct {
	*victims.Offers
	of    *Search
	seats *columns.Seats // nil: the road is closed to the question
	shape int            // that seats were asked about last; none
	told  bool           // and tell of
}

// withFirstSeats returns offers with first seats priced by the columns, if the road is open.
func (s *Search) withFirstSeats(offers *victims.Offers) seating.Prices {
	if s.firsts == nil {
		s.firsts = &firstSeats{of: s, shape: -1}
		if ask.ByFirstSeat.Leads(s.q.AllTraits()) && !s.ownVictims() {
			s.firsts.seats = columns.NewSeats(s.q.Columns)
		}
	}
	if s.harmful || s.firsts.seats == nil {
		return offers
	}
	s.firsts.Offers = offers
	return s.firsts
}

// Price is that of the offers.
func (f *firstSeats) Price(m domain.MemberID, n cluster.NodeID) domain.Price {
	q, trial := f.of.q, f.of.Trial
	if shape := trial.Shape(m); shape != f.shape {
		member := trial.Member(m)
		f.shape, f.told = shape, len(member.Pod.Ports) == 0 && len(member.Unknown()) == 0 && f.seats.Ask(member, q.Priority, nobody)
	}
	if _, simple := q.Columns.NumBelow(n, q.Priority); !f.told || !simple || len(trial.On(n)) > 0 || len(q.Index.Nominees(n)) > 0 {
		return f.Offers.Price(m, n)
	}
	return f.seats.Cost(n, 1).Price()
}

// nobody is held on any node.
func nobody(cluster.NodeID) []int64 { return nil }
