package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// evictWorkloads carries out what an answer about pods says about workloads that
// have none.
func (pl *Planner) evictWorkloads(r *Result, remove bool) error {
	if !slices.ContainsFunc(r.Victims, func(v Victim) bool { return v.Kind == cluster.KindWorkload }) {
		return nil
	}
	return pl.changeQuotaHeld(func(m *quotaModel) error {
		for _, v := range r.Victims {
			if v.Kind != cluster.KindWorkload {
				continue
			}
			if j := m.live.job(v.Namespace, v.Name); j != nil && j.r != nil {
				if err := m.set(j.evicted(remove)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// stillValidQueued is StillValid for an answer about pods that need quota too.
func stillValidQueued(q *question, m *quotaModel, local string, r *Result) (Validity, error) {
	j, err := q.compiled.queued.of(q.compiled, m)
	if err != nil {
		return Validity{}, err
	}
	s := newQueueSearch(q, j, local)
	refused, err := s.enter()
	switch {
	case err != nil:
		return Validity{}, err
	case refused != nil:
		return Validity{Replan, refused.Message}, nil
	case r.Quota == nil || s.jobs.ix.Name(s.queue) != r.Quota.ClusterQueue:
		return Validity{Replan, "it belongs to another queue by now"}, nil
	}
	if err := s.choose(); err != nil {
		return Validity{}, err
	}
	levels, err := s.domains()
	if err != nil {
		return Validity{}, err
	}
	for i := range s.offers {
		if r.Verdict == Feasible && s.fits(&s.offers[i], levels) != nil {
			return Validity{Cancel, "it fits without evicting anybody"}, nil
		}
	}
	return s.review(r), nil
}

// review looks whether answer r can be carried out as it is.
func (s *queueSearch) review(r *Result) Validity {
	request, ok := s.jobs.requestOf(r.Quota.Flavors)
	if !ok {
		return Validity{Replan, "a flavor that it takes is gone"}
	}
	trial := s.gangTrial()
	qs := s.search()
	var gone []cluster.PodID
	var leaving []*cluster.Reservation
	for _, v := range r.Victims {
		if v.Quota == nil {
			running, text := s.reviewVictim(v)
			if text != "" {
				return Validity{Replan, text}
			}
			gone = append(gone, running...)
			continue
		}
		held := s.heldBy(v)
		if held == nil {
			continue // has left
		}
		if text := s.reviewQueued(qs, held, request); text != "" {
			return Validity{Replan, key(v.Namespace, v.Name) + " " + text}
		}
		leaving = append(leaving, held)
	}
	if text := s.reviewBudgets(r); text != "" {
		return Validity{Replan, text}
	}
	for _, p := range gone {
		trial.Remove(p)
	}
	for _, held := range leaving {
		qs.usage.Remove(held.Queue, held.Usage)
		if job := s.jobs.of[held]; job != nil {
			for _, p := range job.pods {
				trial.Remove(p)
			}
		}
	}
	if !qs.usage.Fits(s.queue, request, true) {
		return Validity{Replan, "its quota does not suffice any more"}
	}
	return s.reviewNominations(r, trial)
}

// heldBy is what victim v still holds; nil: nothing.
func (s *queueSearch) heldBy(v Victim) *cluster.Reservation {
	for r, job := range s.jobs.of {
		for _, ref := range v.Pods {
			if p := s.ix.PodByName(ref.Namespace, ref.Name); p != cluster.NoPod && slices.Contains(job.pods, p) {
				return r
			}
		}
	}
	if v.Kind != cluster.KindWorkload {
		return nil
	}
	if s.jobs.live != nil {
		if j := s.jobs.live.job(v.Namespace, v.Name); j != nil {
			return j.r
		}
		return nil
	}
	for _, r := range s.jobs.ix.Reservations() {
		if r.Workload.Namespace == v.Namespace && r.Workload.Name == v.Name {
			return r
		}
	}
	return nil
}

// reviewQueued says why the rules of the queue do not let r go any more; empty if
// they do.
func (s *queueSearch) reviewQueued(qs *quotaSearch, r *cluster.Reservation, request []cluster.ColumnAmount) string {
	var columns []cluster.ColumnID
	for _, c := range request {
		columns = append(columns, c.Column)
	}
	policy := s.jobs.ix.Queue(s.queue).Preemption
	rule := victims.NewQuotaRule(policy.WithinClusterQueue, int64(s.w.Priority), cluster.Ordered(s.w))
	if r.Queue != s.queue {
		rule = victims.NewQuotaRule(policy.ReclaimWithinCohort, int64(s.w.Priority), cluster.Ordered(s.w))
		if s.jobs.tree.Root(r.Queue) != s.jobs.tree.Root(s.queue) || qs.usage.WithinNominal(r.Queue, columns) {
			return "does not borrow any more"
		}
	}
	if !rule.Allows(r) || s.jobs.ix.Inactive(r.Queue) != "" {
		return "may not be evicted any more"
	}
	return ""
}
