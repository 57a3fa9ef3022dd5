package preemption

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// reviewQueued is review for an answer about pods that need quota too.
func reviewQueued(q *question, m *workload.Model, local string, r *Result) (Validity, cluster.Disruption, error) {
	stale := func(text string) (Validity, cluster.Disruption, error) {
		return replan(text), cluster.Disruption{}, nil
	}
	fail := func(err error) (Validity, cluster.Disruption, error) { return Validity{}, cluster.Disruption{}, err }
	m, err := q.c.Queued.On(q.Index, m)
	if err != nil {
		return fail(err)
	}
	s := newQueueSearch(q, m, local)
	refused, err := s.enter()
	switch {
	case err != nil:
		return fail(err)
	case refused != nil:
		return stale(refused.Message)
	case r.Quota == nil || s.model.Index.Name(s.search.Queue) != r.Quota.ClusterQueue:
		return stale("it belongs to another queue by now")
	}
	if err := s.choose(); err != nil {
		return fail(err)
	}
	levels, err := s.domains()
	if err != nil {
		return fail(err)
	}
	if r.Verdict == Feasible {
		switch p := s.search.Fits(levels); {
		case p != nil && s.search.FitsNow(p.Offer):
			return cancel("it fits without evicting anybody"), cluster.Disruption{}, nil
		case p != nil:
			return stale("it fits" + leftLater)
		}
	}
	s.gang.Trial.UnplaceTo(0)
	v, taken := s.review(r)
	return v, taken, nil
}

// review looks whether answer r can be carried out as it is, and what it takes of limits.
func (s *queueSearch) review(r *Result) (Validity, cluster.Disruption) {
	stale := func(text string) (Validity, cluster.Disruption) { return replan(text), cluster.Disruption{} }
	offer := s.offerOf(r.Quota.Flavors)
	if offer == nil {
		return stale("it cannot take these flavors any more")
	}
	qs := s.search.Usage()
	defer s.model.Keep(qs)
	l, text := s.reviewQueuedVictims(qs, r, offer)
	if text == "" {
		text = s.reviewBounds(r, l)
	}
	if text == "" && len(l.fresh)+int(l.lone) > 0 {
		if wait := s.model.Waits(s.search.Workload, s.search.Queue); wait > 0 {
			text = waiting(wait)
		}
	}
	if text != "" {
		return stale(text)
	}
	if !qs.Usage.Fits(s.search.Queue, offer.Request, true) || r.Verdict == Fits && !s.search.FitsNow(offer) {
		return stale("its quota does not suffice any more")
	}
	for _, n := range r.Nominations {
		if at := s.Index.NodeByName(n.Node); at != cluster.NoNode && !s.model.Suits(s.Index.Node(at), offer) {
			return stale("node " + n.Node + " is not of the flavors that it takes")
		}
	}
	trial := s.gang.Trial
	l.pods(trial.Remove)
	if v := s.reviewNominations(r, trial); v.Advice != Keep {
		return v, cluster.Disruption{}
	}
	return keep(keeps), s.taken(l)
}

// offerOf is the choice of the same flavors, nil if there is none.
func (s *queueSearch) offerOf(flavors []FlavorChoice) *workload.Offer {
	of := map[string]string{}
	for _, f := range flavors {
		of[f.Resource] = f.Flavor
	}
	for i := range s.search.Offers {
		o := &s.search.Offers[i]
		if len(o.Taken) == len(of) && !slices.ContainsFunc(o.Taken, func(t workload.Taken) bool { return of[t.Resource] != flavorOf(s.model, t.Column) }) {
			return o
		}
	}
	return nil
}

