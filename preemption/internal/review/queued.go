package review

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/tell"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// reviewQueued is review for an answer about pods that need quota too.
func reviewQueued(q *Review, m *workload.Model, local string, r *answer.Result) (answer.Validity, cluster.Disruption, error) {
	stale := func(text string) (answer.Validity, cluster.Disruption, error) {
		return replan(text), cluster.Disruption{}, nil
	}
	fail := func(err error) (answer.Validity, cluster.Disruption, error) {
		return answer.Validity{}, cluster.Disruption{}, err
	}
	m, err := q.Cluster.Queued.On(q.Index, m)
	if err != nil {
		return fail(err)
	}
	s := &queueReview{Review: q, queue: tell.NewQueueSearch(q.Inquiry, m, local)}
	refused, err := s.queue.Enter()
	switch {
	case err != nil:
		return fail(err)
	case refused != nil:
		return stale(refused.Message)
	case r.Quota == nil || s.queue.Model.Index.Name(s.queue.Search.Queue) != r.Quota.ClusterQueue:
		return stale("it belongs to another queue by now")
	}
	if err := s.queue.Choose(); err != nil {
		return fail(err)
	}
	if s.levels, err = s.queue.Domains(); err != nil {
		return fail(err)
	}
	if r.Verdict == answer.Feasible {
		switch p := s.queue.Search.Fits(s.levels); {
		case p != nil && s.queue.Search.FitsNow(p.Offer):
			return cancel("it fits without evicting anybody"), cluster.Disruption{}, nil
		case p != nil:
			return stale("it fits" + tell.LeftLater)
		}
	}
	v, taken := s.look(r)
	return v, taken, nil
}

// queueReview is the review of an answer about pods that need quota too.
type queueReview struct {
	*Review
	queue  *tell.QueueSearch
	levels [][]domain.Domain
}

// again are the victims for quota of the answer in flavors o, if the question is asked again.
func (s *queueReview) again(o *workload.Offer) []quotasearch.Victim {
	s.queue.Search.Run(s.levels)
	if best := s.queue.Search.Best; best != nil && best.Offer == o {
		return best.Quota
	}
	return nil
}

// look is review for such an answer: whether r can be carried out as it is, and what it takes of limits.
func (s *queueReview) look(r *answer.Result) (answer.Validity, cluster.Disruption) {
	stale := func(text string) (answer.Validity, cluster.Disruption) { return replan(text), cluster.Disruption{} }
	offer := s.offerOf(r.Quota.Flavors)
	if offer == nil {
		return stale("it cannot take these flavors any more")
	}
	qs := s.queue.Search.Usage()
	defer s.queue.Model.Keep(qs)
	if !qs.Usage.Fits(s.queue.Search.Queue, offer.Request, true) && qs.WouldBorrow(s.queue.Search.Queue, offer.Request) {
		return stale(noHelp)
	}
	l, text := s.reviewQueuedVictims(qs, r, offer)
	if text == "" {
		text = s.reviewBounds(r, l)
	}
	if text == "" && len(l.fresh)+int(l.lone) > 0 {
		if wait := s.queue.Model.Waits(s.queue.Search.Workload, s.queue.Search.Queue); wait > 0 {
			text = tell.WaitsLonger(wait)
		}
	}
	if text != "" {
		return stale(text)
	}
	if !qs.Usage.Fits(s.queue.Search.Queue, offer.Request, true) || r.Verdict == answer.Fits && !s.queue.Search.FitsNow(offer) {
		return stale("its quota does not suffice any more")
	}
	for _, n := range r.Nominations {
		if at := s.Index.NodeByName(n.Node); at != cluster.NoNode && !s.queue.Model.Suits(s.Index.Node(at), offer) {
			return stale("node " + n.Node + " is not of the flavors that it takes")
		}
	}
	trial := s.queue.Gang.Trial
	l.Pods(trial.Remove)
	if v := s.ReviewNominations(r, trial); v.Advice != answer.Keep {
		return v, cluster.Disruption{}
	}
	if text := s.reviewMoves(r); text != "" {
		return stale(text)
	}
	return keep(keeps), s.taken(l)
}

