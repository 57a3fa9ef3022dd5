package preemption

import (
	"fmt"

	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// applyWorkload begins to carry out an answer about a workload: one that fits is
// admitted; for one that evicts others its quota is held, and they are marked as
// evicted or with remove give up their quota at once; for one that waits its quota
// is held, and for one without victims what it reserves.
func (pl *Planner) applyWorkload(r *Result, remove bool) error {
	if r.Verdict != Infeasible {
		v, err := pl.stillValidWorkload(r)
		if err != nil {
			return err
		}
		if v.Advice != Keep {
			return fmt.Errorf("%w: %s: %s", ErrNotApplicable, v.Advice, v.Reason)
		}
	} else if r.Quota == nil || len(r.Quota.Reserved) == 0 {
		return fmt.Errorf("%w: the verdict is %q", ErrNotApplicable, r.Verdict)
	}
	return pl.changeQuotaHeld(func(m *quotaModel) error { return m.apply(r, remove) })
}

func (m *quotaModel) apply(r *Result, remove bool) error {
	w := m.workload(r.Preemptor.Namespace, r.Preemptor.Name)
	if w == nil && r.Preemptor.Inline != nil {
		inline := r.Preemptor.Inline.Clone()
		w = inline.Workload
		if err := m.set(w); err != nil {
			return err
		}
	}
	if w == nil {
		return missing(false, cluster.KindWorkload, r.Preemptor.Namespace, r.Preemptor.Name)
	}
	if r.Verdict == Fits {
		return m.set(m.admitted(w, r.Quota))
	}
	h := quotaHold{namespace: w.Namespace, name: w.Name, queue: r.Quota.ClusterQueue, flavors: r.Quota.Flavors}
	if r.Verdict == Infeasible {
		h.flavors = r.Quota.Reserved
	}
	for _, v := range r.Victims {
		j := m.live.job(v.Namespace, v.Name)
		if j == nil || j.r == nil {
			continue // has left
		}
		if err := m.set(j.evicted(remove)); err != nil {
			return err
		}
		h.victims = append(h.victims, PodRef{v.Namespace, v.Name})
	}
	m.live.hold(m.ix, h)
	return nil
}

// admitted is w with the quota that q gives it.
func (m *quotaModel) admitted(w *Workload, q *QuotaResult) *Workload {
	out := *w
	out.Admission = &cluster.Admission{ClusterQueue: q.ClusterQueue, Reserved: nanosTime(m.now)}
	out.Evicted = false
	out.PodSets = make([]cluster.PodSet, len(w.PodSets))
	for i, set := range w.PodSets {
		if q.Counts != nil {
			set.Count, set.MinCount = q.Counts[i], nil
		}
		set.Flavors, set.Usage = map[string]string{}, cluster.Resources{}
		for _, f := range q.Flavors {
			if f.PodSet == set.Name {
				set.Flavors[f.Resource], set.Usage[f.Resource] = f.Flavor, f.Amount
			}
		}
		out.PodSets[i] = set
	}
	return &out
}

// evicted is the workload on its way out, or back in its queue.
func (j *quotaJob) evicted(gone bool) *Workload {
	out := *j.w
	out.Evicted = !gone
	if gone {
		out.Admission = nil
	}
	return &out
}

// stillValidWorkload is StillValid for an answer about a workload.
func (pl *Planner) stillValidWorkload(r *Result) (Validity, error) {
	switch r.Verdict {
	case Feasible, Fits, Waiting:
	default:
		return Validity{}, fmt.Errorf("%w: the verdict is %q", ErrNotApplicable, r.Verdict)
	}
	_ = pl.changeQuotaHeld(func(*quotaModel) error { return nil }) // so that victims can be found by name
	m := pl.openQuota()
	m.mu.RLock()
	defer m.mu.RUnlock()
	name := key(r.Preemptor.Namespace, r.Preemptor.Name)
	w := m.workload(r.Preemptor.Namespace, r.Preemptor.Name)
	switch {
	case w == nil && r.Preemptor.Inline != nil:
		w = r.Preemptor.Inline.Workload
	case w == nil:
		return Validity{Cancel, name + " is gone"}, nil
	case w.Admission != nil:
		return Validity{Cancel, name + " holds quota already"}, nil
	}
	q := m.ix.QueueByName(r.Quota.ClusterQueue)
	if q == cluster.NoQuota || m.ix.Inactive(q) != "" {
		return Validity{Replan, r.Quota.ClusterQueue + " admits nothing any more"}, nil
	}
	return m.search(w, q).review(r, w, q), nil
}

// review looks whether answer r can be carried out as it is.
func (s *quotaSearch) review(r *Result, w *Workload, q cluster.QuotaID) Validity {
	request, ok := s.requestOf(r.Quota.Flavors)
	if !ok {
		return Validity{Replan, "a flavor that it takes is gone"}
	}
	fits := s.usage.Fits(q, request, true)
	now := fits && s.quotaModel.usage.Fits(q, request, true)
	switch r.Verdict {
	case Fits:
		if now {
			return Validity{Keep, "it fits"}
		}
		return Validity{Replan, "it does not fit any more"}
	case Waiting:
		switch {
		case now:
			return Validity{Replan, "it fits by now"}
		case fits:
			return Validity{Keep, "it fits once the victims of others have left"}
		}
		return Validity{Replan, "it would not fit even without the victims of others"}
	}
	if now {
		return Validity{Cancel, "it fits without evicting anybody"}
	}
	if text := s.reviewVictims(r, w, q); text != "" {
		return Validity{Replan, text}
	}
	if !s.usage.Fits(q, request, true) {
		return Validity{Replan, "it does not fit even once the victims are gone"}
	}
	return Validity{Keep, "it fits once the victims are gone"}
}

// reviewVictims says which victim may not be evicted any more, empty if all may. It
// takes away what those still use.
func (s *quotaSearch) reviewVictims(r *Result, w *Workload, q cluster.QuotaID) string {
	var contested []cluster.ColumnID
	for _, f := range r.Quota.Flavors {
		if c := s.ix.Column(f.Flavor, f.Resource); f.Contested && c != cluster.NoColumn {
			contested = append(contested, c)
		}
	}
	policy := s.ix.Queue(q).Preemption
	var leaving []*cluster.Reservation
	for _, v := range r.Victims {
		name := key(v.Namespace, v.Name)
		j := s.live.job(v.Namespace, v.Name)
		if j == nil || j.r == nil {
			continue // has left
		}
		rule := victims.NewQuotaRule(policy.WithinClusterQueue, int64(w.Priority)+int64(w.Boost), cluster.Ordered(w))
		if j.r.Queue != q {
			rule = victims.NewQuotaRule(policy.ReclaimWithinCohort, int64(w.Priority)+int64(w.Boost), cluster.Ordered(w))
			if s.tree.Root(j.r.Queue) != s.tree.Root(q) || s.usage.WithinNominal(j.r.Queue, contested) {
				return name + " does not borrow any more"
			}
		}
		switch {
		case s.search.Gone[j.r]:
			return name + " leaves for somebody else"
		case !rule.Allows(j.r) || s.ix.Inactive(j.r.Queue) != "":
			return name + " may not be evicted any more"
		}
		leaving = append(leaving, j.r)
	}
	for _, v := range leaving {
		s.usage.Remove(v.Queue, v.Usage)
	}
	return ""
}

// requestOf adds up flavors; false if one of them is not there any more.
func (m *quotaModel) requestOf(flavors []FlavorChoice) ([]cluster.ColumnAmount, bool) {
	sums := make([]int64, m.ix.NumColumns())
	for _, f := range flavors {
		c := m.ix.Column(f.Flavor, f.Resource)
		if c == cluster.NoColumn {
			return nil, false
		}
		sums[c] = quota.Add(sums[c], f.Amount)
	}
	var request []cluster.ColumnAmount
	for c, v := range sums {
		if v > 0 {
			request = append(request, cluster.ColumnAmount{Column: cluster.ColumnID(c), Amount: v})
		}
	}
	return request, true
}
