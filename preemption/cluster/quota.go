package cluster

import (
	"strconv"
)

// ResourceFlavor is a named kind of capacity, such as spot or one GPU model.
// ClusterQueues hold quota of resources in flavors.
type ResourceFlavor struct {
	Name string `json:"name"`

	// NodeLabels are on every node of the flavor. A pod set takes the flavor only
	// if its node selector and required node affinity, as far as they name these
	// labels, hold for them.
	NodeLabels map[string]string `json:"nodeLabels,omitempty"`

	// NodeTaints keep out pod sets that do not tolerate them; PreferNoSchedule
	// keeps nobody out. Tolerations are added to those of every pod set.
	NodeTaints  []Taint      `json:"nodeTaints,omitempty"`
	Tolerations []Toleration `json:"tolerations,omitempty"`
}

// ResourceQuota is what a ClusterQueue or Cohort holds of one resource in one
// flavor. Amounts are in the resource's unit (see [Resources]); [Unlimited] and
// above means without bound.
type ResourceQuota struct {
	Resource string `json:"resource"`

	// Nominal is its own; a Cohort's is shared by its members, on top of theirs.
	Nominal int64 `json:"nominal"`

	// Borrowing is the most that it uses beyond its own; nil: no limit. Lending is
	// the most of its own that others may use; nil: all of it. Neither may be set
	// without a parent, and a ClusterQueue's Lending is at most its Nominal.
	Borrowing *int64 `json:"borrowingLimit,omitempty"`
	Lending   *int64 `json:"lendingLimit,omitempty"`
}

// FlavorQuotas is what a ClusterQueue or Cohort holds in one flavor.
type FlavorQuotas struct {
	Flavor    string          `json:"flavor"`
	Resources []ResourceQuota `json:"resources"`
}

// ResourceGroup is a set of resources that a pod set takes in one flavor: the
// first of Flavors that suits, as [Fungibility] says. A resource is in at most
// one group of a ClusterQueue, and every flavor of a group holds the same resources.
type ResourceGroup struct {
	Flavors []FlavorQuotas `json:"flavors"`
}

// QueuePolicy says which workloads a preemptor may evict, by priority.
type QueuePolicy string

// The policies of KEP-83 and of today's Kueue. The empty policy is QueueNever.
// AnyPriority is good across queues only, LowerOrNewerEqualPriority within one
// queue only.
const (
	QueueNever                QueuePolicy = "Never"
	LowerPriority             QueuePolicy = "LowerPriority"             // strictly lower
	LowerOrNewerEqualPriority QueuePolicy = "LowerOrNewerEqualPriority" // lower, or equal and newer than the preemptor
	AnyPriority               QueuePolicy = "Any"                       // whatever the priority

	// The names of KEP-83: accepted as ReclaimWithinCohort, they mean LowerPriority
	// and AnyPriority for a preemptor that stays within nominal quota.
	ReclaimFromLowerPriority QueuePolicy = "ReclaimFromLowerPriority"
	ReclaimFromAny           QueuePolicy = "ReclaimFromAny"
)

// VictimOrder is one criterion by which the workloads that a queue's preemptors
// may evict are sorted.
type VictimOrder string

// The criteria of KEP-83.
const (
	ByLowestPriority VictimOrder = "ByLowestPriority" // lower priority goes first
	ByLowestRuntime  VictimOrder = "ByLowestRuntime"  // later start goes first
	ByLongestRuntime VictimOrder = "ByLongestRuntime" // earlier start goes first
)

// QueuePreemption says what preemptors of a ClusterQueue may do.
type QueuePreemption struct {
	WithinClusterQueue  QueuePolicy `json:"withinClusterQueue,omitempty"`  // against workloads of the same queue
	ReclaimWithinCohort QueuePolicy `json:"reclaimWithinCohort,omitempty"` // against workloads of queues that borrow

	// BorrowWithinCohort, not nil, lets a preemptor that borrows evict workloads
	// of other queues too. Not read under fair sharing.
	BorrowWithinCohort *BorrowWithinCohort `json:"borrowWithinCohort,omitempty"`

	// WaitSeconds is how long a workload waits, from Workload.Created, before it
	// may evict others. 0: not at all.
	WaitSeconds int64 `json:"waitSeconds,omitempty"`

	// Order sorts the workloads that may be evicted. Empty: ByLowestPriority,
	// ByLowestRuntime. Evicted workloads go first and those of other queues before
	// the preemptor's own, whatever it says.
	Order []VictimOrder `json:"order,omitempty"`
}

