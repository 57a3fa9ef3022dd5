package columns

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Evict says who has to go on node n for k members, and what that costs, where units
// may have pods on other nodes, too: these are priced whole. Units of several pods for
// which broken is above zero are gone already: they go, and cost nothing. broken is by unit;
// nil: nobody is gone. Once the price is above most, nobody looks further, and price and out are of some of those who go, or of some of their pods; nil: of all.
//
// It is to [domain.Offers] what Cost is. O(units).
func (s *Seats) Evict(n cluster.NodeID, k int64, losses *Losses, broken []int32, most *domain.Price) (price domain.Price, out PositionSet) {
	s.ask(n, k)
	price = domain.Free
	from, harmed := s.first, s.harmed(n)
	switch {
	case s.first == s.end:
		return price, out
	case broken == nil && !harmed:
		at, room := s.reach()
		s.take(room)
		from = at
	default:
		s.start()
	}
	for _, harmful := range []bool{true, false} {
		if harmful && !harmed {
			continue
		}
		for g := from; g < s.end; g++ {
			if harmed && s.Harms(n, g) != harmful {
				continue
			}
			paid := s.paid(n, g, broken)
			if !paid && s.returns(g) {
				continue
			}
			if out.Add(g); paid {
				continue
			}
			if most != nil { // its pod here is enough, as a rule
				least := price
				if least.Add(priceOf(s.at.Owns[g], 1, harmful)); least.Compare(*most) > 0 {
					return least, out
				}
			}
			if price.Add(s.loss(n, g, losses)); most != nil && price.Compare(*most) > 0 {
				return price, out
			}
		}
	}
	return price, out
}

// paid reports whether the unit on a position is gone already.
func (s *Seats) paid(n cluster.NodeID, g victims.Position, broken []int32) bool {
	return broken != nil && s.at.Several(g) && broken[s.columns.Unit(n, g)] > 0
}

// loss is what the loss of the unit on a position costs, wherever its pods are.
func (s *Seats) loss(n cluster.NodeID, g victims.Position, losses *Losses) domain.Price {
	if s.at.mixed && s.at.Several(g) {
		return losses.Of(s.columns.Unit(n, g)).Price
	}
	return priceOf(s.at.Owns[g], int64(s.at.Pods(g)), s.Harms(n, g))
}

// Lost is what those of out on node n cost who are not gone already; see Evict.
func (s *Seats) Lost(n cluster.NodeID, out *PositionSet, losses *Losses, broken []int32) domain.Price {
	s.look(n)
	price := domain.Free
	for g := s.first; g < s.end; g++ {
		if out.Has(g) && !s.paid(n, g, broken) {
			price.Add(s.loss(n, g, losses))
		}
	}
	return price
}

// Single reports whether every potential victim on node n is a single pod.
func (s *Seats) Single(n cluster.NodeID) bool {
	s.look(n)
	several := uint64(0)
	for w := s.first / 64; w*64 < s.end; w++ {
		several |= s.at.WordOfSeveral(w, s.first, s.end)
	}
	return several == 0
}

// priceOf is what the loss of so many pods of one unit costs, all of a priority.
func priceOf(own int32, pods int64, harms bool) domain.Price {
	p := domain.Price{Highest: int64(own), Sum: pods * priority.Raised(own), Pods: pods}
	if harms {
		p.Violations = 1
	}
	return p
}

// Losses remembers what the loss of units costs. Not safe for concurrent use.
type Losses struct {
	us     *victims.Units
	known  []victims.Loss
	of     []victims.UnitID // of which unit each of known is
	number []int32          // by unit: its position in known and 1; 0: not known
}

// NewLosses returns new Losses of us.
func NewLosses(us *victims.Units) *Losses { return &Losses{us: us} }

// Forget forgets everything, for units that may have changed.
func (l *Losses) Forget() {
	for _, u := range l.of {
		l.number[u] = 0
	}
	l.known, l.of = l.known[:0], l.of[:0]
	if len(l.number) < l.us.Len() {
		l.number = make([]int32, l.us.Len())
	}
}

// Of is the loss of u. It is good until the next call.
func (l *Losses) Of(u victims.UnitID) *victims.Loss {
	if l.number[u] == 0 {
		l.known, l.of = append(l.known, l.us.Loss(u)), append(l.of, u)
		l.number[u] = int32(len(l.known))
	}
	return &l.known[l.number[u]-1]
}
