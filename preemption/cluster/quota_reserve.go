package cluster

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// compileWorkloads lists the workloads and compiles those that hold quota.
func (ix *QuotaIndex) compileWorkloads(ps *problems, s *QuotaObjects) {
	ix.workloads = make(map[PodKey]*Workload, len(s.Workloads))
	for _, w := range s.Workloads {
		ix.workloads[PodKey{w.Namespace, w.Name}] = w
		if w.Admission == nil {
			continue
		}
		if r := ix.reserve(ps, &ix.warnings, w, ix.now); r != nil {
			ix.reservations = append(ix.reservations, r)
		}
	}
	slices.SortFunc(ix.reservations, func(a, b *Reservation) int {
		return cmp.Or(
			strings.Compare(a.Workload.Namespace, b.Workload.Namespace),
			strings.Compare(a.Workload.Name, b.Workload.Name))
	})
	used := make([]int64, len(ix.columns))
	for _, r := range ix.reservations {
		for _, u := range r.Usage {
			if u.Amount > MaxUsage-used[u.Column] {
				w := r.Workload
				ps.object(KindWorkload, w.Namespace, w.Name).bad("PodSets", number(u.Amount)+" "+ix.ResourceName(u.Column),
					"so little that all workloads together use at most 2^62-1")
				continue
			}
			used[u.Column] += u.Amount
		}
	}
}

// MaxUsage is the most that all workloads together may use of one flavor-resource,
// and the most that a preemptor may ask for, so that no sum of usage overflows.
const MaxUsage = 1<<62 - 1

// Reserve checks and compiles one workload that holds quota. The reservation is
// nil if its ClusterQueue is not in the index or part of a cycle of cohorts; the
// warnings say so. now, as [Nanos], stands for a time that is not known. It keeps
// the pointer to w.
func (ix *QuotaIndex) Reserve(w *Workload, now int64) (*Reservation, []Warning, error) {
	var ps problems
	var warnings []Warning
	validateWorkload(&ps, w)
	if err := ps.err(); err != nil {
		return nil, nil, err
	}
	r := ix.reserve(&ps, &warnings, w, now)
	if err := ps.err(); err != nil {
		return nil, nil, err
	}
	sortWarnings(warnings)
	return r, warnings, nil
}

func (ix *QuotaIndex) reserve(ps *problems, warnings *[]Warning, w *Workload, now int64) *Reservation {
	warn := func(field, value, text string) {
		*warnings = append(*warnings, Warning{KindWorkload, w.Namespace, w.Name, field, value, text})
	}
	q := ix.QueueByName(w.Admission.ClusterQueue)
	if q == NoQuota {
		warn("Admission.ClusterQueue", w.Admission.ClusterQueue, "there is no such active queue: the workload is left out")
		return nil
	}
	r := &Reservation{
		Workload: w,
		Queue:    q,
		Priority: int64(w.Priority) + int64(w.Boost),
		Ordered:  Ordered(w),
		Reserved: now,
		Evicted:  w.Evicted,
	}
	if !w.Admission.Reserved.IsZero() {
		r.Reserved = Nanos(w.Admission.Reserved)
	}
	if ix.queues[q].FairLocalQueues {
		r.LocalUsage = 1 // after every known usage
		if lq := ix.localQueues[PodKey{w.Namespace, w.Queue}]; lq != nil && lq.Usage != nil {
			r.LocalUsage = -*lq.Usage
		}
	}
	used := make(map[ColumnID]int64, 4)
	o, good := ps.object(KindWorkload, w.Namespace, w.Name), true
	for i := range w.PodSets {
		set := &w.PodSets[i]
		for _, resource := range sortedNames(set.Flavors) {
			amount, ok := set.total(resource)
			if !ok {
				o.bad(index("PodSets", i)+"["+resource+"]", "too much", "at most 2^62-1 in all")
				good = false
				continue
			}
			c := ix.Column(set.Flavors[resource], resource)
			if c == NoColumn {
				warn(index("PodSets", i)+".Flavors["+resource+"]", set.Flavors[resource], "nobody has quota of it: not counted")
				continue
			}
			if amount > MaxUsage-used[c] {
				o.bad(index("PodSets", i)+"["+resource+"]", number(amount), "at most 2^62-1 in all, with the pod sets before")
				good = false
				continue
			}
			used[c] += amount
		}
	}
	if !good {
		return nil
	}
	for c, amount := range used {
		r.Usage = append(r.Usage, ColumnAmount{c, amount})
	}
	slices.SortFunc(r.Usage, func(a, b ColumnAmount) int { return cmp.Compare(a.Column, b.Column) })
	return r
}

// Ordered is a workload's age in the queue as [Nanos]: Requeued if known, else
// Created. Later is newer; an unknown age is the newest.
func Ordered(w *Workload) int64 {
	if !w.Requeued.IsZero() {
		return Nanos(w.Requeued)
	}
	return Nanos(w.Created)
}

// total is how much of a resource the pods of s use together; false if that is
// above MaxUsage.
func (s *PodSet) total(resource string) (int64, bool) {
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
