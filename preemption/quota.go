package preemption

import (
	"fmt"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// QuotaOptions choose how workloads preempt each other for quota. The zero value
// is Kueue's classical preemption. Guards, hard budgets, limits and costs of
// [Options] are about pods: they do not bound what a [Workload] evicts, and the result
// warns of those that are set.
type QuotaOptions struct {
	// FairSharing lets shares decide whose workloads go. nil: priorities and
	// nominal quota do.
	FairSharing *FairSharing `json:"fairSharing,omitempty"`

	// KueueFloat computes shares in float64, in Kueue's order of operations; they
	// are exact fractions otherwise. It matters where two shares are equal, or
	// differ by less than a float64 can hold.
	KueueFloat bool `json:"kueueFloat,omitempty"`
}

// FairSharing says how shares decide.
type FairSharing struct {
	// Strategies are one or two different ones: the second is for workloads that the
	// first spared. None: LessThanOrEqualToFinalShare, then LessThanInitialShare.
	Strategies []FairStrategy `json:"strategies,omitempty"`
}

// FairStrategy compares shares; see [reprieve.FairStrategy].
type FairStrategy = reprieve.FairStrategy

// The strategies of fair sharing.
const (
	LessThanOrEqualToFinalShare = reprieve.LessThanOrEqualToFinalShare
	LessThanInitialShare        = reprieve.LessThanInitialShare
)

// rules are the options as the room of workloads heeds them.
func (o QuotaOptions) rules() workload.Rules {
	r := workload.Rules{Precision: quota.Exact}
	if o.KueueFloat {
		r.Precision = quota.KueueFloat
	}
	if o.FairSharing != nil {
		r.Fair, r.Strategies = true, o.FairSharing.Strategies
	}
	return r
}

func (o QuotaOptions) validate(ps *optionProblems) {
	if o.FairSharing == nil {
		return
	}
	for i, s := range o.FairSharing.Strategies {
		field := fmt.Sprintf("Quota.FairSharing.Strategies[%d]", i)
		switch s {
		case LessThanOrEqualToFinalShare, LessThanInitialShare:
		default:
			ps.name(field, string(s), "LessThanOrEqualToFinalShare or LessThanInitialShare")
			continue
		}
		if i > 0 && (i > 1 || s != LessThanInitialShare || o.FairSharing.Strategies[0] == s) {
			ps.name(field, string(s), "absent: the second of two may be LessThanInitialShare only")
		}
	}
}

// QuotaReason says on what ground a workload is evicted; see [victims.QuotaReason].
type QuotaReason = victims.QuotaReason

// The grounds.
const (
	InClusterQueue                = victims.InClusterQueue
	InCohortReclamation           = victims.InCohortReclamation
	InCohortFairSharing           = victims.InCohortFairSharing
	InCohortReclaimWhileBorrowing = victims.InCohortReclaimWhileBorrowing
)

// CheckQuota is the check of a workload that must stay away for lack of quota.
const CheckQuota domain.Check = "quota"

// QuotaResult is the part of an answer that is about quota: where the workload is
// admitted.
type QuotaResult struct {
	ClusterQueue string `json:"clusterQueue"`

	// Flavors are those that the pod sets take, in order of pod set and resource.
	// None if the verdict is Infeasible.
	Flavors []FlavorChoice `json:"flavors,omitempty"`

	// Borrowing is how far up the tree the quota comes from: the height of the
	// smallest subtree whose own quota takes the request. 0: within nominal quota.
	Borrowing int `json:"borrowing"`

	// Lack is what cannot be had, of a preemptor that needs quota and a place and has
	// the verdict Infeasible.
	Lack QuotaLack `json:"lack,omitempty"`

	// Reserved is what an answer without victims keeps back if it is applied; see
	// [Planner.Cycle]. PodSet is empty.
	Reserved []FlavorChoice `json:"reserved,omitempty"`

	// Counts are the pods of each pod set, in order, where fewer than it asks for
	// are admitted; else none.
	Counts []int32 `json:"counts,omitempty"`
}

// FlavorChoice is the flavor that a pod set takes of a resource.
type FlavorChoice struct {
	PodSet   string `json:"podSet"`
	Resource string `json:"resource"`
	Flavor   string `json:"flavor"`
	Amount   int64  `json:"amount"` // of all pods of the set, in the resource's unit

	// Contested says that there is not enough of it until the victims are gone.
	Contested bool `json:"contested,omitempty"`
}

// QuotaVictim is the part of a victim that is about quota.
type QuotaVictim struct {
	ClusterQueue string      `json:"clusterQueue"`
	Reason       QuotaReason `json:"reason"`

	// Priority is the workload's own plus its boost: what decided.
	Priority int64 `json:"priority"`

	// Evicted says that it has been told to stop already; there is nothing to do
	// but to wait.
	Evicted bool `json:"evicted,omitempty"`

	OnPreemption string `json:"onPreemption,omitempty"` // the workload's own
}
