package workload

import (
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Leaving are workloads, and pods, that leave their quota to a workload, as far as the rules
// of its queue let them.
type Leaving struct {
	Held []*quota.Reservation

	s         *Search
	w         *cluster.Workload
	queue     quota.HolderID
	contested []quota.ColumnID
}

// Stays is why something may not leave.
type Stays int

// The reasons.
const (
	Leaves   Stays = iota // it may
	Entitled              // its queue does not borrow what is contested
	Twice                 // it leaves already, with another of them
	Going                 // it leaves for another preemptor
	Spared                // by the preemptor's queue, or since it is a part of what goes as a whole, or its own queue is inactive or has no cohort in common
)

// Leaving begins with nobody, for workload w of queue q.
func (s *Search) Leaving(w *cluster.Workload, q quota.HolderID, contested []quota.ColumnID) *Leaving {
	return &Leaving{s: s, w: w, queue: q, contested: contested}
}

// Rule says what of that queue may go for workload w of queue q.
func (m *Model) Rule(w *cluster.Workload, q, of quota.HolderID) quotasearch.Rule {
	policy := m.Index.Queue(q).Preemption.ReclaimWithinCohort
	if of == q {
		policy = m.Index.Queue(q).Preemption.WithinClusterQueue
	}
	return quotasearch.NewRule(policy, int64(w.Priority)+int64(w.Boost), quota.Ordered(w))
}

// Add lets r leave, if it may by itself.
func (l *Leaving) Add(r *quota.Reservation) Stays {
	m := l.s.Model
	switch {
	case r.Queue != l.queue && l.s.Usage.WithinNominal(r.Queue, l.contested):
		return Entitled
	case slices.Contains(l.Held, r):
		return Twice
	case m.Pods.Partial[r]:
		return Spared
	case l.s.Gone[r]:
		return Going
	case !m.Rule(l.w, l.queue, r.Queue).Allows(r) || m.Index.Inactive(r.Queue) != "" || m.Tree.Root(r.Queue) != m.Tree.Root(l.queue):
		return Spared
	}
	l.Held = append(l.Held, r)
	return Leaves
}

// Let reports whether the search lets all of them go for what is requested, and makes enough room by that. With
// shares it is asked only whether it finds anybody.
func (l *Leaving) Let(request []quota.ColumnAmount) bool {
	q := Question(l.w, l.queue, request, l.contested)
	switch {
	case len(l.Held) == 0:
		return true
	case l.s.Rules.Fair:
		return !l.s.Hopeless(&q)
	}
	return l.s.Lets(&q, l.Held)
}

// Settle takes away what all of them hold, and returns the first that may not go once the
// others have; nil if there is none.
func (l *Leaving) Settle() *quota.Reservation {
	usage, contested := l.s.Usage, l.contested
	for _, r := range l.Held {
		usage.Remove(r.Queue, r.Usage)
	}
	if l.s.Rules.Fair { // a queue gives as long as it has a share, of whatever
		contested = nil
		for c := range quota.ColumnID(l.s.Index.NumColumns()) {
			contested = append(contested, c)
		}
	}
	borrows := map[quota.HolderID]bool{l.queue: true} // until somebody of theirs, the last to go, has gone
	for _, r := range l.Held {
		if !borrows[r.Queue] {
			usage.Add(r.Queue, r.Usage)
			borrows[r.Queue] = !usage.WithinNominal(r.Queue, contested)
			usage.Remove(r.Queue, r.Usage)
		}
	}
	i := slices.IndexFunc(l.Held, func(r *quota.Reservation) bool { return !borrows[r.Queue] })
	if i < 0 {
		return nil
	}
	return l.Held[i]
}
