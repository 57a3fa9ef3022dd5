package quotasearch

import (
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/victims"
)

// Strategy compares the share P that the preemptor's side will have with the
// share of the side that a workload is taken from: O as it is, N without it.
type Strategy string

// The strategies of Kueue's fair sharing.
const (
	LessThanOrEqualToFinalShare Strategy = "LessThanOrEqualToFinalShare" // P <= N
	LessThanInitialShare        Strategy = "LessThanInitialShare"        // P < O
)

// Strategies are those of that name.
func Strategies[S ~string](names []S) (list []Strategy) {
	for _, name := range names {
		list = append(list, Strategy(name))
	}
	return list
}

// Fair looks for victims under fair sharing. The victims belong to the search and
// are good until its next question; none: no evictions help.
//
// Again and again the queue with the greatest share gives a workload: the
// preemptor's own without further ado; another one too if the preemptor stays
// within its nominal quota; else if the first strategy allows it, and in a second
// pass, one workload a queue, if the second does. strategies has one or two; none
// means both in the order above. Who can is given back.
//
// O(k × (cohorts + columns + log queues + log n)) for k removed of n reservations, and O(n) more
// where the first strategy spares workloads one by one.
// Source: Kueue v0.20, fair sharing preemption; KEP-1714.
func (s *Search) Fair(q *Question, strategies []Strategy, precision quota.Precision) []Victim {
	if len(strategies) == 0 {
		strategies = []Strategy{LessThanOrEqualToFinalShare, LessThanInitialShare}
	}
	s.begin(q)
	s.fair.reset(s.tree, q.Queue, precision)
	if !s.gather() {
		return nil
	}
	s.look(true)
	s.usage.Add(q.Queue, q.Request)
	found := s.firstPass(strategies[0]) || len(strategies) > 1 && s.secondPass()
	s.usage.Remove(q.Queue, q.Request)
	defer s.restore()
	if !found {
		return nil
	}
	s.fillBack(true)
	return s.out
}

// gather starts the walks over the queues that may lose workloads, and reports
// whether any has one to lose.
func (s *Search) gather() bool {
	found := false
	enter := func(q quota.HolderID, rule Rule) {
		w := &s.fair.queues[q]
		s.walk(&w.walks[0], q, true, rule)
		s.walk(&w.walks[1], q, false, rule)
		found = found || w.head() != nil
	}
	own := s.question.Queue
	enter(own, s.within)
	if s.tree.Parent(own) == quota.NoHolder || s.across.Nobody() {
		return found
	}
	root := s.tree.Root(own)
	for q := range quota.HolderID(s.tree.NumQueues()) {
		if q != own && s.tree.Root(q) == root && !s.usage.WithinNominal(q, s.question.Contested) {
			enter(q, s.across)
		}
	}
	return found
}

// takeFair is take while the preemptor counts as running, and reports whether it
// fits then.
func (s *Search) takeFair(r *quota.Reservation, reason victims.QuotaReason) bool {
	if s.idle(r) {
		return false
	}
	s.usage.Remove(r.Queue, r.Usage)
	return s.gone(r, reason)
}

// gone notes r as a victim, whose quota is free already.
func (s *Search) gone(r *quota.Reservation, reason victims.QuotaReason) bool {
	if s.Place != nil {
		s.Place.Remove(r)
	}
	s.out = append(s.out, Victim{r, reason})
	s.tell(r, Taken)
	for h := r.Queue; h != quota.NoHolder; h = s.tree.Parent(h) {
		s.fair.known[h] = false
	}
	s.Trials++
	s.enough = s.usage.Covered(s.question.Queue, s.question.Request)
	return s.enough && (s.Place == nil || s.Place.Fits())
}

// firstPass lets the queues give until the preemptor fits or none has more.
func (s *Search) firstPass(strategy Strategy) bool {
	own := s.question.Queue
	entitled := s.usage.WithinNominal(own, s.question.Contested)
	for q := s.next(); q != quota.NoHolder; q = s.next() {
		w := &s.fair.queues[q]
		switch {
		case q == own:
			if s.takeFair(w.pop(), victims.InClusterQueue) {
				return true
			}
		case entitled:
			if s.takeFair(w.pop(), victims.InCohortReclamation) {
				return true
			}
		default:
			if s.contend(q, strategy) {
				return true
			}
		}
	}
	return false
}

// contend takes the first workload of q that the strategy allows to take, and
// spares those before it for the second pass.
func (s *Search) contend(q quota.HolderID, strategy Strategy) bool {
	mine, theirs := s.sides(q)
	p, o := s.share(mine), s.share(theirs)
	w := &s.fair.queues[q]
	if c := p.Compare(o); c > 0 || c == 0 && strategy == LessThanInitialShare {
		// Nobody passes: to lose a workload never makes a share greater.
		w.spare()
		w.stop()
		return false
	}
	for r := w.head(); r != nil; r = w.head() {
		if s.idle(r) {
			w.pop()
			continue
		}
		if strategy != LessThanOrEqualToFinalShare {
			return s.takeFair(w.pop(), victims.InCohortFairSharing)
		}
		s.usage.Remove(q, r.Usage)
		without := s.usage.Share(theirs, s.fair.precision)
		if p.Compare(&without) <= 0 {
			fits := s.gone(w.pop(), victims.InCohortFairSharing)
			s.fair.shares[theirs], s.fair.known[theirs] = without, true
			return fits
		}
		s.usage.Add(q, r.Usage)
		w.spare()
		w.pop()
	}
	return false
}

// secondPass lets every queue give one of the workloads that were spared.
func (s *Search) secondPass() bool {
	s.fair.retry = true
	clear(s.fair.pruned)
	clear(s.fair.ranked)
	for q := s.next(); q != quota.NoHolder; q = s.next() {
		w := &s.fair.queues[q]
		r := w.spared
		w.spared = nil
		mine, theirs := s.sides(q)
		if s.share(mine).Compare(s.share(theirs)) < 0 && s.takeFair(r, victims.InCohortFairSharing) {
			return true
		}
	}
	return false
}

// sides are the holders just below the lowest common cohort of the preemptor's
// queue and q, towards either.
func (s *Search) sides(q quota.HolderID) (mine, theirs quota.HolderID) {
	common := s.tree.Common(s.question.Queue, q)
	return s.tree.Below(common, s.question.Queue), s.tree.Below(common, q)
}

// share is the share of h with the preemptor running.
func (s *Search) share(h quota.HolderID) *quota.Share {
	f := &s.fair
	if !f.known[h] {
		f.shares[h], f.known[h] = s.usage.Share(h, f.precision), true
	}
	return &f.shares[h]
}
