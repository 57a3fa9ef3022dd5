package preemption

import (
	"errors"
	"fmt"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// ErrNotApplicable matches the error of Apply and Evict for a result that is no
// plan, or is not valid any more.
var ErrNotApplicable = errors.New("preemption: result cannot be applied")

var errNoResult = fmt.Errorf("%w: it is nil", ErrNotApplicable)

// Apply begins to carry r out: it marks the victims as terminating by preemption
// (they hold their room and stay potential victims, as in a cluster), sets the
// nominations and withdraws those that r clears. An inline preemptor's pods are
// added as pending. Where Options.Limits has a window, the preemption is noted for
// it at the model's time; what pods and groups say of their own earlier evictions is
// for whoever resubmits them to set. Where r is no plan or [Planner.StillValid] does not
// say Keep, nothing is changed and the error matches ErrNotApplicable. No other change
// comes between the check and what follows.
//
// An answer about a [Workload] admits it if it fits; else its quota is held for it,
// its victims are marked as evicted and plans for others leave both alone, until it
// is admitted, removed or released (see [Planner.Release]). An answer without
// victims that reserves quota can be applied too.
func (pl *Planner) Apply(r *Result) error { return pl.apply(r, false) }

// Evict is Apply, and Remove of every victim at once: for simulators.
func (pl *Planner) Evict(r *Result) error { return pl.apply(r, true) }

func (pl *Planner) apply(r *Result, remove bool) error {
	if r == nil {
		return errNoResult
	}
	pl.gate.Lock()
	defer pl.gate.Unlock()
	if r.Preemptor.Kind == cluster.KindWorkload {
		return pl.applyWorkload(r, remove)
	}
	if r.Verdict != Feasible && r.Verdict != Fits {
		return fmt.Errorf("%w: the verdict is %q", ErrNotApplicable, r.Verdict)
	}
	v, err := pl.StillValid(r)
	if err != nil {
		return err
	}
	if v.Advice != Keep {
		return fmt.Errorf("%w: %s: %s", ErrNotApplicable, v.Advice, v.Reason)
	}
	if err := pl.evictWorkloads(r, remove); err != nil {
		return err
	}
	return pl.changeHeld(func(e edit) error {
		for _, victim := range r.Victims {
			for _, ref := range victim.Pods {
				e.evict(ref.PodRef, remove)
			}
		}
		e.adopt(r.Preemptor.preemptor())
		for _, n := range r.Nominations {
			e.nominate(n.Pod, n.Node)
		}
		for _, ref := range r.Cleared {
			e.nominate(ref, "")
		}
		e.remember(r, pl.options.Limits.Window)
		return nil
	})
}

// adopt adds what a preemptor holds inline.
func (e edit) adopt(p Preemptor) {
	if p.Group != nil {
		group := *p.Group
		e.setGroup(&group)
	}
	for i := range p.Pods {
		pod := p.Pods[i]
		if p.Group != nil {
			pod.Group = p.Group.Name
		}
		e.setPod(&pod)
	}
}

// evict marks a pod as terminating by preemption, or removes it.
func (e edit) evict(ref PodRef, remove bool) {
	if remove {
		e.removePod(ref)
		return
	}
	if p := e.pod(ref); p != nil {
		leaving := *p
		leaving.Terminating, leaving.Preempted = true, true
		e.setPod(&leaving)
	}
}

func (e edit) nominate(ref PodRef, node string) {
	if p := e.pod(ref); p != nil && p.Node == "" {
		pending := *p
		pending.NominatedNode = node
		e.setPod(&pending)
	}
}

// Advice says what to do with an answer that is not carried out yet.
type Advice string

// The pieces of advice.
const (
	Keep   Advice = "keep"   // go on
	Replan Advice = "replan" // ask again
	Cancel Advice = "cancel" // evict nobody: it is not needed any more
)

// Validity is advice with its reason.
type Validity struct {
	Advice Advice `json:"advice"`
	Reason string `json:"reason"` // a sentence
}

// StillValid says whether r, the answer to an earlier question, still holds.
//
// Keep: every nominated place fits once those victims that still run are gone, no
// victim became ineligible, and no budget that r touches has less room than was
// counted. Cancel: the preemptor is gone or runs, or it fits without evicting
// anybody. Otherwise Replan. A result that is no plan is an error that matches
// ErrNotApplicable.
func (pl *Planner) StillValid(r *Result) (Validity, error) {
	if r == nil {
		return Validity{}, errNoResult
	}
	if r.Preemptor.Kind == cluster.KindWorkload {
		return pl.stillValidWorkload(r)
	}
	if r.Verdict != Feasible && r.Verdict != Fits {
		return Validity{}, fmt.Errorf("%w: the verdict is %q", ErrNotApplicable, r.Verdict)
	}
	c, quota, err := pl.hold()
	if err != nil {
		return Validity{}, err
	}
	defer pl.release(c)
	if text := c.preemptorGone(r); text != "" {
		return Validity{Cancel, text}, nil
	}
	q, err := c.questionAgain(r.Preemptor)
	if err != nil {
		return Validity{}, err
	}
	if queue := q.queue(); queue != "" {
		return stillValidQueued(q, quota, queue, r)
	}
	if r.Verdict == Feasible {
		fits, err := q.fitsAsItIs()
		if err != nil {
			return Validity{}, err
		}
		if fits {
			return Validity{Cancel, "it fits without evicting anybody"}, nil
		}
	}
	return q.review(r), nil
}

// preemptorGone says why there is nothing left to do for r; empty if there is.
func (c *compiled) preemptorGone(r *Result) string {
	if inline := r.Preemptor.Inline; inline != nil {
		for i := range inline.Pods {
			pod := &inline.Pods[i]
			if p := c.ix.PodByName(pod.Namespace, pod.Name); p != cluster.NoPod && c.ix.Pod(p).Node != "" {
				return key(pod.Namespace, pod.Name) + " runs"
			}
		}
		return ""
	}
	pending := 0
	for _, n := range r.Nominations {
		p := c.ix.PodByName(n.Pod.Namespace, n.Pod.Name)
		if p != cluster.NoPod && c.ix.Pod(p).Node == "" {
			pending++
		}
	}
	if pending == 0 {
		return "the preemptor is gone or runs"
	}
	return ""
}

// questionAgain is the question that was asked, about the cluster as it is.
func (c *compiled) questionAgain(a Asked) (*question, error) {
	if len(a.Gathered) == 0 {
		return c.newQuestion(a.preemptor())
	}
	q := &question{compiled: c, asked: a}
	for _, ref := range a.Gathered {
		p := Preemptor{Kind: cluster.KindPod, Namespace: ref.Namespace, Name: ref.Name}
		before, highest := q.members, q.priority
		if err := q.namedPod(p); err != nil {
			return nil, err
		}
		if len(before) > 0 {
			q.priority = max(q.priority, highest)
		}
		q.members = append(before, q.members...)
	}
	return q, q.prepare()
}

// fitsAsItIs reports whether the preemptor fits with everybody in place.
func (q *question) fitsAsItIs() (bool, error) {
	if q.team == nil && len(q.members) > 1 {
		trial := q.gangTrial()
		all := make([]domain.MemberID, len(q.members))
		for i := range all {
			all[i] = domain.MemberID(i)
		}
		whole := domain.WholeCluster{}.Split(nil, q.ix)[0]
		return domain.Pack{}.Place(trial, &whole, nil, all, len(all)) == len(all), nil
	}
	if q.team == nil {
		defer q.putBack()
		return newPodSearch(q).fitsSomewhere(), nil
	}
	levels, err := q.levels()
	if err != nil {
		return false, err
	}
	s := newGangSearch(q)
	for _, domains := range levels {
		if s.fitsIn(domains) != nil {
			return true, nil
		}
	}
	return false, nil
}
