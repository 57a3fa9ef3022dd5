package preemption

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// verdicts are those of searches in words.
var verdicts = [...]Verdict{
	ask.Feasible: Feasible, ask.Fits: Fits, ask.NotEligible: NotEligible, ask.Waiting: Waiting, ask.Infeasible: Infeasible,
}

// refusal is a refusal in words; empty for none.
func (q *question) refusal(r ask.Refusal) string {
	switch r.Why {
	case ask.NoComposites:
		return "these rules know no composite groups"
	case ask.GroupPreempts:
		pod := q.Members[0].Pod
		return "it belongs to pod group " + key(pod.Namespace, pod.Group) + ": its group preempts"
	case ask.RootPreempts:
		root := q.Index.Group(r.Root)
		return "its composite group " + key(root.Namespace, root.Name) + " preempts"
	case ask.NoTopology:
		return "these rules preempt for no group with topology constraints"
	case ask.OtherPriority:
		return "the priority of " + q.memberName(r.Member) + " differs from that of its group"
	case ask.OtherPolicy:
		return "the preemption policy of " + q.memberName(r.Member) + " differs from that of its group"
	case ask.NeverPreempts:
		return "its preemption policy is Never"
	case ask.MemberNever:
		return "the preemption policy of " + q.memberName(r.Member) + " is Never"
	case ask.WasEvicted:
		return "it was evicted itself, and evicts nobody in turn"
	case ask.WaitsFirst:
		return "it waits " + words.Seconds(r.Wait) + " before it preempts, " + words.Seconds(r.Left) + " more"
	}
	return ""
}

// memberName is the namespace and name of member m.
func (q *question) memberName(m domain.MemberID) string {
	pod := q.Members[m].Pod
	return key(pod.Namespace, pod.Name)
}

// stillTerminating says that victims on node n are to be waited for.
func (q *question) stillTerminating(n cluster.NodeID) string {
	return "victims on its nominated node " + q.Index.Node(n).Name + " are still terminating"
}

// evictsNobody says why the preemptor may not evict anybody; empty if it may, or one of the
// pods of a gathering.
func (q *question) evictsNobody() (text string) {
	for _, one := range q.gathered {
		if text = one.refusal(one.Unwilling()); text == "" {
			return ""
		}
	}
	if text == "" {
		text = q.refusal(q.Barred())
	}
	if text == "" {
		text = q.refusal(q.Unwilling())
	}
	return text
}
