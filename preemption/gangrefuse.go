package preemption

import (
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// refuse answers for a gang that may not preempt; nil if it may.
//
// Source: kube-scheduler v1.36 and v1.37, pod group preemption.
func (s *gangSearch) refuse() *Result {
	if s.rules.composites && s.group.Parent != cluster.NoGroup {
		root := s.ix.Group(s.ix.Root(s.group.Parent))
		return s.result(NotEligible, "its composite group "+key(root.Namespace, root.Name)+" preempts")
	}
	if !s.rules.topology && s.team.wishes() {
		return s.result(NotEligible, "these rules preempt for no group with topology constraints")
	}
	if s.rules.uniformMembers {
		for _, m := range s.members {
			if text := s.differs(m.Pod); text != "" {
				return s.result(NotEligible, text)
			}
		}
	}
	if s.rules.waitsForVictims {
		if n := s.waitsFor(); n != cluster.NoNode {
			return s.waiting(n)
		}
	}
	if s.rules.groupPolicy {
		if s.policy == priority.Never {
			return s.result(NotEligible, "its preemption policy is Never")
		}
	} else {
		for _, m := range s.members {
			if e, _ := s.resolve(m.Pod); e.Policy == priority.Never {
				return s.result(NotEligible, "the preemption policy of "+key(m.Pod.Namespace, m.Pod.Name)+" is Never")
			}
		}
	}
	if text := s.patience(); text != "" {
		return s.result(NotEligible, text)
	}
	return nil
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
func (s *gangSearch) differs(pod *cluster.Pod) string {
	e, _ := s.resolve(pod)
	name := key(pod.Namespace, pod.Name)
	switch {
	case (pod.Priority != nil || pod.Class != "") && e.Priority != s.priority:
		return "the priority of " + name + " differs from that of its group"
	case (pod.Policy != "" || pod.Class != "") && e.Policy != s.policy:
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
