package victims

import "github.com/preempt-go/preempt/preemption/cluster"

// KeptQueue is why a pod that holds quota of a queue is kept from preemptors without
// one: only the rules of its queue evict it.
const KeptQueue KeptRule = "queue"

// Unqueued is the Eligible of preemptors that belong to no queue: pods that hold
// quota are kept, whatever their priority; Base decides about the others.
type Unqueued struct {
	Base   Eligible
	Queued []bool // by pod: it holds quota
}

// Kept says why unit u may not be evicted for p; the zero Kept: it may.
func (e Unqueued) Kept(us *Units, u UnitID, p Claim) Kept {
	for _, pod := range us.Unit(u).Pods {
		if e.Holds(pod) {
			return Kept{Rule: KeptQueue, Detail: "holds quota of a queue, whose rules alone evict it"}
		}
	}
	return e.Base.Kept(us, u, p)
}

// Holds reports whether pod p holds quota.
func (e Unqueued) Holds(p cluster.PodID) bool { return e.Queued[p] }
