package quotasearch

import "github.com/preempt-go/preempt/internal/quota"

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
