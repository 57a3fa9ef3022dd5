package victims

import (
	"math"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// QuotaRule says which workloads a preemptor may evict, by priority. The zero
// QuotaRule allows nobody.
type QuotaRule struct {
	allowed bool
	below   int64 // priorities below this may go
	equal   bool  // and this one, if they are
	newer   int64 // newer than this
}

// NewQuotaRule returns what policy allows a preemptor of that priority and age
// (see [cluster.Reservation]).
func NewQuotaRule(policy cluster.QueuePolicy, priority, ordered int64) QuotaRule {
	switch policy {
	case cluster.AnyPriority, cluster.ReclaimFromAny:
		return QuotaRule{allowed: true, below: math.MaxInt64}
	case cluster.LowerPriority, cluster.ReclaimFromLowerPriority:
		return QuotaRule{allowed: true, below: priority}
	case cluster.LowerOrNewerEqualPriority:
		return QuotaRule{allowed: true, below: priority, equal: true, newer: ordered}
	}
	return QuotaRule{}
}

// Below narrows the rule to priorities below that given.
func (q QuotaRule) Below(priority int64) QuotaRule {
	if priority <= q.below {
		q.below, q.equal = priority, false
	}
	return q
}

// Nobody reports whether the rule allows nobody whatever the priority.
func (q QuotaRule) Nobody() bool { return !q.allowed }

// Allows reports whether r may be evicted. Of two workloads of equal priority and
// age, neither may evict the other.
func (q QuotaRule) Allows(r *cluster.Reservation) bool {
	return q.allowed && (r.Priority < q.below || q.equal && r.Priority == q.below && r.Ordered > q.newer)
}

// beyond reports whether no workload of r's priority or higher may be evicted.
func (q QuotaRule) beyond(r *cluster.Reservation) bool {
	return r.Priority > q.below || r.Priority == q.below && !q.equal
}