// BorrowWithinCohort bounds whom a borrowing preemptor may evict in other queues:
// workloads of lower priority than its own.
type BorrowWithinCohort struct {
	// MaxPriority is the highest priority that may go; nil: no bound but the
	// preemptor's own priority.
	MaxPriority *int32 `json:"maxPriorityThreshold,omitempty"`
}

// FlavorChoice says what to do with a flavor that is usable, but at a price.
type FlavorChoice string

// The choices.
const (
	StopSearch    FlavorChoice = "MayStopSearch" // take it
	TryNextFlavor FlavorChoice = "TryNextFlavor" // see whether a later flavor is better
)

// FlavorPreference tells which of two prices is lower.
type FlavorPreference string

// The preferences; the empty one is BorrowingOverPreemption.
const (
	BorrowingOverPreemption FlavorPreference = "BorrowingOverPreemption" // rather borrow than evict
	PreemptionOverBorrowing FlavorPreference = "PreemptionOverBorrowing" // rather evict than borrow
)

// Fungibility says how a flavor is chosen where several would do.
type Fungibility struct {
	WhenCanBorrow  FlavorChoice     `json:"whenCanBorrow,omitempty"`  // it fits if the queue borrows; empty: StopSearch
	WhenCanPreempt FlavorChoice     `json:"whenCanPreempt,omitempty"` // it fits if others go; empty: TryNextFlavor
	Preference     FlavorPreference `json:"preference,omitempty"`     // only if both are TryNextFlavor
}

// ClusterQueue is a queue of workloads with quota of its own. In a cohort it may
// borrow what other queues do not use, within its limits.
type ClusterQueue struct {
	Name   string          `json:"name"`
	Cohort string          `json:"cohort,omitempty"` // empty: it neither lends nor borrows
	Groups []ResourceGroup `json:"resourceGroups,omitempty"`

	Preemption  QueuePreemption `json:"preemption,omitzero"`
	Fungibility Fungibility     `json:"flavorFungibility,omitzero"`

	Weight *Weight `json:"weight,omitempty"` // its part under fair sharing; nil: 1

	// FairLocalQueues sorts the workloads of this queue that may be evicted by the
	// usage of their LocalQueue, highest first, before anything but eviction.
	FairLocalQueues bool `json:"fairLocalQueues,omitempty"`

	// Stopped says that it admits nothing new. Its quota and usage still count; its
	// workloads are not evicted for others.
	Stopped bool `json:"stopped,omitempty"`
}

// Cohort is an inner node of the tree of queues. One that is only named, by a
// ClusterQueue or another Cohort, exists without quota and limits.
type Cohort struct {
	Name   string          `json:"name"`
	Parent string          `json:"parent,omitempty"`
	Groups []ResourceGroup `json:"resourceGroups,omitempty"`
	Weight *Weight         `json:"weight,omitempty"` // nil: 1
}

// LocalQueue is a namespace's way into a ClusterQueue.
type LocalQueue struct {
	Namespace    string `json:"namespace,omitempty"`
	Name         string `json:"name"`
	ClusterQueue string `json:"clusterQueue"`
	Stopped      bool   `json:"stopped,omitempty"` // admits nothing new

	// Usage is what it has used lately, in any unit; read where its ClusterQueue
	// says FairLocalQueues. nil: not known, and its workloads go last.
	Usage *int64 `json:"usage,omitempty"`
}

// The kinds of objects of quota, beside [KindWorkload].
const (
	KindResourceFlavor Kind = "ResourceFlavor"
	KindClusterQueue   Kind = "ClusterQueue"
	KindCohort         Kind = "Cohort"
	KindLocalQueue     Kind = "LocalQueue"
)

