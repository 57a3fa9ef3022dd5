package cluster

import (
	"math/bits"
	"time"
)

// Workload is a job that is admitted as a whole by a ClusterQueue. One with an
// Admission holds quota there; one without waits in its Queue.
type Workload struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`   // breaks ties between equally important workloads
	Queue     string `json:"queue,omitempty"` // LocalQueue in the same namespace; a pending workload must have one

	// Priority plus Boost decides among workloads. 0 if not known.
	Priority int32 `json:"priority,omitempty"`
	Boost    int32 `json:"boost,omitempty"`

	Created time.Time `json:"created,omitzero"`

	// Requeued is when it went back into the queue through no fault of its own (an
	// admission check failed): it counts as its age in place of Created.
	Requeued time.Time `json:"requeued,omitzero"`

	PodSets   []PodSet   `json:"podSets"`
	Admission *Admission `json:"admission,omitempty"`

	// Evicted says that it has been told to stop; it still holds its quota. Such
	// workloads are taken first.
	Evicted bool `json:"evicted,omitempty"`

	// OnPreemption is handed on to whoever evicts it, unread.
	OnPreemption string `json:"onPreemption,omitempty"`
}

// Admission is the quota that a workload holds.
type Admission struct {
	ClusterQueue string    `json:"clusterQueue"`
	Reserved     time.Time `json:"reserved,omitzero"` // since when; zero: counts as Snapshot.Time
}

// PodSet is a number of equal pods of a workload.
type PodSet struct {
	Name     string    `json:"name"`
	Count    int32     `json:"count"`
	MinCount *int32    `json:"minCount,omitempty"` // it may start with as few as these; nil: all of Count
	Requests Resources `json:"requests,omitempty"` // of one pod; Pods is counted, not asked for

	// Group makes pod sets of one name take the same flavors.
	Group string `json:"group,omitempty"`

	Tolerations  []Toleration      `json:"tolerations,omitempty"`
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	NodeAffinity *NodeAffinity     `json:"nodeAffinity,omitempty"`

	// Of an admitted workload: the flavor of each resource, and how much it uses in
	// all. A resource without flavor uses no quota; a flavor without usage counts
	// Requests times Count.
	Flavors map[string]string `json:"flavors,omitempty"`
	Usage   Resources         `json:"usage,omitempty"`
}

// MaxUsage is the most that all workloads together may use of one flavor-resource,
// and the most that a preemptor may ask for, so that no sum of usage overflows.
const MaxUsage = 1<<62 - 1

// Used is how much of a resource the pods of s use together; false if that is
// above [MaxUsage].
func (s *PodSet) Used(resource string) (int64, bool) {
	if amount, ok := s.Usage[resource]; ok {
		return amount, amount <= MaxUsage
	}
	return s.Total(resource, s.Count)
}

// Total is how much of a resource count pods of s ask for; false if that is above
// [MaxUsage]. Of [Pods] it is count.
func (s *PodSet) Total(resource string, count int32) (int64, bool) {
	if resource == Pods {
		return int64(count), true
	}
	hi, lo := bits.Mul64(uint64(s.Requests[resource]), uint64(count))
	return int64(lo), hi == 0 && lo <= MaxUsage
}

// QuotaHold is quota that is kept for a workload since an answer about it was applied, until
// it is admitted: plans for others leave the amounts alone, and count the quota that those
// who leave for it still use as free for nobody but it. What is kept where nobody leaves binds no workload for which others do. A ClusterQueue, flavor, workload or pod
// that is not there any more counts for nothing.
type QuotaHold struct {
	Namespace    string       `json:"namespace,omitempty"` // of the workload, which is in the snapshot and not admitted
	Name         string       `json:"name"`
	ClusterQueue string       `json:"clusterQueue"`
	Amounts      []HeldAmount `json:"amounts,omitempty"`
	Workloads    []PodKey     `json:"workloads,omitempty"` // those that leave for it
	Pods         []PodKey     `json:"pods,omitempty"`      // likewise
}

// HeldAmount is an amount of one flavor-resource, in the resource's unit.
type HeldAmount struct {
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
	Amount   int64  `json:"amount"`
}

// Validate reports everything in w that cannot be read.
func (w *Workload) Validate() error {
	if w == nil {
		return nilProblem(KindWorkload)
	}
	var ps problems
	w.validate(&ps)
	return ps.err()
}

func (w *Workload) validate(ps *problems) {
	ps.object(KindWorkload, w.Namespace, w.Name).named()
	validateWorkload(ps, w)
}

func validateWorkload(ps *problems, w *Workload) {
	o := ps.object(KindWorkload, w.Namespace, w.Name)
	if len(w.PodSets) == 0 {
		o.bad("PodSets", "0", "at least one pod set")
	}
	if w.Admission != nil && w.Admission.ClusterQueue == "" {
		o.bad("Admission.ClusterQueue", quote(""), "a name")
	}
	validateWritable(o, "Created", w.Created)
	validateWritable(o, "Requeued", w.Requeued)
	if w.Admission != nil {
		validateWritable(o, "Admission.Reserved", w.Admission.Reserved)
	}
	seen := make(map[string]bool)
	for i := range w.PodSets {
		set := &w.PodSets[i]
		at := index("PodSets", i)
		if seen[set.Name] {
			o.bad(at+".Name", quote(set.Name), "unique in the workload")
		}
		seen[set.Name] = true
		if set.Count < 0 {
			o.bad(at+".Count", number(set.Count), ">= 0")
		}
		if m := set.MinCount; m != nil && (*m < 1 || *m > set.Count) {
			o.bad(at+".MinCount", number(*m), "between 1 and Count, "+number(set.Count))
		}
		validateAmounts(o, at+".Requests", set.Requests)
		validateAmounts(o, at+".Usage", set.Usage)
		if n, ok := set.Requests[Pods]; ok {
			o.bad(at+".Requests["+Pods+"]", number(n), "absent: pods are counted")
		}
		for _, r := range sortedNames(set.Flavors) {
			if r == "" || set.Flavors[r] == "" {
				o.bad(at+".Flavors["+r+"]", quote(set.Flavors[r]), "a flavor of a resource")
			}
		}
		validateTolerations(o, set.Tolerations)
		validateNodeAffinity(o, set.NodeAffinity)
	}
}

// validateHolds reports holds that are for no workload that waits, or can't be added up.
func validateHolds(ps *problems, s *QuotaObjects) {
	if len(s.QuotaHolds) == 0 {
		return
	}
	workloads, held := make(map[PodKey]*Workload, len(s.Workloads)), map[PodKey]bool{}
	for _, w := range s.Workloads {
		workloads[PodKey{w.Namespace, w.Name}] = w
	}
	for i, h := range s.QuotaHolds {
		o, at, of := ps.object(KindSnapshot, "", ""), index("QuotaHolds", i), PodKey{h.Namespace, h.Name}
		switch w := workloads[of]; {
		case w == nil:
			o.bad(at+".Name", quote(h.Name), "a workload of the snapshot")
		case w.Admission != nil:
			o.bad(at+".Name", quote(h.Name), "a workload without an Admission")
		case held[of]:
			o.bad(at+".Name", quote(h.Name), "named once")
		}
		held[of] = true
		for j, a := range h.Amounts {
			if a.Amount < 0 || a.Amount > MaxUsage {
				o.bad(at+index(".Amounts", j)+".Amount", number(a.Amount), "from 0 to 2^62-1")
			}
		}
	}
}
