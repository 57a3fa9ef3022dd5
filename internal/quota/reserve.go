package quota

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// compileWorkloads lists the workloads and compiles those that hold quota.
func (ix *Index) compileWorkloads(ps *problemList, s *cluster.QuotaObjects) {
	ix.workloads = make(map[cluster.PodKey]*cluster.Workload, len(s.Workloads))
	for _, w := range s.Workloads {
		ix.workloads[cluster.PodKey{Namespace: w.Namespace, Name: w.Name}] = w
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
			if u.Amount > cluster.MaxUsage-used[u.Column] {
				w := r.Workload
				ps.add(cluster.KindWorkload, w.Namespace, w.Name, "PodSets", fmt.Sprint(u.Amount, " ", ix.ResourceName(u.Column)),
					"so little that all workloads together use at most 2^62-1")
				continue
			}
			used[u.Column] += u.Amount
		}
	}
}

// Reserve checks and compiles one workload that holds quota. The reservation is
// nil if its ClusterQueue is not in the index or part of a cycle of cohorts; the
// warnings say so. now, as [Nanos], stands for a time that is not known. It keeps
// the pointer to w.
func (ix *Index) Reserve(w *cluster.Workload, now int64) (*Reservation, []cluster.Warning, error) {
	var ps problemList
	var warnings []cluster.Warning
	if err := w.Validate(); err != nil {
		return nil, nil, err
	}
	r := ix.reserve(&ps, &warnings, w, now)
	if err := problems.Sorted(ps); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(warnings, cluster.Warning.Compare)
	return r, warnings, nil
}

func (ix *Index) reserve(ps *problemList, warnings *[]cluster.Warning, w *cluster.Workload, now int64) *Reservation {
	warn := func(field, value, text string) {
		*warnings = append(*warnings, cluster.Warning{Kind: cluster.KindWorkload, Namespace: w.Namespace, Name: w.Name, Field: field, Value: value, Text: text})
	}
	q := ix.QueueByName(w.Admission.ClusterQueue)
	if q == NoHolder {
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
		r.Reserved = cluster.Nanos(w.Admission.Reserved)
	}
	if ix.queues[q].FairLocalQueues {
		r.LocalUsage = 1 // after every known usage
		if lq := ix.localQueues[cluster.PodKey{Namespace: w.Namespace, Name: w.Queue}]; lq != nil && lq.Usage != nil {
			r.LocalUsage = -*lq.Usage
		}
	}
	used := make(map[ColumnID]int64, 4)
	good := true
	bad := func(set int, resource, value, want string) {
		ps.add(cluster.KindWorkload, w.Namespace, w.Name, fmt.Sprintf("PodSets[%d][%s]", set, resource), value, want)
		good = false
	}
	for i := range w.PodSets {
		set := &w.PodSets[i]
		for _, resource := range slices.Sorted(maps.Keys(set.Flavors)) {
			amount, ok := set.Used(resource)
			if !ok {
				bad(i, resource, "too much", "at most 2^62-1 in all")
				continue
			}
			c := ix.Column(set.Flavors[resource], resource)
			if c == NoColumn {
				warn(fmt.Sprintf("PodSets[%d].Flavors[%s]", i, resource), set.Flavors[resource], "nobody has quota of it: not counted")
				continue
			}
			if amount > cluster.MaxUsage-used[c] {
				bad(i, resource, strconv.FormatInt(amount, 10), "at most 2^62-1 in all, with the pod sets before")
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
func Ordered(w *cluster.Workload) int64 {
	if !w.Requeued.IsZero() {
		return cluster.Nanos(w.Requeued)
	}
	return cluster.Nanos(w.Created)
}
