package preemption

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// applyQuota carries out what r says about workloads: the preemptor is admitted or its
// quota held, and victims without pods are marked as evicted, or with remove give up their
// quota at once.
func (e edit) applyQuota(r *Result, remove bool) error {
	isWorkload := func(v Victim) bool { return v.Kind == cluster.KindWorkload }
	if r.Preemptor.Kind != cluster.KindWorkload && !slices.ContainsFunc(r.Victims, isWorkload) {
		return nil
	}
	return e.pl.editQuota(func(m *workload.Model) error {
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
		return m.Admit(w, r.Quota.ClusterQueue, choices(r.Quota.Flavors), r.Quota.Counts)
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

func choices(list []FlavorChoice) []workload.Choice {
	out := make([]workload.Choice, len(list))
	for i, f := range list {
		out[i] = workload.Choice{Set: f.PodSet, Resource: f.Resource, Flavor: f.Flavor, Amount: f.Amount}
	}
	return out
}

// reviewWorkload is review for an answer about a workload.
func reviewWorkload(c *live.Cluster, r *Result, m *workload.Model) (Validity, error) {
	m, err := c.Queued.On(c.Index, m)
	if err != nil {
		return Validity{}, err
	}
	m.Mu.RLock()
	defer m.Mu.RUnlock()
	name := words.Key(r.Preemptor.Namespace, r.Preemptor.Name)
	w := m.Workload(r.Preemptor.Namespace, r.Preemptor.Name)
	if w == nil && r.Preemptor.Inline != nil {
		w = r.Preemptor.Inline.Workload
	}
	switch {
	case w == nil:
		return cancel(name + " is gone"), nil
	case w.Admission != nil:
		return cancel(name + " holds quota already"), nil
	}
	q, refused, err := m.QueueOf(w)
	if err == nil {
		err = workload.CheckAmounts(w)
	}
	if text, ok := unreadable(err); ok {
		return replan(text), nil
	}
	switch {
	case err != nil:
		return Validity{}, err
	case refused != workload.NotRefused:
		return replan(refusal(m, w, refused)), nil
	case m.Index.Name(q) != r.Quota.ClusterQueue:
		return replan("it belongs to another queue by now"), nil
	}
	return reviewPlan(c.Index, m, w, q, r), nil
}

// reviewPlan looks whether answer r about workload w of queue q can be carried out as it is.
func reviewPlan(ix *cluster.Index, m *workload.Model, w *Workload, q cluster.QuotaID, r *Result) Validity {
	s := m.Search(w, q)
	defer m.Keep(s)
	if len(r.Quota.Reserved) > 0 {
		if misfit := s.ReviewReserved(w, q, choices(r.Quota.Reserved)); misfit.Kind != workload.NoMisfit {
			return replan(misfitText(m, misfit))
		}
		return keep("it reserves what its queue has")
	}
	given := choices(r.Quota.Flavors)
	if misfit := m.Review(w, q, given, r.Quota.Counts); misfit.Kind != workload.NoMisfit {
		return replan(misfitText(m, misfit))
	}
	request, contested := s.Request(q, given)
	fits := len(contested) == 0 && s.Usage.Fits(q, request, true)
	now := fits && m.FitsNow(q, request)
	switch {
	case r.Verdict == Fits && now:
		return keep("it fits")
	case r.Verdict == Fits:
		return replan("it does not fit any more")
	case r.Verdict == Waiting && now:
		return replan("it fits by now")
	case r.Verdict == Waiting && fits:
		return keep("it fits" + leftLater)
	case r.Verdict == Waiting:
		return replan("it would not fit even without the victims of others")
	case now:
		return cancel("it fits without evicting anybody")
	case fits:
		return replan("it fits" + leftLater)
	}
	held, text := reviewHolders(ix, s, r.Victims, w, q, contested)
	switch wait := m.Waits(w, q); {
	case text != "":
		return replan(text)
	case wait > 0 && slices.ContainsFunc(held, func(r *cluster.Reservation) bool { return !r.Evicted }):
		return replan(waiting(wait))
	case !s.Usage.Fits(q, request, true):
		return replan("it does not fit even once the victims are gone")
	}
	return keep("it fits once the victims are gone")
}

// misfitText says how what an answer gives a workload is not what it may take.
func misfitText(m *workload.Model, f workload.Misfit) string {
	c := f.Choice
	switch f.Kind {
	case workload.CountsMissing:
		return fmt.Sprintf("it has %s, and counts of %d", words.Count(int(f.Most), "pod set"), c.Amount)
	case workload.CountBeyond:
		return fmt.Sprintf("pod set %q starts with %d to %d pods, not with %d", c.Set, f.Least, f.Most, c.Amount)
	case workload.FlavorGone:
		return "its queue has no flavor " + c.Flavor + " any more"
	case workload.Unsuited:
		return objection(m, f.Objection)
	case workload.NothingAsked:
		return fmt.Sprintf("pod set %q asks for no %s", c.Set, c.Resource)
	case workload.ResourceGone:
		return "its queue has no quota of " + c.Resource
	case workload.NothingTaken:
		return fmt.Sprintf("pod set %q takes no flavor of %s", c.Set, c.Resource)
	case workload.AmountDiffers:
		return fmt.Sprintf("pod set %q takes %d %s, and asks for %d", c.Set, c.Amount, c.Resource, f.Most)
	case workload.TwoFlavors:
		return fmt.Sprintf("pod set %q takes flavor %s of %s beside %s", c.Set, c.Flavor, c.Resource, f.Other)
	case workload.Reclaims:
		return "its queue gets its quota back from anybody: it reserves none"
	case workload.NotOfQueue:
		return fmt.Sprintf("its queue has no %s of flavor %s", c.Resource, c.Flavor)
	}
	return fmt.Sprintf("it may not keep %d %s of flavor %s", c.Amount, c.Resource, c.Flavor)
}
