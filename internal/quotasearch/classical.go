package quotasearch

import (
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// otherQueue is a queue that borrows, and may lose workloads.
type otherQueue struct {
	queue  quota.HolderID
	common quota.HolderID // the lowest cohort around it and the preemptor's queue

	// entitled: the preemptor's side of common owns enough quota for the request, so
	// that whoever borrows beyond it borrows from this side.
	entitled bool
}

// Classical looks for victims without fair sharing. The victims belong to the
// search and are good until its next question; none: no evictions help.
//
// Workloads go in this order: those evicted already before the others; among
// either, first from queues that use what the preemptor's side of the tree owns,
// then from other queues that borrow, then from the preemptor's own; there as
// [quotasearch.Order] says. A queue gives until it, or a cohort around it below
// the common one, is within its nominal quota. Who can is given back.
//
// O(k × depth + k log n) for k removed of n reservations, times two attempts.
// Source: KEP-83, "Preemption"; Kueue v0.20, classical preemption.
func (s *Search) Classical(q *Question) []Victim {
	s.begin(q)
	s.discover()
	for _, borrow := range s.attempts() {
		if s.attempt(borrow) {
			return s.out
		}
	}
	return nil
}

// discover lists the other queues that may lose workloads.
func (s *Search) discover() {
	s.others = s.others[:0]
	if s.across.Nobody() {
		return
	}
	own := s.question.Queue
	s.rest = append(s.rest[:0], s.question.Request...)
	entitled := s.usage.FitsNominal(own, s.rest)
	below := own
	for common := s.tree.Parent(own); common != quota.NoHolder; common = s.tree.Parent(common) {
		s.collect(common, below, otherQueue{common: common, entitled: entitled})
		entitled = s.usage.FitsNominal(common, s.rest) || entitled
		below = common
	}
}

// collect adds the queues below at that borrow of a contested flavor-resource,
// without what lies below except.
func (s *Search) collect(at, except quota.HolderID, o otherQueue) {
	for _, c := range s.tree.Cohorts(at) {
		if c != except && !s.usage.WithinNominal(c, s.question.Contested) {
			s.collect(c, except, o)
		}
	}
	for _, q := range s.tree.Queues(at) {
		if q == except || s.usage.WithinNominal(q, s.question.Contested) {
			continue
		}
		if o.queue = q; s.hasAny(q) {
			s.others = append(s.others, o)
		}
	}
}

func (s *Search) hasAny(q quota.HolderID) bool {
	for _, evicted := range [2]bool{true, false} {
		if s.walk(&s.glance, q, evicted, s.across); s.glance.Peek() != nil {
			return true
		}
	}
	return false
}

// kep83 reports whether the queue asks for the policies of KEP-83, under which no
// preemptor borrows.
func (s *Search) kep83() bool {
	p := s.queue.Preemption.ReclaimWithinCohort
	return p == cluster.ReclaimFromLowerPriority || p == cluster.ReclaimFromAny
}

// attempts lists whether the preemptor may borrow, attempt by attempt. The first
// attempt that succeeds counts.
func (s *Search) attempts() []bool {
	if s.kep83() {
		return []bool{false}
	}
	if len(s.others) == 0 {
		return []bool{true}
	}
	if s.queue.Preemption.BorrowWithinCohort == nil {
		if !s.usage.UnderNominal(s.question.Queue, s.question.Contested) {
			return []bool{true}
		}
		if !s.anyEntitled() {
			return []bool{false, true}
		}
	}
	return []bool{true, false}
}

func (s *Search) anyEntitled() bool {
	for _, o := range s.others {
		if o.entitled {
			return true
		}
	}
	return false
}

// attempt removes workloads until the preemptor fits and gives back who can. The
// usage is restored in any case.
func (s *Search) attempt(borrow bool) bool {
	s.out, s.narrow = s.out[:0], nil
	if s.Attempt != nil {
		s.Attempt(borrow)
	}
	s.look(borrow)
	defer s.restore()
	if s.drainAll(borrow) || s.narrowDown() && s.drainAll(borrow) {
		s.fillBack(borrow)
		return true
	}
	return false
}

// drainAll removes workloads in order until the preemptor fits, or until only those
// of some that are known can help.
func (s *Search) drainAll(borrow bool) bool {
	for _, evicted := range [2]bool{true, false} {
		for _, list := range [3]list{entitledQueues, borrowingQueues, ownQueue} {
			if s.drain(list, evicted, borrow) {
				return true
			}
		}
	}
	return false
}

// narrowable reports whether only workloads that are known can help from now on.
func (s *Search) narrowable() bool {
	return s.enough && s.narrow == nil && s.Place != nil && s.Place.Jobs() != nil
}

// narrowDown leaves only those to remove, in the same order. Those passed over
// before are gone, or their queues are back within nominal quota for good.
func (s *Search) narrowDown() bool {
	if !s.narrowable() {
		return false
	}
	var list []*quota.Reservation
	for _, r := range s.Place.Jobs() {
		if !slices.ContainsFunc(s.out, func(v Victim) bool { return v.Reservation == r }) {
			list = append(list, r)
		}
	}
	s.narrow = s.reservations.Only(list)
	return true
}

// list is one of the three kinds of queues that workloads are taken from.
type list int

const (
	entitledQueues  list = iota // others, entitled
	borrowingQueues             // others, not entitled
	ownQueue
)

// drain removes workloads of one list, in order, until the preemptor fits.
func (s *Search) drain(l list, evicted, borrow bool) bool {
	s.race.reset()
	if l == ownQueue {
		r := s.race.spare(-1)
		s.walk(&r.walk, s.question.Queue, evicted, s.within)
		s.race.enter()
	} else {
		s.enter(l, evicted, borrow)
	}
	for s.race.len() > 0 && !s.narrowable() {
		r := s.race.first()
		if r.other >= 0 && s.satisfied(&s.others[r.other]) {
			s.race.drop()
			continue
		}
		w := r.walk.Peek()
		if !s.idle(w) {
			s.take(w, s.reason(l, w))
			if s.fits(borrow) {
				return true
			}
		}
		s.race.step()
	}
	return false
}

// enter starts the walks over the other queues of a list.
func (s *Search) enter(l list, evicted, borrow bool) {
	for i, o := range s.others {
		if o.entitled != (l == entitledQueues) {
			continue
		}
		rule := s.across
		if l == borrowingQueues && borrow {
			if s.queue.Preemption.BorrowWithinCohort == nil {
				return
			}
			rule = s.whileBorrowing()
		}
		r := s.race.spare(i)
		s.walk(&r.walk, o.queue, evicted, rule)
		s.race.enter()
	}
}

// whileBorrowing is whom a borrowing preemptor may evict in queues that do not use
// what its own side owns.
func (s *Search) whileBorrowing() Rule {
	rule := s.across.Below(s.question.Priority)
	if limit := s.queue.Preemption.BorrowWithinCohort.MaxPriority; limit != nil {
		rule = rule.Below(int64(*limit) + 1)
	}
	return rule
}

// satisfied reports whether a queue, or a cohort between it and the common one, is
// back within nominal quota.
func (s *Search) satisfied(o *otherQueue) bool {
	for h := o.queue; h != o.common; h = s.tree.Parent(h) {
		if s.usage.WithinNominal(h, s.question.Contested) {
			return true
		}
	}
	return false
}

// reason is the ground on which w is taken: in queues that are not entitled it
// depends on whether a borrowing preemptor may take w too.
func (s *Search) reason(l list, w *quota.Reservation) victims.QuotaReason {
	switch {
	case l == ownQueue:
		return victims.InClusterQueue
	case l == borrowingQueues && s.queue.Preemption.BorrowWithinCohort != nil && s.whileBorrowing().Allows(w):
		return victims.InCohortReclaimWhileBorrowing
	}
	return victims.InCohortReclamation
}
