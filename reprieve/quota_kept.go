package reprieve

import "github.com/preempt-go/preempt/preemption/cluster"

// QuotaKept is what keeps a workload from going for a preemptor, before anybody has
// gone.
type QuotaKept int

// What keeps workloads, in the order in which it is looked at.
const (
	QuotaNotKept     QuotaKept = iota // it may go
	QuotaUnused                       // it uses nothing of what is contested
	QuotaGone                         // it leaves for somebody else already
	QuotaInactive                     // its queue is inactive
	QuotaApart                        // its queue has no cohort in common with the preemptor's
	QuotaOwnPolicy                    // the policy within the preemptor's queue
	QuotaOtherPolicy                  // the policy for other queues of the cohort
	QuotaNominal                      // its queue does not borrow what is contested
)

// Keeps says what keeps r from going for the question's preemptor as things stand.
// O(depth).
func (s *QuotaSearch) Keeps(q *QuotaQuestion, r *cluster.Reservation) QuotaKept {
	s.begin(q)
	uses := false
	for _, c := range q.Contested {
		uses = uses || r.Uses(c)
	}
	switch {
	case !uses:
		return QuotaUnused
	case s.Gone[r]:
		return QuotaGone
	case s.ix.Inactive(r.Queue) != "":
		return QuotaInactive
	case r.Queue == q.Queue && !s.within.Allows(r):
		return QuotaOwnPolicy
	case r.Queue == q.Queue:
		return QuotaNotKept
	case s.tree.Root(r.Queue) != s.tree.Root(q.Queue):
		return QuotaApart
	case !s.across.Allows(r):
		return QuotaOtherPolicy
	case s.usage.WithinNominal(r.Queue, q.Contested):
		return QuotaNominal
	}
	return QuotaNotKept
}
