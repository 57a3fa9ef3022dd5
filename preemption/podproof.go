package preemption

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// refuted reports whether no set of evictions on any node helps: with everybody gone the
// pod does not fit, and that those who come back change this is not possible. Where
// constraints are not monotone, an eviction less may be what it takes.
func (s *podSearch) refuted() bool {
	if s.monotone() {
		return true
	}
	for n, why := range s.status {
		if mayTurn(why.Check) && !s.hopeless(cluster.NodeID(n)) {
			return false
		}
	}
	return true
}

// mayTurn reports whether a pod that fails a check may pass it once others are there.
func mayTurn(check domain.Check) bool {
	switch check {
	case domain.CheckPorts, domain.CheckResource, domain.CheckToken, domain.CheckAntiAffinity, noVictims, overBudget, overLimit:
		return false
	}
	return domain.StaticCheck(check) < 0
}

// hopeless reports whether a constraint says that the pod does not fit on node n,
// whatever is evicted anywhere.
func (s *podSearch) hopeless(n cluster.NodeID) bool {
	for _, state := range s.states {
		if b, ok := state.(domain.Bounder); ok && !b.Hopeless(0, n).OK() {
			return true
		}
	}
	return false
}
