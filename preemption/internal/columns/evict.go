package columns

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Evict says who has to go on node n for k members, and what that costs, where units
// may have pods on other nodes, too: these are priced whole. Those of gone, and units of
// several pods for which broken is above zero, are gone already: they go, and cost
// nothing. broken is by unit; nil: nobody is gone.
//
// It is to [domain.Offers] what Cost is. O(units).
func (s *Seats) Evict(n cluster.NodeID, k int64, losses *Losses, broken []int32, gone *PositionSet) (price domain.Price, out PositionSet) {
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
			paid := broken != nil && (s.numPods(g) > 1 && broken[s.columns.Unit(n, g)] > 0 || gone.Has(g))
			if !paid && s.returns(g) {
				continue
			}
			out.Add(g)
			switch {
			case paid:
			case s.numPods(g) > 1:
				price.Add(losses.Of(s.columns.Unit(n, g)).Price)
			default:
				price.Add(priceOf(s.at.Owns[g], harmful))
			}
		}
	}
	return price, out
}

// Single reports whether every potential victim on node n is a single pod.
func (s *Seats) Single(n cluster.NodeID) bool {
	s.look(n)
	return s.at.Pods == nil || !slices.ContainsFunc(s.at.Pods[s.first:s.end], func(pods int32) bool { return pods > 1 })
}

// numPods is how many pods the unit on a position has, here and elsewhere.
func (s *Seats) numPods(g victims.Position) int64 {
	if s.at.Pods == nil {
		return 1
	}
	return int64(s.at.Pods[g])
}

// priceOf is what the loss of a pod costs.
func priceOf(own int32, harms bool) domain.Price {
	p := domain.Price{Highest: int64(own), Sum: priority.Raised(own), Pods: 1}
	if harms {
		p.Violations = 1
	}
	return p
}
