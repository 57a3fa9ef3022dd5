package preemption

import (
	"errors"
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/review"
	"github.com/preempt-go/preempt/preemption/internal/tell"
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
		if c := h.Live(); c != nil {
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
