package preemption

import (
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// refuse answers for a gang that may not preempt; nil if it may.
//
// Source: kube-scheduler v1.36 and v1.37, pod group preemption.
func (s *gangSearch) refuse() *Result {
	if text := s.barred(); text != "" {
		return s.result(NotEligible, text)
	}
	if s.rules.waitsForVictims {
		if n := s.waitsFor(); n != cluster.NoNode {
			return s.waiting(n)
		}
	}
	if text := s.unwilling(); text != "" {
		return s.result(NotEligible, text)
	}
	return nil
}

// barred says why the rules let a preemptor of its kind preempt for nobody; empty if they
// do not.
func (q *question) barred() string {
	if q.tree == nil {
		if pod := q.members[0].Pod; q.gathered == nil && q.rules.membersWait && pod.Group != "" {
			return "it belongs to pod group " + key(pod.Namespace, pod.Group) + ": its group preempts"
		}
		return ""
	}
	if q.rules.composites && q.group.Parent != cluster.NoGroup {
		root := q.ix.Group(q.ix.Root(q.group.Parent))
		return "its composite group " + key(root.Namespace, root.Name) + " preempts"
	}
	if !q.rules.topology && q.tree.HasTopology() {
		return "these rules preempt for no group with topology constraints"
	}
	if q.rules.uniformMembers {
		for _, m := range q.members {
			if text := q.differs(m.Pod); text != "" {
				return text
			}
		}
	}
	return ""
}

// unwilling says why the preemptor evicts nobody, as it is or as yet; empty if it may.
func (q *question) unwilling() string {
	if text := q.never(); text != "" {
		return text
	}
	return q.patience()
}

// never says whose policy it is to evict nobody; empty if nobody's.
func (q *question) never() string {
	if q.tree == nil || q.rules.groupPolicy {
		if q.policy == priority.Never {
			return "its preemption policy is Never"
		}
		return ""
	}
	for _, m := range q.members {
		if e, _ := q.resolve(m.Pod); e.Policy == priority.Never {
			return "the preemption policy of " + key(m.Pod.Namespace, m.Pod.Name) + " is Never"
		}
	}
	return ""
}

// waiting answers that victims on node n are to be waited for: the nominations of
// the members stand.
func (s *gangSearch) waiting(n cluster.NodeID) *Result {
	r := s.result(Waiting, "victims on its nominated node "+s.ix.Node(n).Name+" are still terminating")
	for _, m := range s.members {
		if s.ix.NodeByName(m.Pod.NominatedNode) != cluster.NoNode {
			r.Nominations = append(r.Nominations, Nomination{PodRef{m.Pod.Namespace, m.Pod.Name}, m.Pod.NominatedNode})
		}
	}
	sortNominations(r.Nominations)
	return r
}

// differs says how a member differs from its group in what decides about
// preemption; empty if it does not. A pod that says nothing follows its group.
func (q *question) differs(pod *cluster.Pod) string {
	e, _ := q.resolve(pod)
	name := key(pod.Namespace, pod.Name)
	switch {
	case (pod.Priority != nil || pod.Class != "") && e.Priority != q.priority:
		return "the priority of " + name + " differs from that of its group"
	case (pod.Policy != "" || pod.Class != "") && e.Policy != q.policy:
		return "the preemption policy of " + name + " differs from that of its group"
	}
	return ""
}

// waitsFor returns a node to which a member is nominated and on which a pod below
// the gang's priority is terminating by preemption, or NoNode.
func (s *gangSearch) waitsFor() cluster.NodeID {
	for _, m := range s.members {
		n := s.ix.NodeByName(m.Pod.NominatedNode)
		if n == cluster.NoNode {
			continue
		}
		for _, p := range s.ix.PodsOn(n) {
			u, _ := s.units.UnitOf(p)
			if pod := s.ix.Pod(p); pod.Terminating && pod.Preempted && s.may(u, s.claim) {
				return n
			}
		}
	}
	return cluster.NoNode
}
