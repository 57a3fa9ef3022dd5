package reprieve

import (
	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// FairStrategy compares the share P that the preemptor's side will have with the
// share of the side that a workload is taken from: O as it is, N without it.
type FairStrategy string

// The strategies of Kueue's fair sharing.
const (
	LessThanOrEqualToFinalShare FairStrategy = "LessThanOrEqualToFinalShare" // P <= N
	LessThanInitialShare        FairStrategy = "LessThanInitialShare"        // P < O
)

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
func (s *QuotaSearch) Fair(q *QuotaQuestion, strategies []FairStrategy, precision quota.Precision) []QuotaVictim {
	if len(strategies) == 0 {
		strategies = []FairStrategy{LessThanOrEqualToFinalShare, LessThanInitialShare}
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
func (s *QuotaSearch) gather() bool {
	found := false
	enter := func(q cluster.QuotaID, rule victims.QuotaRule) {
		w := &s.fair.queues[q]
		s.walk(&w.walks[0], q, true, rule)
		s.walk(&w.walks[1], q, false, rule)
		found = found || w.head() != nil
	}
	own := s.question.Queue
	enter(own, s.within)
	if s.tree.Parent(own) == cluster.NoQuota || s.across.Nobody() {
		return found
	}
	root := s.tree.Root(own)
	for q := range cluster.QuotaID(s.tree.NumQueues()) {
		if q != own && s.tree.Root(q) == root && !s.usage.WithinNominal(q, s.question.Contested) {
			enter(q, s.across)
		}
	}
	return found
}

// takeFair is take while the preemptor counts as running, and reports whether it
// fits then.
func (s *QuotaSearch) takeFair(r *cluster.Reservation, reason victims.QuotaReason) bool {
	if s.idle(r) {
		return false
	}
	s.usage.Remove(r.Queue, r.Usage)
	return s.gone(r, reason)
}

// gone notes r as a victim, whose quota is free already.
func (s *QuotaSearch) gone(r *cluster.Reservation, reason victims.QuotaReason) bool {
	if s.Place != nil {
		s.Place.Remove(r)
	}
	s.out = append(s.out, QuotaVictim{r, reason})
	s.tell(r, QuotaTaken)
	for h := r.Queue; h != cluster.NoQuota; h = s.tree.Parent(h) {
		s.fair.known[h] = false
	}
	s.Trials++
	s.enough = s.usage.Covered(s.question.Queue, s.question.Request)
	return s.enough && (s.Place == nil || s.Place.Fits())
}

// firstPass lets the queues give until the preemptor fits or none has more.
func (s *QuotaSearch) firstPass(strategy FairStrategy) bool {
	own := s.question.Queue
	entitled := s.usage.WithinNominal(own, s.question.Contested)
	for q := s.next(); q != cluster.NoQuota; q = s.next() {
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
func (s *QuotaSearch) contend(q cluster.QuotaID, strategy FairStrategy) bool {
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
func (s *QuotaSearch) secondPass() bool {
	s.fair.retry = true
	clear(s.fair.pruned)
	clear(s.fair.ranked)
	for q := s.next(); q != cluster.NoQuota; q = s.next() {
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
func (s *QuotaSearch) sides(q cluster.QuotaID) (mine, theirs cluster.QuotaID) {
	common := s.tree.Common(s.question.Queue, q)
	return s.tree.Below(common, s.question.Queue), s.tree.Below(common, q)
}

// share is the share of h with the preemptor running.
func (s *QuotaSearch) share(h cluster.QuotaID) *quota.Share {
	f := &s.fair
	if !f.known[h] {
		f.shares[h], f.known[h] = s.usage.Share(h, f.precision), true
	}
	return &f.shares[h]
}
