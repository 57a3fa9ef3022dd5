package victims

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// QuotaReason says on what ground a workload is evicted for another one.
type QuotaReason string

// The reasons, by Kueue's names.
const (
	InClusterQueue                QuotaReason = "InClusterQueue"                // less important, in the preemptor's own queue
	InCohortReclamation           QuotaReason = "InCohortReclamation"           // its queue borrows what the preemptor's owns
	InCohortFairSharing           QuotaReason = "InCohortFairSharing"           // its queue has more than its fair share
	InCohortReclaimWhileBorrowing QuotaReason = "InCohortReclaimWhileBorrowing" // its queue borrows, and so does the preemptor's
)

// KeptQueue is why a pod that holds quota of a queue is kept from preemptors without
// one: only the rules of its queue evict it.
const KeptQueue KeptRule = "queue"

// Unqueued is the Eligible of preemptors that belong to no queue: pods that hold
// quota are kept, whatever their priority; Base decides about the others.
type Unqueued struct{ Base Eligible }

// Kept says why unit u may not be evicted for p; the zero Kept: it may.
func (e Unqueued) Kept(us *Units, u UnitID, p Claim) Kept {
	if us.holdsQuota(u) {
		return Kept{Rule: KeptQueue, Detail: "holds quota of a queue, whose rules alone evict it"}
	}
	return e.Base.Kept(us, u, p)
}

// holdsQuota reports whether a pod of unit u has a queue.
func (us *Units) holdsQuota(u UnitID) bool {
	return us.ix.AnyQueued() && slices.ContainsFunc(us.Unit(u).Pods, func(p cluster.PodID) bool { return us.ix.QueueOf(p) != "" })
}
