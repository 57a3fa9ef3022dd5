package ask

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// The checks of a domain where evictions do not help.
const (
	NoVictims   domain.Check = "no potential victims" // Detail may be AllKept, or say what else there is to say
	NoPlacement domain.Check = "no placement"         // for a gang; Detail says more of a given one
	NotSampled  domain.Check = "not sampled"          // it was not looked at: enough candidates were found
	NotLookedAt domain.Check = "not looked at"        // the search had taken all its steps
)

// AllKept is the detail of NoVictims where guards keep everybody.
const AllKept = "everybody is kept"

// Evictable returns the units on node n that the preemptor may evict, most important
// first. The slice is the units' own: it holds until the index changes.
func (q *Question) Evictable(n cluster.NodeID) []victims.UnitID { return q.EvictableFor(n, q.Claim) }

// EvictableFor is Evictable for another claim.
func (q *Question) EvictableFor(n cluster.NodeID, c victims.Claim) []victims.UnitID {
	if q.Protections == nil {
		return q.Units.Potential(n, c.Priority)
	}
	return q.Protections.Potential(nil, n, c)
}

// Kept says why unit u may not be evicted for claim c; the zero Kept: it may.
func (q *Question) Kept(u victims.UnitID, c victims.Claim) victims.Kept {
	if q.Protections == nil {
		return victims.LowerPriority{}.Kept(q.Units, u, c)
	}
	return q.Protections.Kept(u, c)
}

// May reports whether unit u may be evicted for claim c.
func (q *Question) May(u victims.UnitID, c victims.Claim) bool {
	if q.Protections == nil {
		return q.Units.Unit(u).Level < c.Priority
	}
	return q.Protections.May(u, c)
}

// Guarded reports whether a guard, and not its priority, keeps unit u.
func (q *Question) Guarded(u victims.UnitID) bool {
	guarded, known := q.guarded[u]
	if !known {
		k := q.Kept(u, q.Claim)
		guarded = !k.OK() && k.Rule != victims.KeptPriority
		if q.Wholes().Of(u) != nil { // which would be read on each of its nodes
			if q.guarded == nil {
				q.guarded = map[victims.UnitID]bool{}
			}
			q.guarded[u] = guarded
		}
	}
	return guarded
}

// Nobody is the reason of some nodes on which nobody may be evicted.
func (q *Question) Nobody(nodes ...cluster.NodeID) domain.Reason {
	why := domain.Reason{Check: NoVictims}
	if q.Protections == nil {
		return why
	}
	for _, n := range nodes {
		if slices.ContainsFunc(q.Units.On(n), q.Guarded) {
			why.Detail = AllKept
			break
		}
	}
	return why
}

// Alike is why without what differs from node to node.
func Alike(why domain.Reason) domain.Reason {
	alike := domain.Reason{Check: why.Check, Resource: why.Resource, Detail: why.Detail}
	if _, bound := BoundOf(why); bound {
		alike.Missing = why.Missing
	}
	return alike
}