// reviewQueuedVictims is reviewVictims for victims that hold quota too, whose usage it
// takes away from qs.
func (s *queueSearch) reviewQueuedVictims(qs *workload.Search, r *Result, o *workload.Offer) (*leaving, string) {
	var unqueued, holders []Victim
	for _, v := range r.Victims {
		if v.Quota == nil {
			unqueued = append(unqueued, v)
		} else {
			holders = append(holders, v)
		}
	}
	l, text := s.reviewVictims(unqueued)
	if text != "" {
		return nil, text
	}
	for i := range holders {
		held, text := holder(s.Index, s.model, &holders[i])
		if text == "" && s.search.Spares(held) {
			text = s.spared(s.model.Pods.Of[held])
		}
		if text != "" {
			return nil, text
		}
	}
	held, text := reviewHolders(s.Index, qs, holders, s.search.Workload, s.search.Queue, o.Columns)
	if text != "" {
		return nil, text
	}
	for _, r := range held {
		pods := s.model.Pods.Of[r]
		for _, p := range pods {
			l.add(s.question, p)
		}
		if len(pods) == 0 && !r.Evicted {
			l.lone++
		}
	}
	return l, ""
}

// spared says why a job is no victim of the preemptor, whatever the queues say.
func (s *queueSearch) spared(pods []cluster.PodID) string {
	for _, p := range pods {
		if s.search.Guards(p) {
			u, _ := s.Units.UnitOf(p)
			return fmt.Sprintf("%s may not be evicted any more: %s", s.unitName(u), s.Kept(u, s.Claim))
		}
	}
	ref := refTo(s.Index.Pod(pods[0]))
	return words.Key(ref.Namespace, ref.Name) + " belongs to the preemptor"
}

// reviewHolders looks whether the rules of queue q let the victims of list go, takes away what
// they hold from qs, and lists it. The text says who may not go; it is empty if all may.
func reviewHolders(ix *cluster.Index, qs *workload.Search, list []Victim, w *Workload, q cluster.QuotaID, contested []cluster.ColumnID) (held []*cluster.Reservation, text string) {
	l := qs.Leaving(w, q, contested)
	for _, v := range list {
		r, text := holder(ix, qs.Model, &v)
		if text != "" {
			return nil, text
		}
		if r == nil {
			continue // has left
		}
		if stays := l.Add(r); stays != workload.Leaves {
			return nil, words.Key(v.Namespace, v.Name) + stayTexts[stays]
		}
	}
	if r := l.Settle(); r != nil {
		return nil, words.Key(r.Workload.Namespace, r.Workload.Name) + stayTexts[workload.Entitled]
	}
	return l.Held, ""
}

var stayTexts = map[workload.Stays]string{
	workload.Entitled: " does not borrow any more",
	workload.Twice:    " goes with another victim by now",
	workload.Going:    " leaves for somebody else",
	workload.Spared:   " may not be evicted any more",
}

// holder is what victim v still holds, nil if it has left. The text says how it is not what
// it was.
func holder(ix *cluster.Index, m *workload.Model, v *Victim) (held *cluster.Reservation, text string) {
	if v.Kind == cluster.KindWorkload {
		return m.Held(v.Namespace, v.Name), ""
	}
	in := map[cluster.PodID]bool{}
	for _, ref := range v.Pods {
		p, name := ix.PodByName(ref.Namespace, ref.Name), words.Key(ref.Namespace, ref.Name)
		if p == cluster.NoPod || ix.Pod(p).Node == "" {
			continue
		}
		r := m.Pods.Holds[p]
		switch {
		case ix.Pod(p).Node != ref.Node:
			return nil, name + " runs elsewhere by now"
		case r == nil:
			return nil, name + " holds no quota any more"
		case held != nil && held != r:
			return nil, name + " is a workload by itself by now"
		}
		held, in[p] = r, true
	}
	if held == nil {
		return nil, ""
	}
	for _, p := range m.Pods.Of[held] {
		if !in[p] {
			pod := ix.Pod(p)
			return nil, words.Key(pod.Namespace, pod.Name) + " goes with " + words.Key(v.Namespace, v.Name) + " by now"
		}
	}
	return held, ""
}
