package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/review"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// applyQuota carries out what r says about workloads: the preemptor is admitted or its
// quota held, and victims without pods are marked as evicted, or with remove give up their
// quota at once.
func (pl *Planner) applyQuota(r *Result, remove bool) error {
	isWorkload := func(v Victim) bool { return v.Kind == cluster.KindWorkload }
	if r.Preemptor.Kind != cluster.KindWorkload && !slices.ContainsFunc(r.Victims, isWorkload) {
		return nil
	}
	return pl.editQuota(func(m *workload.Model) error {
		if r.Preemptor.Kind == cluster.KindWorkload {
			if err := give(m, r); err != nil {
				return err
			}
		}
		for _, v := range r.Victims {
			if isWorkload(v) {
				if err := m.Evict(v.Namespace, v.Name, remove); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// give admits the workload of an answer that fits; else it holds its quota, or what the
// answer reserves. It fails without a change, or not at all.
func give(m *workload.Model, r *Result) error {
	w := m.Workload(r.Preemptor.Namespace, r.Preemptor.Name)
	adopted := w == nil
	if adopted {
		w = r.Preemptor.Inline.Clone().Workload
	}
	if r.Verdict == Fits {
		return m.Admit(w, r.Quota.ClusterQueue, review.Choices(r.Quota.Flavors), r.Quota.Counts)
	}
	if adopted {
		if err := m.Set(w); err != nil {
			return err
		}
	}
	h := &cluster.QuotaHold{Namespace: w.Namespace, Name: w.Name, ClusterQueue: r.Quota.ClusterQueue}
	amounts := r.Quota.Flavors
	if len(r.Quota.Reserved) > 0 {
		amounts = r.Quota.Reserved
	}
	for _, f := range amounts {
		h.Amounts = append(h.Amounts, cluster.HeldAmount{Flavor: f.Flavor, Resource: f.Resource, Amount: f.Amount})
	}
	for _, v := range r.Victims {
		if v.Kind == cluster.KindWorkload {
			h.Workloads = append(h.Workloads, cluster.PodKey{Namespace: v.Namespace, Name: v.Name})
		}
		for _, ref := range v.Pods {
			h.Pods = append(h.Pods, cluster.PodKey(ref.PodRef))
		}
	}
	m.Hold(h)
	return nil
}