// Validate reports everything in s that cannot be read.
func (s *QuotaObjects) Validate() error {
	var ps problems
	noNils(&ps, "ResourceFlavors", s.ResourceFlavors)
	noNils(&ps, "ClusterQueues", s.ClusterQueues)
	noNils(&ps, "Cohorts", s.Cohorts)
	noNils(&ps, "LocalQueues", s.LocalQueues)
	noNils(&ps, "Workloads", s.Workloads)
	noNils(&ps, "QuotaHolds", s.QuotaHolds)
	if len(ps) > 0 {
		return ps.err()
	}
	seen := make(map[Kind]map[PodKey]int)
	named := func(kind Kind, namespace, name string) object {
		o := ps.object(kind, namespace, name)
		o.named()
		if seen[kind] == nil {
			seen[kind] = make(map[PodKey]int)
		}
		if seen[kind][PodKey{namespace, name}]++; seen[kind][PodKey{namespace, name}] == 2 {
			o.bad("Name", quote(name), "unique")
		}
		return o
	}
	for _, f := range s.ResourceFlavors {
		o := named(KindResourceFlavor, "", f.Name)
		validateTaints(o, "NodeTaints", f.NodeTaints)
		validateTolerations(o, f.Tolerations)
	}
	for _, q := range s.ClusterQueues {
		o := named(KindClusterQueue, "", q.Name)
		validateGroups(o, q.Groups, q.Cohort != "", true)
		validateQueuePreemption(o, &q.Preemption)
		validateFungibility(o, q.Fungibility)
		validateWeight(o, q.Weight)
	}
	for _, c := range s.Cohorts {
		o := named(KindCohort, "", c.Name)
		validateGroups(o, c.Groups, c.Parent != "", false)
		validateWeight(o, c.Weight)
	}
	for _, q := range s.LocalQueues {
		o := named(KindLocalQueue, q.Namespace, q.Name)
		if q.ClusterQueue == "" {
			o.bad("ClusterQueue", quote(""), "a name")
		}
		if q.Usage != nil && *q.Usage < 0 {
			o.bad("Usage", number(*q.Usage), ">= 0")
		}
	}
	for _, w := range s.Workloads {
		named(KindWorkload, w.Namespace, w.Name)
		validateWorkload(&ps, w)
	}
	validateHolds(&ps, s)
	return ps.err()
}

func validateTaints(o object, field string, taints []Taint) {
	for i, t := range taints {
		if t.Key == "" {
			o.bad(index(field, i)+".Key", quote(""), "a key")
		}
		switch t.Effect {
		case NoSchedule, PreferNoSchedule, NoExecute:
		default:
			o.bad(index(field, i)+".Effect", quote(string(t.Effect)), "NoSchedule, PreferNoSchedule or NoExecute")
		}
	}
}

func validateGroups(o object, groups []ResourceGroup, hasParent, isQueue bool) {
	inGroup := make(map[string]int)
	flavors := make(map[string]bool)
	for i, g := range groups {
		at := index("Groups", i)
		if len(g.Flavors) == 0 {
			o.bad(at+".Flavors", "0", "at least one flavor")
			continue
		}
		covered := make(map[string]bool)
		for _, r := range g.Flavors[0].Resources {
			covered[r.Resource] = true
			if other, ok := inGroup[r.Resource]; ok && other != i {
				o.bad(at+".Flavors[0]", quote(r.Resource), "a resource of one group only")
			}
			inGroup[r.Resource] = i
		}
		for j, f := range g.Flavors {
			at := at + index(".Flavors", j)
			if f.Flavor == "" {
				o.bad(at+".Flavor", quote(""), "a name")
			}
			if flavors[f.Flavor] {
				o.bad(at+".Flavor", quote(f.Flavor), "a flavor named once")
			}
			flavors[f.Flavor] = true
			validateFlavorQuotas(o, at, &f, covered, hasParent, isQueue)
		}
	}
}

