package ask

import (
	"time"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// Verdict is the kind of an answer.
type Verdict int

// The verdicts.
const (
	Feasible    Verdict = iota // somebody is to be evicted, then the preemptor fits
	Fits                       // without preemption
	NotEligible                // the preemptor may not preempt: see [Refusal]
	Waiting                    // victims of an earlier answer are still terminating
	Infeasible                 // no evictions help
)

// Refusal is why a preemptor evicts nobody, as it is or as yet.
type Refusal struct {
	Why    Why
	Member domain.MemberID // of MemberNever, OtherPriority and OtherPolicy
	Root   cluster.GroupID // of RootPreempts
	Wait   int64           // of WaitsFirst: so many seconds in all
	Left   int64           // and so many from now on
}

// Why is the kind of a refusal.
type Why int

// The refusals. The zero Why is none.
const (
	Willing       Why = iota
	NoComposites      // the rules know no composite groups
	GroupPreempts     // the pod's group does
	RootPreempts      // the composite group above does
	NoTopology        // the rules preempt for no group with topology constraints
	OtherPriority     // a member's differs from that of its group
	OtherPolicy       // likewise
	NeverPreempts     // it is its preemption policy
	MemberNever       // or that of a member
	WasEvicted        // itself, and evicts nobody in turn
	WaitsFirst        // so long before it preempts
)

// Barred is why the rules let a preemptor of its kind preempt for nobody.
func (q *Question) Barred() Refusal {
	if q.Tree == nil {
		if !q.Gathered && q.MembersWait && q.Members[0].Pod.Group != "" {
			return Refusal{Why: GroupPreempts}
		}
		return Refusal{}
	}
	switch {
	case q.Composites && q.Group.Parent != cluster.NoGroup:
		return Refusal{Why: RootPreempts, Root: q.Index.Root(q.Group.Parent)}
	case !q.Topology && q.Tree.HasTopology():
		return Refusal{Why: NoTopology}
	case q.UniformMembers:
		for m := range q.Members {
			if why := q.differs(domain.MemberID(m)); why.Why != Willing {
				return why
			}
		}
	}
	return Refusal{}
}

// differs is how a member differs from its group in what decides about preemption. A
// pod that says nothing follows its group.
func (q *Question) differs(m domain.MemberID) Refusal {
	pod := q.Members[m].Pod
	e, _ := q.Effective(pod)
	switch {
	case (pod.Priority != nil || pod.Class != "") && e.Priority != q.Priority:
		return Refusal{Why: OtherPriority, Member: m}
	case (pod.Policy != "" || pod.Class != "") && e.Policy != q.Policy:
		return Refusal{Why: OtherPolicy, Member: m}
	}
	return Refusal{}
}

// RefusalOfPod is why a lone pod evicts nobody.
//
// Source: kube-scheduler v1.36, pod eligible to preempt others.
func (q *Question) RefusalOfPod() Refusal {
	why := q.never()
	if why.Why == Willing {
		why = q.Barred()
	}
	if why.Why == Willing {
		why = q.Impatient()
	}
	return why
}

// Unwilling is why the preemptor evicts nobody by its own policy, or as yet.
func (q *Question) Unwilling() Refusal {
	if why := q.never(); why.Why != Willing {
		return why
	}
	return q.Impatient()
}

// never is whose policy it is to evict nobody.
func (q *Question) never() Refusal {
	if q.Tree == nil || q.GroupPolicy {
		if q.Policy == priority.Never {
			return Refusal{Why: NeverPreempts}
		}
		return Refusal{}
	}
	for m, member := range q.Members {
		if e, _ := q.Effective(member.Pod); e.Policy == priority.Never {
			return Refusal{Why: MemberNever, Member: domain.MemberID(m)}
		}
	}
	return Refusal{}
}

// Impatient is why the preemptor, which may preempt by its policy, does not do so yet.
func (q *Question) Impatient() Refusal {
	if q.NoCascade && !q.Claim.Evicted.IsZero() {
		return Refusal{Why: WasEvicted}
	}
	seconds := q.waitSeconds()
	if seconds == 0 {
		return Refusal{}
	}
	var created time.Time
	for _, m := range q.Members {
		if t := m.Pod.Created; !t.IsZero() && (created.IsZero() || t.Before(created)) {
			created = t
		}
	}
	elapsed, known := q.Index.Elapsed(created)
	if !known || elapsed >= seconds {
		return Refusal{}
	}
	return Refusal{Why: WaitsFirst, Wait: seconds, Left: seconds - elapsed}
}

// waitSeconds is how long the preemptor waits. Of a group it is what the group or
// the nearest one above says, else its class; else the most that a member says.
func (q *Question) waitSeconds() int64 {
	if q.Group != nil {
		if s, ok := q.groupWait(q.Group); ok {
			return s
		}
		if s, ok := q.classWait(q.Group.Class()); ok {
			return s
		}
	}
	longest := int64(0)
	for _, m := range q.Members {
		longest = max(longest, q.podWait(m.Pod))
	}
	return longest
}

// podWait is what a pod says itself, else the nearest group above, else its class
// or the nearest one that a group above names, else the options.
func (q *Question) podWait(pod *cluster.Pod) int64 {
	if pod.Guard != nil && pod.Guard.WaitSeconds != nil {
		return *pod.Guard.WaitSeconds
	}
	class := pod.Class
	if g := q.Index.GroupByName(cluster.KindPodGroup, pod.Namespace, pod.Group); g != cluster.NoGroup {
		if s, ok := q.groupWait(q.Index.Group(g)); ok {
			return s
		}
		for ; g != cluster.NoGroup && class == ""; g = q.Index.Group(g).Parent {
			class = q.Index.Group(g).Class()
		}
	}
	if s, ok := q.classWait(class); ok {
		return s
	}
	return q.WaitSeconds
}

func (q *Question) classWait(name string) (seconds int64, ok bool) {
	c, _ := q.Index.Classes().Lookup(name)
	return c.WaitSeconds, c.WaitSeconds > 0
}

// groupWait is what group g, or the nearest one above it, says.
func (q *Question) groupWait(g *cluster.Group) (seconds int64, ok bool) {
	for {
		if guard := g.Guard(); guard != nil && guard.WaitSeconds != nil {
			return *guard.WaitSeconds, true
		}
		if g.Parent == cluster.NoGroup {
			return 0, false
		}
		g = q.Index.Group(g.Parent)
	}
}
