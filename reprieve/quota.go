package reprieve

import (
	"slices"

	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// QuotaQuestion is what a workload asks of its ClusterQueue, flavors chosen.
type QuotaQuestion struct {
	Queue     cluster.QuotaID
	Request   []cluster.ColumnAmount // above 0, in order of column
	Contested []cluster.ColumnID     // of which there is not enough: victims use one of them; in order
	Priority  int64
	Ordered   int64 // its age, as that of a Reservation
}

// QuotaVictim is a workload that has to go, and on what ground.
type QuotaVictim struct {
	*cluster.Reservation
	Reason victims.QuotaReason
}

// QuotaStep is a decision about a workload.
type QuotaStep int

// The decisions.
const (
	QuotaTaken    QuotaStep = iota // it goes
	QuotaReturned                  // it comes back: the preemptor fits all the same
	QuotaKeptOut                   // it would come back, but the preemptor does not fit then
)

// QuotaPlace is what a workload needs beside quota: a place on the nodes.
type QuotaPlace interface {
	// Remove is told that r goes, Return that it comes back.
	Remove(r *cluster.Reservation)
	// Return is the exact inverse of Remove.
	Return(r *cluster.Reservation)
	// Fits says whether the preemptor has a place as things stand.
	Fits() bool
	// Helps says whether the place could become free by r's going. Where quota is
	// enough already, workloads that do not help are passed over.
	Helps(r *cluster.Reservation) bool
	// Jobs lists all that help; nil if they are not known.
	Jobs() []*cluster.Reservation
}

// QuotaSearch looks for workloads that have to leave their quota to another one.
// It is reused from question to question. Not safe for concurrent use.
type QuotaSearch struct {
	ix           *cluster.QuotaIndex
	tree         *quota.Tree
	usage        *quota.Usage
	reservations *victims.Reservations

	// Gone are workloads that are out already and cannot be evicted again.
	Gone map[*cluster.Reservation]bool

	// Place is checked after quota; nil: quota is all that is needed.
	Place QuotaPlace

	// Trials counts the checks whether the preemptor fits.
	Trials int

	// Observe is told of every decision about a workload, in turn, as things stand after
	// the check; Attempt of whether the preemptor may borrow, before what is tried
	// then. nil: nobody asks.
	Observe func(r *cluster.Reservation, step QuotaStep)
	Attempt func(borrow bool)

	enough bool                  // quota is, and only the place is missing
	narrow *victims.Reservations // those that help then; nil: reservations

	question *QuotaQuestion
	queue    *cluster.ClusterQueue
	out      []QuotaVictim

	within, across victims.QuotaRule // own queue, other queues
	others         []otherQueue
	rest           []cluster.ColumnAmount
	race           race
	glance         victims.QuotaWalk // of hasAny
	fair           fairSearch
	stays          [][]cluster.ColumnAmount // by queue: what one used that could not come back
	sum            *quota.Sum
}

// NewQuotaSearch returns a search over the reservations rs, which use u. It
// changes u and leaves it as it was after each question.
func NewQuotaSearch(ix *cluster.QuotaIndex, u *quota.Usage, rs *victims.Reservations) *QuotaSearch {
	return &QuotaSearch{ix: ix, tree: u.Tree(), usage: u, reservations: rs}
}

// Reset makes s as good as new for the usage as it is now.
func (s *QuotaSearch) Reset() {
	s.Gone, s.Place, s.Trials = nil, nil, 0
	s.Observe, s.Attempt = nil, nil
}

// Sum adds up what the victims of list use. It belongs to the search and is good
// until its next call or question.
func (s *QuotaSearch) Sum(list []QuotaVictim) *quota.Sum {
	if s.sum == nil {
		s.sum = s.tree.NewSum()
	}
	s.sum.Clear()
	for _, v := range list {
		s.sum.Take(v.Queue, v.Usage)
	}
	return s.sum
}

// begin takes up a question.
func (s *QuotaSearch) begin(q *QuotaQuestion) {
	s.question, s.queue = q, s.ix.Queue(q.Queue)
	s.out, s.narrow = s.out[:0], nil
	p := &s.queue.Preemption
	s.within = victims.NewQuotaRule(p.WithinClusterQueue, q.Priority, q.Ordered)
	s.across = victims.NewQuotaRule(p.ReclaimWithinCohort, q.Priority, q.Ordered)
}

// walk starts w over queue q.
func (s *QuotaSearch) walk(w *victims.QuotaWalk, q cluster.QuotaID, evicted bool, rule victims.QuotaRule) {
	if s.ix.Inactive(q) != "" {
		w.Stop()
		return
	}
	rs := s.reservations
	if s.narrow != nil {
		rs = s.narrow
	}
	w.Start(rs, q, s.question.Contested, evicted, rule, s.Gone)
}

func (s *QuotaSearch) remove(r *cluster.Reservation) {
	s.usage.Remove(r.Queue, r.Usage)
	if s.Place != nil {
		s.Place.Remove(r)
	}
}

func (s *QuotaSearch) giveBack(r *cluster.Reservation) {
	s.usage.Add(r.Queue, r.Usage)
	if s.Place != nil {
		s.Place.Return(r)
	}
}

// take removes r and notes it as a victim.
func (s *QuotaSearch) take(r *cluster.Reservation, reason victims.QuotaReason) {
	s.remove(r)
	s.out = append(s.out, QuotaVictim{r, reason})
	s.tell(r, QuotaTaken)
}

func (s *QuotaSearch) tell(r *cluster.Reservation, step QuotaStep) {
	if s.Observe != nil {
		s.Observe(r, step)
	}
}

func (s *QuotaSearch) fits(borrow bool) bool {
	s.Trials++
	s.enough = s.usage.Fits(s.question.Queue, s.question.Request, borrow)
	return s.enough && (s.Place == nil || s.Place.Fits())
}

// look notes whether quota is enough before anybody goes.
func (s *QuotaSearch) look(borrow bool) {
	s.enough = s.Place != nil && s.usage.Fits(s.question.Queue, s.question.Request, borrow)
}

// idle reports whether nothing is gained by the going of r.
func (s *QuotaSearch) idle(r *cluster.Reservation) bool {
	return s.enough && s.Place != nil && !s.Place.Helps(r)
}

// fillBack returns, from the last but one to the first, whoever can come back. The
// last one cannot: without it the preemptor did not fit. A place that becomes
// free in the list is taken by the last victim, as in Kueue.
//
// Of one queue, what uses the same as one that could not come back is not tried: as far as
// quota goes they are one, and there is never more of it later.
//
// Source: KEP-83, "Preemption", step 5.
func (s *QuotaSearch) fillBack(borrow bool) {
	if s.stays == nil {
		s.stays = make([][]cluster.ColumnAmount, s.tree.NumQueues())
	}
	clear(s.stays)
	for i := len(s.out) - 2; i >= 0; i-- {
		r := s.out[i].Reservation
		if s.Place == nil && s.Observe == nil && slices.Equal(s.stays[r.Queue], r.Usage) {
			s.Trials++ // counted as if it were made
			continue
		}
		s.giveBack(r)
		if !s.fits(borrow) {
			s.tell(r, QuotaKeptOut)
			s.remove(r)
			s.stays[r.Queue] = r.Usage
			continue
		}
		s.tell(r, QuotaReturned)
		last := len(s.out) - 1
		s.out[i] = s.out[last]
		s.out = s.out[:last]
	}
}

// restore puts every victim back.
func (s *QuotaSearch) restore() {
	if s.Place == nil {
		s.usage.AddSum(s.Sum(s.out))
		return
	}
	for i := len(s.out) - 1; i >= 0; i-- {
		s.giveBack(s.out[i].Reservation)
	}
}
