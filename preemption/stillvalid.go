package preemption

import (
	"errors"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/victims"
)

func keep(why string) Validity   { return Validity{Advice: Keep, Reason: why} }
func replan(why string) Validity { return Validity{Advice: Replan, Reason: why} }
func cancel(why string) Validity { return Validity{Advice: Cancel, Reason: why} }

// StillValid says whether r, the answer to an earlier question, still holds.
//
// Keep: every nominated place fits once those victims that still run are gone, no
// victim became ineligible, no budget that r touches has less room than was counted,
// and those who have not been told to go yet keep within hard budgets and limits. Cancel:
// the preemptor, or the group or class by which it asks, is gone; it runs; or it fits
// without evicting anybody, the pods of a [Gathering] one after the other. Otherwise
// Replan. An answer that finds nobody to evict and reserves quota is kept if its queue
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
	if err := checkAnswer(r); err != nil {
		return fail(err)
	}
	now, err := pl.hold()
	if err != nil {
		return fail(err)
	}
	defer now.release()
	c, quota := now.ready, now.quota
	if r.Preemptor.Kind == cluster.KindWorkload {
		v, err := reviewWorkload(c, r, quota)
		return v, cluster.Disruption{}, err
	}
	if text := preemptorGone(c, r); text != "" {
		return cancel(text), cluster.Disruption{}, nil
	}
	q, err := questionAgain(c, r)
	if text, ok := unreadable(err); ok {
		return cancel(text), cluster.Disruption{}, nil
	}
	if err != nil {
		return fail(err)
	}
	var v Validity
	var taken cluster.Disruption
	if queue := q.queue(); queue != "" {
		v, taken, err = reviewQueued(q, quota, queue, r)
	} else {
		v, taken, err = q.reviewPlain(r)
	}
	if text, ok := unreadable(err); ok {
		return replan(text), cluster.Disruption{}, nil
	}
	return v, taken, err
}

// unreadable says that a question that was asked cannot be asked any more, as what it
// names is gone.
func unreadable(err error) (text string, ok bool) {
	var field *cluster.FieldError
	var hook *HookError // which may have panicked with anything
	if errors.As(err, &hook) || !errors.As(err, &field) {
		return "", false
	}
	return "it cannot be asked again: " + err.Error(), true
}

// preemptorGone says why there is nothing left to do for r; empty if there is.
func preemptorGone(c *live.Cluster, r *Result) string {
	for _, n := range r.Nominations {
		p := podNamed(c, n.Pod)
		if p == nil && r.Preemptor.Inline != nil || p != nil && p.Node == "" {
			return ""
		}
	}
	return "the preemptor is gone or runs"
}

// podNamed returns the pod of that name, nil if there is none.
func podNamed(c *live.Cluster, ref PodRef) *cluster.Pod {
	if p := c.Index.PodByName(ref.Namespace, ref.Name); p != cluster.NoPod {
		return c.Index.Pod(p)
	}
	return nil
}

// questionAgain is the question that was asked, about the cluster as it is: about those
// who do not run yet.
func questionAgain(c *live.Cluster, r *Result) (*question, error) {
	a := r.Preemptor
	if len(a.Gathered) > 0 {
		return gatheredAgain(c, a)
	}
	if a.Inline != nil && adopted(r, func(ref PodRef) *cluster.Pod { return podNamed(c, ref) }) {
		a.Inline = nil
	}
	p := again(a)
	for _, n := range r.Nominations {
		if pod := podNamed(c, n.Pod); pod != nil && pod.Node != "" {
			delete(p.Placement, words.Key(n.Pod.Namespace, n.Pod.Name))
		}
	}
	return newQuestion(c, p, nil)
}

// gatheredAgain is the question of the pods of a gathering that do not run yet.
func gatheredAgain(c *live.Cluster, a Asked) (*question, error) {
	q := blank(c, nil)
	q.asked, q.Gathered = a, true
	for _, ref := range a.Gathered {
		if p := podNamed(c, ref); p != nil && p.Node != "" {
			continue
		}
		one := blank(c, nil)
		if err := one.namedPod(Preemptor{Kind: cluster.KindPod, Namespace: ref.Namespace, Name: ref.Name}); err != nil {
			return nil, err
		}
		one.SettleClaim()
		if len(q.gathered) == 0 || one.Priority > q.Priority {
			q.Priority = one.Priority
		}
		q.of(one.sides)
		q.Members, q.gathered = append(q.Members, one.Members[0]), append(q.gathered, one)
	}
	return q, q.prepare()
}

