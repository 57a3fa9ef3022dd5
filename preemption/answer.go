package preemption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// result starts an answer.
func (s *podSearch) result(v Verdict, message string) *Result {
	s.stats.Trials = s.checks()
	return &Result{Verdict: v, Message: message, Preemptor: s.asked, Warnings: s.warnings(), Stats: s.stats}
}

// checks counts the feasibility checks so far.
func (s *podSearch) checks() int {
	return s.trial.Checks + s.looks
}

// fits answers that the pod goes to node n as things are.
func (s *podSearch) fits(n cluster.NodeID) *Result {
	if s.brief {
		return &Result{Verdict: Fits, Domain: s.ix.Node(n).Name}
	}
	r := s.result(Fits, "fits on "+s.ix.Node(n).Name+" without preemption")
	r.Domain = s.ix.Node(n).Name
	r.Nominations = s.nominations(n)
	return r
}

// feasible answers with the best candidate.
func (s *podSearch) feasible() *Result {
	name := s.ix.Node(s.best.node).Name
	if s.brief {
		return &Result{Verdict: Feasible, Domain: name}
	}
	list := s.victims(s.best)
	r := s.result(Feasible, fmt.Sprintf("fits on %s once %s", name, areEvicted(list)))
	r.Domain, r.Nominations = name, s.nominations(s.best.node)
	r.Victims = list
	r.Score = s.criteria(s.best.score)
	r.Violations = s.best.score.Violations
	r.Overruns = s.budgets.Overruns(s.units, s.best.victims, s.best.parts, s.tally)
	r.Cost = s.best.score.Cost
	r.Budgets = s.roomOf(s.best.victims, s.best.parts)
	r.Cleared = s.cleared(s.best.node)
	r.Rejected = s.rejections()
	r.Kept = s.keptBy([]cluster.NodeID{s.best.node})
	r.Warnings = append(r.Warnings, s.classless(list)...)
	if s.options.Candidates {
		r.Candidates = s.candidates()
	}
	if s.options.Explain {
		r.Trace = s.trace()
	}
	r.Stats.Trials = s.checks()
	return r
}

// infeasible answers that no evictions help, and what would.
func (s *podSearch) infeasible() *Result {
	if s.brief {
		return &Result{Verdict: Infeasible}
	}
	r := s.result(Infeasible, helpless(s.stats.Exact))
	if s.ix.NumNodes() == 0 {
		r.Message = "the cluster has no nodes"
	}
	r.Rejected = s.rejections()
	r.Kept = s.keptBy(nil)
	switch {
	case s.probe:
	case s.hard != nil || s.limits != nil:
		r.Nearest = s.nearestBounded()
	default:
		r.Nearest = s.nearest()
	}
	if s.options.Explain {
		r.Trace = s.trace()
	}
	r.Stats.Trials = s.checks()
	return r
}

// helpless is the message of an infeasible answer, proved or not.
func helpless(proved bool) string {
	if proved {
		return "no evictions help"
	}
	return "no evictions were found that help; that none do is not proved"
}

func (s *podSearch) nominations(n cluster.NodeID) []Nomination {
	pod := s.member.Pod
	return []Nomination{{PodRef{pod.Namespace, pod.Name}, s.ix.Node(n).Name}}
}

// cleared lists the pods of lower priority that are nominated to node n.
//
// Source: kube-scheduler v1.36, lower nominated pods.
func (s *podSearch) cleared(n cluster.NodeID) []PodRef {
	var list []PodRef
	for _, p := range s.ix.Nominees(n) {
		if s.ix.Priority(p) < s.priority {
			list = append(list, s.ref(p))
		}
	}
	return list
}

// candidates spells out every candidate, by name of the node.
func (s *podSearch) candidates() []Candidate {
	slices.SortFunc(s.found, func(a, b candidate) int { return cmp.Compare(a.node, b.node) })
	list := make([]Candidate, len(s.found))
	for i, c := range s.found {
		list[i] = Candidate{
			Domain:     s.ix.Node(c.node).Name,
			Victims:    s.victims(c),
			Violations: c.score.Violations,
			Overruns:   s.budgets.Overruns(s.units, c.victims, c.parts, s.tally),
			Score:      s.criteria(c.score),
			Best:       s.compareScores(&c.score, &s.best.score) == 0,
		}
	}
	return list
}

// victims spells out the victims of c, each with the check that its return fails.
func (s *podSearch) victims(c candidate) []Victim {
	attempts := s.attempts(c.node)
	list := make([]Victim, len(c.victims))
	for i, u := range c.victims {
		list[i] = s.victim(u, c.parts.Of(s.units, u), attempts[u], c.node, nil)
	}
	return list
}

// attempts repeats the evaluation of node n, which helps, and notes why each unit
// that stayed out could not return: with the final set of victims gone, or, where
// constraints are not monotone and it could by now, when it was tried.
func (s *podSearch) attempts(n cluster.NodeID) map[victims.UnitID]attempt {
	tried := map[victims.UnitID]attempt{}
	s.runner.Observe = func(u victims.UnitID, violates bool, why domain.Reason) {
		if !why.OK() || s.units.Unit(u).Elastic { // the others came back whole
			tried[u] = attempt{violates || tried[u].violates, why} // it may be tried again, below the lowest level
		}
	}
	defer func() { s.runner.Observe = nil }()
	s.trial.Reset(n)
	out, _ := s.strategy()(s.evictable(n))
	for _, u := range out.Victims {
		pods := s.runner.Parts().Of(s.units, u)
		if a := tried[u]; a.violates && s.runner.ViolationsOf(reprieve.Charged{Unit: u, Violations: 1}) == 0 {
			tried[u] = attempt{false, a.why}
		}
		for _, p := range pods {
			s.trial.Return(p)
		}
		if why := s.trial.Fits(); !why.OK() {
			tried[u] = attempt{tried[u].violates, why}
		}
		for _, p := range pods {
			s.trial.Remove(p)
		}
	}
	return tried
}
