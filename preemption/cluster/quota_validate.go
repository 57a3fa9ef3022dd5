package cluster

import "strconv"

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

// index writes field[i].
func index(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }
