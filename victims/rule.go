package victims

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

	// Rank orders by kind of unit before anything but priority.
	Rank Rank
}

// Rank says how kinds of units are ordered among equals in priority.
type Rank int

// The ranks, higher is more worth keeping.
const (
	NoRank        Rank = iota // all alike
	RankGrouped               // a pod that names a group before a pod that does not
	RankGroupKind             // composite group, then pod group or a pod of one, then pod
)

// The rules of the generations. Source: spec of kube-scheduler v1.36 (a single pod
// never sees groups; a group does), KEP-5710 beta and early text.
var (
	Pods136   = UnitRule{}
	Groups136 = UnitRule{Atomic: true, Rank: RankGrouped}
	Units137  = UnitRule{Atomic: true, HighestAll: true, RootPriority: true, Rank: RankGroupKind}
	UnitsKEP  = UnitRule{Atomic: true, HighestAll: true, RootPriority: true, Rank: RankGroupKind, PreemptionPriority: true}
)
