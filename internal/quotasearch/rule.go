package quotasearch

import (
	"math"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Rule says which workloads a preemptor may evict, by priority. The zero
// Rule allows nobody.
type Rule struct {
	allowed bool
	below   int64 // priorities below this may go
	equal   bool  // and this one, if they are
	newer   int64 // newer than this
}

// NewRule returns what policy allows a preemptor of that priority and age
// (see [quota.Reservation]).
func NewRule(policy cluster.QueuePolicy, priority, ordered int64) Rule {
	switch policy {
	case cluster.AnyPriority, cluster.ReclaimFromAny:
		return Rule{allowed: true, below: math.MaxInt64}
	case cluster.LowerPriority, cluster.ReclaimFromLowerPriority:
		return Rule{allowed: true, below: priority}
	case cluster.LowerOrNewerEqualPriority:
		return Rule{allowed: true, below: priority, equal: true, newer: ordered}
	}
	return Rule{}
}

// Below narrows the rule to priorities below that given.
func (q Rule) Below(priority int64) Rule {
	if priority <= q.below {
		q.below, q.equal = priority, false
	}
	return q
}

// Nobody reports whether the rule allows nobody whatever the priority.
func (q Rule) Nobody() bool { return !q.allowed }

// Allows reports whether r may be evicted. Of two workloads of equal priority and
// age, neither may evict the other.
func (q Rule) Allows(r *quota.Reservation) bool {
	return q.allowed && (r.Priority < q.below || q.equal && r.Priority == q.below && r.Ordered > q.newer)
}

// beyond reports whether no workload of r's priority or higher may be evicted.
func (q Rule) beyond(r *quota.Reservation) bool {
	return r.Priority > q.below || r.Priority == q.below && !q.equal
}