// fitsAsItIs reports whether the preemptor fits with everybody in place.
func (q *question) fitsAsItIs(r *Result) (bool, error) {
	switch {
	case q.gathered != nil:
		return q.fitOneByOne(r), nil
	case q.Tree == nil:
		s := q.searchPod()
		fits := s.FitsSomewhere()
		s.Close()
		return fits, nil
	}
	levels, err := q.levels()
	if err != nil {
		return false, err
	}
	s := q.searchGang()
	for _, domains := range levels {
		if s.FitsIn(domains) != nil {
			return true, nil
		}
	}
	return false, nil
}

// fitOneByOne reports whether the pods of a gathering fit with everybody in place, one
// after the other: each where r says, else anywhere.
func (q *question) fitOneByOne(r *Result) bool {
	trial := q.fitTrial()
	defer trial.UnplaceTo(0)
	for i := range q.Members {
		m := domain.MemberID(i)
		at := q.placeOf(r, m)
		if at == cluster.NoNode || !trial.CanPlace(m, at).OK() {
			if at = anyPlace(trial, m); at == cluster.NoNode {
				return false
			}
		}
		trial.Place(m, at)
	}
	return true
}

// anyPlace is the first node that takes member m as the trial stands, or NoNode.
func anyPlace(trial *domain.GangTrial, m domain.MemberID) cluster.NodeID {
	for n := range trial.Index().Nodes() {
		if trial.CanPlace(m, n).OK() {
			return n
		}
	}
	return cluster.NoNode
}

// placeOf is the node to which r nominates member m, or NoNode.
func (q *question) placeOf(r *Result, m domain.MemberID) cluster.NodeID {
	ref := refTo(q.Members[m].Pod)
	for _, n := range r.Nominations {
		if n.Pod == ref {
			return q.Index.NodeByName(n.Node)
		}
	}
	return cluster.NoNode
}

// reviewTrial is a trial for the review of r. To the pods of a gathering those who are
// nominated to their node count if they are as important as all of them there.
func (q *question) reviewTrial(r *Result) *domain.GangTrial {
	if q.gathered == nil {
		return q.GangTrial()
	}
	most := map[cluster.NodeID]int32{}
	for m, one := range q.gathered {
		at := q.placeOf(r, domain.MemberID(m))
		if known, ok := most[at]; !ok || one.Priority > known {
			most[at] = one.Priority
		}
	}
	return q.TrialWith(func(p cluster.PodID) bool {
		least, ok := most[q.Index.NominatedTo(p)]
		return !ok || q.Index.Priority(p) >= least
	})
}

// fitTrial is a trial for whether the pods of a gathering fit as things are: whoever is as
// important as one of them counts where he is nominated.
func (q *question) fitTrial() *domain.GangTrial {
	least := q.Priority
	for _, one := range q.gathered {
		least = min(least, one.Priority)
	}
	return q.TrialWith(func(p cluster.PodID) bool { return q.Index.Priority(p) >= least })
}

// keptFromAll says why unit u may not be evicted for whoever asks; the zero Kept: it may.
func (q *question) keptFromAll(u victims.UnitID) victims.Kept {
	if q.gathered == nil {
		return q.Kept(u, q.Claim)
	}
	var why victims.Kept
	for _, one := range q.gathered {
		if why = q.Kept(u, one.Claim); why.OK() {
			break
		}
	}
	return why
}

// reviewPlain looks whether answer r of a preemptor without a queue can be carried out.
func (q *question) reviewPlain(r *Result) (Validity, cluster.Disruption, error) {
	if r.Quota != nil {
		return replan("it belongs to no queue by now"), cluster.Disruption{}, nil
	}
	if r.Verdict == Feasible {
		fits, err := q.fitsAsItIs(r)
		if err != nil {
			return Validity{}, cluster.Disruption{}, err
		}
		if fits {
			return cancel("it fits without evicting anybody"), cluster.Disruption{}, nil
		}
	}
	v, taken := q.review(r)
	return v, taken, nil
}
