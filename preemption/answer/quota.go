package answer

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/victims"
)

// QuotaLack is what a preemptor that needs quota and a place cannot have.
type QuotaLack string

// The lacks, the first that holds is named.
const (
	LackQuota     QuotaLack = "no quota"                                    // not even by evictions, wherever it goes
	LackPlace     QuotaLack = "quota but no place"                          // not even if all less important pods went
	LackProtected QuotaLack = "place only at the cost of a protected queue" // the pods in the way are not its queue's to evict
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
	// Planner.Cycle. PodSet is empty.
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
	ClusterQueue string              `json:"clusterQueue"`
	Reason       victims.QuotaReason `json:"reason"`

	// Priority is the workload's own plus its boost: what decided.
	Priority int64 `json:"priority"`

	// Evicted says that it has been told to stop already; there is nothing to do
	// but to wait.
	Evicted bool `json:"evicted,omitempty"`

	OnPreemption string `json:"onPreemption,omitempty"` // the workload's own
}
