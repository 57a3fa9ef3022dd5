package quotasearch

import (
	"slices"

	"github.com/preempt-go/preempt/internal/cover"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Question is what a workload asks of its ClusterQueue, flavors chosen.
type Question struct {
	Queue     quota.HolderID
	Request   []quota.ColumnAmount // above 0, in order of column
	Contested []quota.ColumnID     // of which there is not enough: victims use one of them; in order
	Priority  int64
	Ordered   int64 // its age, as that of a Reservation
}

// Victim is a workload that has to go, and on what ground.
type Victim struct {
	*quota.Reservation
	Reason victims.QuotaReason
}

// Step is a decision about a workload.
type Step int

// The decisions.
const (
	Taken    Step = iota // it goes
	Returned             // it comes back: the preemptor fits all the same
	KeptOut              // it would come back, but the preemptor does not fit then
)

// Place is what a workload needs beside quota: a place on the nodes.
type Place interface {
	// Remove is told that r goes, Return that it comes back.
	Remove(r *quota.Reservation)
	// Return is the exact inverse of Remove.
	Return(r *quota.Reservation)
	// Fits says whether the preemptor has a place as things stand.
	Fits() bool
	// Helps says whether the place could become free by r's going. Where quota is
	// enough already, workloads that do not help are passed over.
	Helps(r *quota.Reservation) bool
	// Jobs lists all that help; nil if they are not known.
	Jobs() []*quota.Reservation
}

// Search looks for workloads that have to leave their quota to another one.
// It is reused from question to question. Not safe for concurrent use.
type Search struct {
	ix           *quota.Index
	tree         *quota.Tree
	usage        *quota.Usage
	reservations *Reservations

	// Gone are workloads that nobody may evict: they are out already, or the caller keeps them.
	Gone map[*quota.Reservation]bool

	// Place is checked after quota; nil: quota is all that is needed.
	Place Place

	// Trials counts the checks whether the preemptor fits.
	Trials int

	// Observe is told of every decision about a workload, in turn, as things stand after
	// the check; Attempt of whether the preemptor may borrow, before what is tried
	// then. nil: nobody asks.
	Observe func(r *quota.Reservation, step Step)
	Attempt func(borrow bool)

	enough bool          // quota is, and only the place is missing
	narrow *Reservations // those that help then; nil: reservations

	question *Question
	queue    *cluster.ClusterQueue
	out      []Victim

	within, across Rule // own queue, other queues
	others         []otherQueue
	rest           []quota.ColumnAmount
	race           race
	glance         Walk // of hasAny
	fair           fairSearch
	stays          [][]quota.ColumnAmount // by queue: what one used that could not come back
	sum            *quota.Sum
}

// New returns a search over the reservations rs, which use u. It
// changes u and leaves it as it was after each question.
func New(ix *quota.Index, u *quota.Usage, rs *Reservations) *Search {
	return &Search{ix: ix, tree: u.Tree(), usage: u, reservations: rs}
}

// Reset makes s as good as new for the usage as it is now.
func (s *Search) Reset() {
	s.Gone, s.Place, s.Trials = nil, nil, 0
	s.Observe, s.Attempt = nil, nil
}

// Sum adds up what the victims of list use. It belongs to the search and is good
// until its next call or question.
func (s *Search) Sum(list []Victim) *quota.Sum {
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
func (s *Search) begin(q *Question) {
	s.question, s.queue = q, s.ix.Queue(q.Queue)
	s.out, s.narrow = s.out[:0], nil
	p := &s.queue.Preemption
	s.within = NewRule(p.WithinClusterQueue, q.Priority, q.Ordered)
	s.across = NewRule(p.ReclaimWithinCohort, q.Priority, q.Ordered)
}

// walk starts w over queue q.
func (s *Search) walk(w *Walk, q quota.HolderID, evicted bool, rule Rule) {
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

func (s *Search) remove(r *quota.Reservation) {
	s.usage.Remove(r.Queue, r.Usage)
	if s.Place != nil {
		s.Place.Remove(r)
	}
}

func (s *Search) giveBack(r *quota.Reservation) {
	s.usage.Add(r.Queue, r.Usage)
	if s.Place != nil {
		s.Place.Return(r)
	}
}

// take removes r and notes it as a victim.
func (s *Search) take(r *quota.Reservation, reason victims.QuotaReason) {
	s.remove(r)
	s.out = append(s.out, Victim{r, reason})
	s.tell(r, Taken)
}

func (s *Search) tell(r *quota.Reservation, step Step) {
	if s.Observe != nil {
		s.Observe(r, step)
	}
}

func (s *Search) fits(borrow bool) bool {
	s.Trials++
	s.enough = s.usage.Fits(s.question.Queue, s.question.Request, borrow)
	return s.enough && (s.Place == nil || s.Place.Fits())
}

// look notes whether quota is enough before anybody goes.
func (s *Search) look(borrow bool) {
	s.enough = s.Place != nil && s.usage.Fits(s.question.Queue, s.question.Request, borrow)
}

// idle reports whether nothing is gained by the going of r.
func (s *Search) idle(r *quota.Reservation) bool {
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
func (s *Search) fillBack(borrow bool) {
	if s.stays == nil {
		s.stays = make([][]quota.ColumnAmount, s.tree.NumQueues())
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
			s.tell(r, KeptOut)
			s.remove(r)
			s.stays[r.Queue] = r.Usage
			continue
		}
		s.tell(r, Returned)
		last := len(s.out) - 1
		s.out[i] = s.out[last]
		s.out = s.out[:last]
	}
}

// restore puts every victim back.
func (s *Search) restore() {
	if s.Place == nil {
		s.usage.AddSum(s.Sum(s.out))
		return
	}
	for i := len(s.out) - 1; i >= 0; i-- {
		s.giveBack(s.out[i].Reservation)
	}
}

// Ground is who may go in an attempt of [Search.Classical], and what any of them have to free.
type Ground struct {
	Borrow  bool // the preemptor may
	Victims []Victim
	Rows    []Row
}

// Row says how much of a column has to become free.
type Row struct {
	Column quota.ColumnID
	Up     int       // it is for the holder so many above the queue, 0 the queue itself, or OwnQuota
	Need   int64     // above zero
	Frees  cover.Row // who frees how much of it at most, by position among those who may go
}

// OwnQuota is in place of a holder where the queue must not borrow.
const OwnQuota = -1

// Grounds lists the grounds of all attempts.
func (s *Search) Grounds(q *Question) (list []Ground) {
	s.begin(q)
	s.discover()
	for _, borrow := range s.attempts() {
		l := &quotaLeaster{Search: s, borrow: borrow}
		l.list()
		g := Ground{Borrow: borrow, Rows: l.rows()}
		for i := range l.items {
			g.Victims = append(g.Victims, l.items[i].Victim)
		}
		list = append(list, g)
	}
	return list
}

// Lets reports whether an attempt of [Search.Classical] lets all of list go, in some order, and
// leaves enough quota then.
//
// O(k log k + holders × columns) for k of list.
func (s *Search) Lets(q *Question, list []*quota.Reservation) bool {
	s.begin(q)
	s.discover()
	s.narrow = s.reservations.Only(list)
	defer func() { s.narrow = nil }()
	return slices.ContainsFunc(s.attempts(), func(borrow bool) bool {
		l := &quotaLeaster{Search: s, borrow: borrow}
		l.list()
		if len(l.items) < len(list) {
			return false
		}
		l.watch()
		all := make([]bool, len(l.items))
		for i := range all {
			all[i] = true
		}
		if l.Never(all) {
			return false
		}
		for i := range all {
			l.Remove(i)
		}
		ok := s.usage.Fits(q.Queue, q.Request, borrow)
		for i := range all {
			l.Return(i)
		}
		return ok
	})
}

// Kept is what keeps a workload from going for a preemptor, before anybody has
// gone.
type Kept int

// What keeps workloads, in the order in which it is looked at.
const (
	NotKept     Kept = iota // it may go
	Unused                  // it uses nothing of what is contested
	Gone                    // it is among those that are Gone
	Inactive                // its queue is inactive
	Apart                   // its queue has no cohort in common with the preemptor's
	OwnPolicy               // the policy within the preemptor's queue
	OtherPolicy             // the policy for other queues of the cohort
	Nominal                 // its queue does not borrow what is contested
)

// Keeps says what keeps r from going for the question's preemptor as things stand.
// O(depth).
func (s *Search) Keeps(q *Question, r *quota.Reservation) Kept {
	s.begin(q)
	uses := false
	for _, c := range q.Contested {
		uses = uses || r.Uses(c)
	}
	switch {
	case !uses:
		return Unused
	case s.Gone[r]:
		return Gone
	case s.ix.Inactive(r.Queue) != "":
		return Inactive
	case r.Queue == q.Queue && !s.within.Allows(r):
		return OwnPolicy
	case r.Queue == q.Queue:
		return NotKept
	case s.tree.Root(r.Queue) != s.tree.Root(q.Queue):
		return Apart
	case !s.across.Allows(r):
		return OtherPolicy
	case s.usage.WithinNominal(r.Queue, q.Contested):
		return Nominal
	}
	return NotKept
}
