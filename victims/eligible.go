package victims

import (
	"fmt"
	"slices"
	"time"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Eligible says who may be evicted for whom. [LowerPriority] is upstream's rule.
type Eligible interface {
	// Kept says why unit u may not be evicted for p; the zero Kept: it may. Equal
	// arguments give equal answers.
	Kept(us *Units, u UnitID, p Claim) Kept
}

// Claim is what eligibility reads of a preemptor.
type Claim struct {
	Priority   int32
	RanSeconds int64     // how long it ran before it was last evicted; 0: it never was
	Evicted    time.Time // when that was; zero: never
}

// Add lets c have run for as long as one of its pods or its group, and be evicted when that was.
func (c *Claim) Add(ranSeconds int64, evictions []time.Time) {
	c.RanSeconds = max(c.RanSeconds, ranSeconds)
	for _, t := range evictions {
		if t.After(c.Evicted) {
			c.Evicted = t
		}
	}
}

// Kept is why a unit may not be evicted. The zero Kept says that it may.
type Kept struct {
	Rule KeptRule

	Priority int32 // KeptPriority: what the unit is eligible by
	Below    int32 // KeptToleration: preemptors of at least this priority are not kept off

	// Seconds is for how much longer, rounded up; 0: for ever, or until something
	// else changes.
	Seconds int64

	Detail string // what else there is to say
}

// OK reports whether the unit may be evicted.
func (k Kept) OK() bool { return k.Rule == "" }

// KeptRule names the rule that keeps a unit.
type KeptRule string

// The rules, in order of precedence: where several keep a unit, the first is named.
const (
	KeptPriority   KeptRule = "priority"     // it is at least as important as the preemptor
	KeptEqual      KeptRule = "equal"        // it is as important, and has not run long enough or not as long as the preemptor
	KeptStandby    KeptRule = "standby"      // it must never go
	KeptLabel      KeptRule = "label"        // the options protect its labels
	KeptToleration KeptRule = "toleration"   // its class tolerates preemption
	KeptRunning    KeptRule = "running time" // it is guaranteed to run for longer
	KeptCooldown   KeptRule = "cool-down"    // it was evicted too often lately
)

// String is the reason in words, after "kept: ".
func (k Kept) String() string {
	longer := ""
	if k.Seconds > 0 {
		longer = " for another " + words.Seconds(k.Seconds)
	}
	switch k.Rule {
	case "":
		return "may be evicted"
	case KeptPriority:
		return fmt.Sprintf("its priority %d is not below the preemptor's", k.Priority)
	case KeptEqual:
		return k.Detail + longer
	case KeptStandby:
		return "on standby, it never goes"
	case KeptLabel:
		return "its labels protect it"
	case KeptToleration:
		if k.Detail != "" {
			return k.Detail
		}
		return fmt.Sprintf("tolerates preemption below %d%s", k.Below, longer)
	case KeptRunning:
		return "is guaranteed to run" + longer
	case KeptCooldown:
		return k.Detail + longer
	case KeptQueue:
		return k.Detail
	}
	return string(k.Rule) + " " + k.Detail + longer
}

// LowerPriority is the default Eligible: a unit may be evicted if what it is
// eligible by is below the preemptor's priority.
type LowerPriority struct {
	// EqualAfterSeconds lets a unit be evicted for a preemptor of equal priority once
	// it has run that long, unless the preemptor ran longer, or was itself evicted
	// less than that long ago. 0: never; nor where the snapshot has no time, or a pod
	// of the unit has not started.
	EqualAfterSeconds int64
}

// Kept compares priorities.
func (l LowerPriority) Kept(us *Units, u UnitID, p Claim) Kept {
	unit := us.Unit(u)
	if unit.Level < p.Priority {
		return Kept{}
	}
	if l.EqualAfterSeconds == 0 || unit.Level > p.Priority {
		return Kept{Rule: KeptPriority, Priority: unit.Level}
	}
	if ago, known := us.ix.Elapsed(p.Evicted); known && ago < l.EqualAfterSeconds {
		return Kept{Rule: KeptEqual, Seconds: l.EqualAfterSeconds - ago, Detail: "as important as the preemptor, which was evicted lately: safe"}
	}
	if us.ix.Time().IsZero() {
		return Kept{Rule: KeptEqual, Detail: "as important as the preemptor, and nobody knows the time: safe from its equals"}
	}
	current := us.runs(u)
	if current < l.EqualAfterSeconds {
		return Kept{Rule: KeptEqual, Seconds: l.EqualAfterSeconds - current, Detail: "as important as the preemptor, safe from its equals"}
	}
	if us.ran(u) < p.RanSeconds-min(current, p.RanSeconds) {
		return Kept{Rule: KeptEqual, Detail: "as important as the preemptor, which ran longer"}
	}
	return Kept{}
}

// runs is for how many seconds every pod of unit u has been running.
func (us *Units) runs(u UnitID) int64 {
	least := int64(-1)
	for _, p := range us.Unit(u).Pods {
		s, _ := us.ix.Elapsed(us.ix.Pod(p).Started)
		if least < 0 || s < least {
			least = s
		}
	}
	return least
}

// ran is how long unit u ran before its latest eviction, in seconds.
func (us *Units) ran(u UnitID) int64 {
	unit := us.Unit(u)
	most := int64(0)
	if unit.Group != cluster.NoGroup {
		most = us.ix.Group(unit.Group).RanSeconds()
	}
	for _, p := range unit.Pods {
		most = max(most, us.ix.Pod(p).RanSeconds)
	}
	return most
}

// UnitRule says how units are formed and ranked. It is data; the generations of
// upstream rules differ in nothing else here.
type UnitRule struct {
	// Atomic makes one unit of all pods beneath the highest group of mode All.
	// Without it every pod is a unit.
	Atomic bool

	// HighestAll climbs to the highest All ancestor; without it only the pod's own
	// group is looked at.
	HighestAll bool

	// RootPriority gives a unit the priority of the root of its tree of groups.
	// Without it an All unit has its group's priority and a pod its own.
	RootPriority bool

	// PreemptionPriority: who may be evicted is decided by preemption priority, apart
	// from the priority that orders.
	PreemptionPriority bool

	// ByGroup makes a pod that names a group more important than one of equal priority
	// that names none.
	ByGroup bool

	// ByKind orders equals in priority by kind of unit: a composite group, then a pod group
	// or a pod of one, then any other pod.
	ByKind bool
}

// The rules of the generations. Source: spec of kube-scheduler v1.36 (a single pod
// never sees groups; a group does), KEP-5710 beta and early text.
var (
	Pods136   = UnitRule{}
	Groups136 = UnitRule{Atomic: true, ByGroup: true}
	Units137  = UnitRule{Atomic: true, HighestAll: true, RootPriority: true, ByKind: true}
	UnitsKEP  = UnitRule{Atomic: true, HighestAll: true, RootPriority: true, ByKind: true, PreemptionPriority: true}
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
