package workload

import (
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Search is the search for victims of one preemptor, over usage that is its own: what the
// workloads use, and what earlier answers hold back for others and take from their victims.
type Search struct {
	*Model
	*quotasearch.Search
	Usage *quota.Usage
	order int // of sorted
}

// Search returns a search for workload w of queue q; see Keep.
func (m *Model) Search(w *cluster.Workload, q quota.HolderID) *Search {
	s, _ := m.idle[m.orderOf[q]].Get().(*Search)
	if s != nil {
		s.Reset()
	} else {
		usage := m.Tree.NewUsage()
		s = &Search{
			Model: m, Usage: usage, order: m.orderOf[q],
			Search: quotasearch.New(m.Index, usage, m.sorted[m.orderOf[q]]),
		}
	}
	s.Gone = m.account(s.Usage, w)
	return s
}

// Keep lets a later question use s, which is out of use.
func (m *Model) Keep(s *Search) { m.idle[s.order].Put(s) }

// Victims looks for workloads that have to leave their quota to q. The list is good until
// the next search.
func (s *Search) Victims(q *quotasearch.Question) []quotasearch.Victim {
	if !s.Rules.Fair {
		return s.Classical(q)
	}
	return s.Fair(q, s.Rules.Strategies, s.Rules.Precision)
}

// WouldBorrow reports whether queue q, with a policy of KEP-83, owns less than is asked for of what is short:
// nobody goes for that.
func (s *Search) WouldBorrow(q quota.HolderID, request []quota.ColumnAmount) bool {
	return keepsToItsOwn(s.Index.Queue(q)) && slices.ContainsFunc(request, func(r quota.ColumnAmount) bool {
		return r.Amount > s.Tree.Nominal(q, r.Column) && r.Amount > s.Usage.Available(q, r.Column)
	})
}

// keepsToItsOwn reports whether a queue has a policy of KEP-83, under which no preemptor borrows.
func keepsToItsOwn(q *cluster.ClusterQueue) bool {
	p := q.Preemption.ReclaimWithinCohort
	return p == cluster.ReclaimFromLowerPriority || p == cluster.ReclaimFromAny
}

// Hopeless reports whether nobody may go for a question of a pod, whatever room there is on the nodes: there is too
// little quota, and no victims make enough.
func (s *Search) Hopeless(q *quotasearch.Question) bool {
	return !s.Usage.Fits(q.Queue, q.Request, true) && (s.WouldBorrow(q.Queue, q.Request) || len(s.Victims(q)) == 0)
}

// Question is what the search is asked for workload w of queue q.
func Question(w *cluster.Workload, q quota.HolderID, request []quota.ColumnAmount, contested []quota.ColumnID) quotasearch.Question {
	return quotasearch.Question{
		Queue: q, Request: request, Contested: contested, Priority: int64(w.Priority) + int64(w.Boost), Ordered: quota.Ordered(w),
	}
}

// Lack is the first amount that is lacking, as things stand.
type Lack struct {
	Column  quota.ColumnID // NoColumn: nothing is
	Missing int64
	Borrows bool // there is enough, but it would have to be borrowed
}

// Lack is what queue q lacks of request: what there is not, or else what it would have to
// borrow and may not.
func (s *Search) Lack(q quota.HolderID, request []quota.ColumnAmount) Lack {
	for _, c := range request {
		if available := s.Usage.Available(q, c.Column); c.Amount > available {
			return Lack{Column: c.Column, Missing: quota.Sub(c.Amount, available)}
		}
	}
	for _, c := range request {
		if s.Usage.Borrows(q, c.Column, c.Amount) {
			nominal := quota.Sub(s.Tree.Nominal(q, c.Column), s.Usage.Used(q, c.Column))
			return Lack{c.Column, quota.Sub(c.Amount, nominal), true}
		}
	}
	return Lack{Column: quota.NoColumn}
}