// offerOf is the choice of the same flavors, nil if there is none.
func (s *queueReview) offerOf(flavors []answer.FlavorChoice) *workload.Offer {
	of := map[string]string{}
	for _, f := range flavors {
		of[f.Resource] = f.Flavor
	}
	for i := range s.queue.Search.Offers {
		o := &s.queue.Search.Offers[i]
		if len(o.Taken) == len(of) && !slices.ContainsFunc(o.Taken, func(t workload.Taken) bool { return of[t.Resource] != tell.FlavorOf(s.queue.Model, t.Column) }) {
			return o
		}
	}
	return nil
}

// reviewQueuedVictims is reviewVictims for victims that hold quota too, whose usage it
// takes away from qs.
func (s *queueReview) reviewQueuedVictims(qs *workload.Search, r *answer.Result, o *workload.Offer) (*leaving, string) {
	var unqueued, holders []answer.Victim
	for _, v := range r.Victims {
		if v.Quota == nil {
			unqueued = append(unqueued, v)
		} else {
			holders = append(holders, v)
		}
	}
	l, text := s.ReviewVictims(unqueued)
	if text != "" {
		return nil, text
	}
	for i := range holders {
		held, text := holder(s.Index, s.queue.Model, &holders[i])
		if text == "" && s.queue.Search.Spares(held) {
			text = s.spared(s.queue.Model.Pods.Of[held])
		}
		if text != "" {
			return nil, text
		}
	}
	held, text := reviewHolders(s.Index, qs, holders, s.queue.Search.Workload, s.queue.Search.Ask(o), func() []quotasearch.Victim { return s.again(o) })
	if text != "" {
		return nil, text
	}
	for _, r := range held {
		pods := s.queue.Model.Pods.Of[r]
		for _, p := range pods {
			l.add(s.Review, p)
		}
		if len(pods) == 0 && !r.Evicted {
			l.lone++
		}
	}
	return l, ""
}

// spared says why a job is no victim of the preemptor, whatever the queues say.
func (s *queueReview) spared(pods []cluster.PodID) string {
	for _, p := range pods {
		if s.queue.Search.Guards(p) {
			u, _ := s.Units.UnitOf(p)
			return fmt.Sprintf("%s may not be evicted any more: %s", s.UnitName(u), s.Kept(u, s.Claim))
		}
	}
	ref := tell.RefTo(s.Index.Pod(pods[0]))
	return words.Key(ref.Namespace, ref.Name) + " belongs to the preemptor"
}

// reviewHolders looks whether the rules let the victims of list go for workload w, which asks q, takes away
// what they hold from qs, and lists it. The text says who may not go; it is empty if all may. again: see [workload.Leaving.Let].
func reviewHolders(
	ix *cluster.Index, qs *workload.Search, list []answer.Victim, w *cluster.Workload, q *quotasearch.Question, again func() []quotasearch.Victim,
) (held []*quota.Reservation, text string) {
	l := qs.Leaving(w, q.Queue, q.Contested)
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
	let := l.Let(q.Request, again)
	if r := l.Settle(); r != nil {
		return nil, words.Key(r.Workload.Namespace, r.Workload.Name) + stayTexts[workload.Entitled]
	}
	switch {
	case !qs.Usage.Fits(q.Queue, q.Request, true):
		return nil, "it does not fit even once the victims are gone"
	case !let:
		return nil, noHelp
	}
	return l.Held, ""
}

// noHelp is why victims may not go each of whom might, perhaps for another preemptor.
const noHelp = "its queue may not evict them for so much any more"

var stayTexts = map[workload.Stays]string{
	workload.Entitled: " does not borrow any more",
	workload.Twice:    " goes with another victim by now",
	workload.Going:    " leaves for somebody else",
	workload.Spared:   " may not be evicted any more",
}

// holder is what victim v still holds, nil if it has left. The text says how it is not what
// it was.
func holder(ix *cluster.Index, m *workload.Model, v *answer.Victim) (held *quota.Reservation, text string) {
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