func validateFlavorQuotas(o object, at string, f *FlavorQuotas, covered map[string]bool, hasParent, isQueue bool) {
	seen := make(map[string]bool)
	for k, q := range f.Resources {
		at := at + index(".Resources", k)
		switch {
		case q.Resource == "":
			o.bad(at+".Resource", quote(""), "a name")
		case seen[q.Resource]:
			o.bad(at+".Resource", quote(q.Resource), "a resource named once")
		case !covered[q.Resource]:
			o.bad(at+".Resource", quote(q.Resource), "a resource of the group's first flavor")
		}
		seen[q.Resource] = true
		if q.Nominal < 0 {
			o.bad(at+".Nominal", number(q.Nominal), ">= 0")
		}
		validateLimit(o, at+".Borrowing", q.Borrowing, hasParent)
		validateLimit(o, at+".Lending", q.Lending, hasParent)
		if isQueue && q.Lending != nil && *q.Lending > q.Nominal {
			o.bad(at+".Lending", number(*q.Lending), "at most Nominal, "+number(q.Nominal))
		}
	}
	for _, r := range sortedNames(covered) {
		if !seen[r] {
			o.bad(at+".Resources", quote(r), "missing: every flavor of a group holds the same resources")
		}
	}
}

func validateLimit(o object, field string, limit *int64, hasParent bool) {
	switch {
	case limit == nil:
	case *limit < 0:
		o.bad(field, number(*limit), ">= 0")
	case !hasParent:
		o.bad(field, number(*limit), "absent, as there is no parent")
	}
}

func validateQueuePreemption(o object, p *QueuePreemption) {
	switch p.WithinClusterQueue {
	case "", QueueNever, LowerPriority, LowerOrNewerEqualPriority:
	default:
		o.bad("Preemption.WithinClusterQueue", quote(string(p.WithinClusterQueue)),
			"Never, LowerPriority, LowerOrNewerEqualPriority or empty")
	}
	switch p.ReclaimWithinCohort {
	case LowerPriority, AnyPriority:
	case "", QueueNever:
		if p.BorrowWithinCohort != nil {
			o.bad("Preemption.BorrowWithinCohort", "set", "absent, as ReclaimWithinCohort is Never")
		}
	case ReclaimFromLowerPriority, ReclaimFromAny:
		if p.BorrowWithinCohort != nil {
			o.bad("Preemption.BorrowWithinCohort", "set", "absent, as ReclaimWithinCohort is a policy of KEP-83")
		}
	default:
		o.bad("Preemption.ReclaimWithinCohort", quote(string(p.ReclaimWithinCohort)),
			"Never, LowerPriority, Any, ReclaimFromLowerPriority, ReclaimFromAny or empty")
	}
	if p.WaitSeconds < 0 {
		o.bad("Preemption.WaitSeconds", number(p.WaitSeconds), ">= 0")
	}
	seen := make(map[VictimOrder]bool)
	for i, by := range p.Order {
		switch by {
		case ByLowestPriority, ByLowestRuntime, ByLongestRuntime:
		default:
			o.bad(index("Preemption.Order", i), quote(string(by)), "ByLowestPriority, ByLowestRuntime or ByLongestRuntime")
		}
		if seen[by] {
			o.bad(index("Preemption.Order", i), quote(string(by)), "a criterion named once")
		}
		seen[by] = true
	}
}

func validateFungibility(o object, f Fungibility) {
	validateChoice(o, "Fungibility.WhenCanBorrow", f.WhenCanBorrow)
	validateChoice(o, "Fungibility.WhenCanPreempt", f.WhenCanPreempt)
	switch f.Preference {
	case "":
	case BorrowingOverPreemption, PreemptionOverBorrowing:
		if f.WhenCanBorrow != TryNextFlavor || f.WhenCanPreempt == StopSearch {
			o.bad("Fungibility.Preference", quote(string(f.Preference)), "empty, as not both choices are TryNextFlavor")
		}
	default:
		o.bad("Fungibility.Preference", quote(string(f.Preference)), "BorrowingOverPreemption, PreemptionOverBorrowing or empty")
	}
}

func validateChoice(o object, field string, c FlavorChoice) {
	switch c {
	case "", StopSearch, TryNextFlavor:
	default:
		o.bad(field, quote(string(c)), "MayStopSearch, TryNextFlavor or empty")
	}
}

func validateWeight(o object, w *Weight) {
	// Kueue refuses weights that are not 0 and not above a billionth.
	if w != nil && (*w < 0 || *w == 1) {
		o.bad("Weight", w.String(), "0 or above 0.000000001")
	}
}

// index writes field[i].
func index(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }
