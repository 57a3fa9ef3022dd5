package preemption

import (
	"errors"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/review"
	"github.com/preempt-go/preempt/preemption/internal/tell"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// ErrNotApplicable matches the error of Apply and Evict for a result that is no
// plan, or is not valid any more.
var ErrNotApplicable = errors.New("preemption: result cannot be applied")

// Apply begins to carry r out: it marks the victims as terminating by preemption
// (they hold their room and stay potential victims, as in a cluster), sets the
// nominations and withdraws those that r clears. An inline preemptor's pods are
// added as pending. Where Options.Limits has a window, what r takes is noted for it at
// the model's time: pods that have been told to go already, by r or another answer, were
// noted then, so that r may be applied again, or evicted after that. What pods and groups
// say of their own earlier evictions is for whoever resubmits them to set. Where r is no
// plan or [Planner.StillValid] does not say Keep, nothing is changed and the error matches
// ErrNotApplicable; what is wrong with r itself, a [*cluster.FieldError] of kind Result
// tells. No other change comes between the check and what follows.
//
// An answer about a [Workload] admits it if it fits; else its quota is held for it,
// its victims are marked as evicted and plans for others leave both alone, until it
// is admitted, removed or released (see [Planner.Release]). An answer without
// victims that reserves quota can be applied too.
func (pl *Planner) Apply(r *Result) error { return pl.apply(r, false) }

// Evict is Apply, and Remove of every victim at once: for simulators.
func (pl *Planner) Evict(r *Result) error { return pl.apply(r, true) }

func (pl *Planner) apply(r *Result, remove bool) error {
	pl.gate.Lock()
	defer pl.gate.Unlock()
	v, taken, err := pl.review(r)
	switch {
	case errors.Is(err, ErrNotApplicable):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotApplicable, err)
	case v.Advice != Keep:
		return fmt.Errorf("%w: %s: %s", ErrNotApplicable, v.Advice, v.Reason)
	}
	return pl.changeHeld(func(h *live.Held) error {
		if err := pl.applyQuota(r, remove); err != nil {
			return fmt.Errorf("%w: %w", ErrNotApplicable, err)
		}
		for _, victim := range r.Victims {
			for _, ref := range victim.Pods {
				evict(h, ref.PodRef, remove)
			}
		}
		if r.Preemptor.Kind == cluster.KindWorkload {
			return nil
		}
		adopt(h, r)
		withdraw(h, r)
		for _, n := range r.Nominations {
			nominate(h, n.Pod, n.Node)
		}
		pl.remember(h, taken, pl.options.Limits.Window)
		return nil
	})
}

// adopt adds what a preemptor holds inline, unless that has been done.
func adopt(h *live.Held, r *Result) {
	if r.Preemptor.Inline == nil || review.Adopted(r, func(ref PodRef) *Pod { return h.Pod(ref.Namespace, ref.Name) }) {
		return
	}
	p := tell.Again(r.Preemptor)
	if p.Group != nil {
		group := *p.Group
		live.PodGroups.Set(h, &group)
	}
	for i := range p.Pods {
		pod := p.Pods[i]
		if p.Group != nil {
			pod.Group = p.Group.Name
		}
		live.Pods.Set(h, &pod)
	}
}

// evict marks a pod, if it runs, as terminating by preemption, or removes it.
func evict(h *live.Held, ref PodRef, remove bool) {
	p := h.Pod(ref.Namespace, ref.Name)
	switch {
	case p == nil || p.Node == "": // has left, and waits again perhaps
	case remove:
		live.Pods.Remove(h, p)
	case !review.IsLeaving(p):
		leaving := *p
		leaving.Terminating, leaving.Preempted = true, true
		live.Pods.Set(h, &leaving)
	}
}

func nominate(h *live.Held, ref PodRef, node string) {
	if p := h.Pod(ref.Namespace, ref.Name); p != nil && p.Node == "" {
		pending := *p
		pending.NominatedNode = node
		live.Pods.Set(h, &pending)
	}
}

// withdraw takes back the nominations that r clears, as far as they are to nodes that it nominates.
func withdraw(h *live.Held, r *Result) {
	nominated := map[string]bool{}
	for _, n := range r.Nominations {
		nominated[n.Node] = true
	}
	for _, ref := range r.Cleared { // a pending pod of an inline preemptor's name, perhaps
		if p := h.Pod(ref.Namespace, ref.Name); p != nil && nominated[p.NominatedNode] {
			nominate(h, ref, "")
		}
	}
}

// remember notes what a preemption takes, for limits over a window, and forgets those that
// have left it. The pods of a gathering are one preemption: what they take adds up.
func (pl *Planner) remember(h *live.Held, taken cluster.Disruption, w Window) {
	now := h.Time()
	switch {
	case taken.Victims == 0:
	case pl.lone:
		pl.spent = live.Sum(pl.spent, taken)
		if c := h.Ready; c != nil {
			c.SetSpent(pl.spent)
		}
	case w.Seconds > 0 && !now.IsZero():
		var kept []cluster.Disruption
		for _, d := range h.Disruptions() {
			if now.Unix()-d.Time.Unix() <= w.Seconds {
				kept = append(kept, d)
			}
		}
		taken.Time = now
		h.SetDisruptions(append(kept, taken))
	}
}

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
