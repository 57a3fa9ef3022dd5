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
