package quotasearch

import (
	"slices"

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

// mostTests is how often [Search.LetsFair] looks whether a workload may go next.
const mostTests = 1 << 13

// mostInOrder is of how many of other queues an order is looked for.
const mostInOrder = 1 << 10

// LetsFair reports whether the rules of [Search.Fair] let all of list go in some order: a queue gives any of its workloads at any
// time, and others may go among them, who come back in the end. cut tells that not every order was looked at: first come those in
// which Fair finds just these, by itself or if nobody else may go. Whether there is enough quota then is not asked. Place is nil.
//
// Exponential, up to mostTests.
func (s *Search) LetsFair(q *Question, list []*quota.Reservation, strategies []Strategy, precision quota.Precision) (lets, cut bool) {
	all := s.reservations
	for _, pool := range []*Reservations{all, all.Only(list)} {
		s.reservations = pool
		found := s.Fair(q, strategies, precision)
		s.reservations = all
		if len(found) == len(list) && !slices.ContainsFunc(found, func(v Victim) bool { return !slices.Contains(list, v.Reservation) }) {
			return true, false
		}
	}
	s.fair.reset(s.tree, q.Queue, precision)
	s.gather()
	s.usage.Add(q.Queue, q.Request)
	defer s.usage.Remove(q.Queue, q.Request)
	l := &orders{Search: s, strategies: strategies, entitled: s.usage.WithinNominal(q.Queue, q.Contested)}
	left, others := len(list), []*quota.Reservation(nil)
	must := make(map[*quota.Reservation]bool, len(list))
	for _, r := range list {
		must[r] = true
	}
	for h := range s.fair.queues {
		w, of := &s.fair.queues[h], quota.HolderID(h)
		helps := !l.entitled && w.head() != nil && slices.ContainsFunc(list, func(v *quota.Reservation) bool {
			mine, _ := s.sides(v.Queue) // whose share it makes less
			return s.tree.Below(s.tree.Parent(mine), of) == mine
		})
		for w.head() != nil {
			r := w.pop()
			in := must[r]
			if in {
				left--
			}
			switch {
			case of == q.Queue: // it always may go, and is in nobody's way
				s.usage.Remove(of, r.Usage)
				defer s.usage.Add(of, r.Usage)
			case in:
				l.all = append(l.all, r)
			case helps:
				others = append(others, r)
			}
		}
	}
	if left > 0 {
		return false, false
	}
	few := min(len(others), mostTests/32) // that they go is remembered with each step
	l.must, l.all = len(l.all), append(l.all, others[:few]...)
	if l.must > mostInOrder {
		return false, true
	}
	l.gone, l.seen, l.tests = make([]byte, len(l.all)), map[string]bool{}, mostTests
	lets = l.try(1)
	return lets, !lets && (l.tests < 0 || few < len(others))
}

// orders is the search of LetsFair.
type orders struct {
	*Search
	strategies []Strategy
	entitled   bool                 // the preemptor stays within its nominal quota
	all        []*quota.Reservation // who may go, the first must of them those who have to
	must       int
	gone       []byte          // by position in all: in which pass; 0: it has not
	seen       map[string]bool // what leads nowhere
	tests      int             // that are left
}

// try reports whether the rest of those who have to go may, in this pass or the next.
func (l *orders) try(pass byte) bool {
	key, left := string(append(l.gone, pass)), slices.Contains(l.gone[:l.must], 0)
	if !left || l.seen[key] {
		return !left
	}
	l.seen[key] = true
	for i, r := range l.all {
		if l.gone[i] != 0 {
			continue
		}
		if l.tests--; l.tests < 0 {
			return false
		}
		if !l.may(r, pass) {
			continue
		}
		l.usage.Remove(r.Queue, r.Usage)
		l.gone[i], l.fair.pruned[r.Queue] = pass, pass == 2 // the second takes one of a queue
		lets := l.try(pass)
		l.gone[i], l.fair.pruned[r.Queue] = 0, false
		l.usage.Add(r.Queue, r.Usage)
		if lets {
			return true
		}
	}
	return pass == 1 && len(l.strategies) != 1 && l.try(2)
}

// may reports whether r, of another queue, may go next.
func (l *orders) may(r *quota.Reservation, pass byte) bool {
	mine, theirs := l.sides(r.Queue)
	for h := r.Queue; h != l.tree.Parent(theirs); h = l.tree.Parent(h) {
		if share := l.usage.Share(h, l.fair.precision); !share.Borrows() {
			return false
		}
	}
	if l.entitled || l.fair.pruned[r.Queue] {
		return pass == 1
	}
	final := pass == 1 && (len(l.strategies) == 0 || l.strategies[0] == LessThanOrEqualToFinalShare)
	if final {
		l.usage.Remove(r.Queue, r.Usage)
		defer l.usage.Add(r.Queue, r.Usage)
	}
	p, o := l.usage.Share(mine, l.fair.precision), l.usage.Share(theirs, l.fair.precision)
	c := p.Compare(&o)
	return c < 0 || c == 0 && final
}
