package preemption

import (
	"errors"
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/review"
)

// StillValid says whether r, the answer to an earlier question, still holds.
//
// Keep: every nominated place fits once those victims that still run are gone, no
// victim became ineligible, no budget that r touches has less room than was counted,
// and those who have not been told to go yet keep within hard budgets and limits. Cancel:
// the preemptor, or the group or class by which it asks, is gone; it runs; or it fits
// without evicting anybody, the pods of a [Gathering] one after the other. Otherwise
// Replan. Who goes for quota is eligible as long as the search would let all of them go
// in some order, under fair sharing perhaps among others who come back; where that is not
// known there in 8,192 steps, only if all of them have been told to go or the question, asked again
// for as long as it takes, finds the same. An answer that finds nobody to evict and reserves quota is kept if its queue
// has as much. A result that is no plan is an error that matches ErrNotApplicable, as is
// one that no question has: it may come from a file; a [*cluster.FieldError] says what
// is wrong with it.
func (pl *Planner) StillValid(r *Result) (Validity, error) {
	v, _, err := pl.review(r)
	return v, err
}

// review is StillValid, and what carrying r out takes of limits.
func (pl *Planner) review(r *Result) (_ Validity, _ cluster.Disruption, err error) {
	defer caught(&err)
	fail := func(err error) (Validity, cluster.Disruption, error) { return Validity{}, cluster.Disruption{}, err }
	if err := review.Check(r); err != nil {
		return fail(fmt.Errorf("%w: %w", ErrNotApplicable, err))
	}
	now, err := pl.hold()
	if err != nil {
		return fail(err)
	}
	defer now.release()
	c, quota := now.ready, now.quota
	if r.Preemptor.Kind == cluster.KindWorkload {
		v, err := review.Workload(c, r, quota)
		return v, cluster.Disruption{}, err
	}
	if text := review.Gone(c, r); text != "" {
		return Validity{Advice: Cancel, Reason: text}, cluster.Disruption{}, nil
	}
	q, err := review.Again(c, r)
	if text, ok := unreadable(err); ok {
		return Validity{Advice: Cancel, Reason: text}, cluster.Disruption{}, nil
	}
	if err != nil {
		return fail(err)
	}
	v, taken, err := q.Advise(r, quota)
	if text, ok := unreadable(err); ok {
		return Validity{Advice: Replan, Reason: text}, cluster.Disruption{}, nil
	}
	return v, taken, err
}

// unreadable says that a question that was asked cannot be asked any more, as what it
// names is gone.
func unreadable(err error) (text string, ok bool) {
	var hook *HookError // which may have panicked with anything
	if errors.As(err, &hook) {
		return "", false
	}
	return review.Unreadable(err)
}
