package preemption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// result starts an answer.
func (s *podSearch) result(v Verdict, message string) *Result {
	s.stats.Trials = s.trial.Checks
	return &Result{Verdict: v, Message: message, Warnings: slices.Clone(s.ix.Warnings()), Stats: s.stats}
}

// fits answers that the pod goes to node n as things are.
func (s *podSearch) fits(n cluster.NodeID) *Result {
	r := s.result(Fits, "fits on "+s.ix.Node(n).Name+" without preemption")
	r.Domain = s.ix.Node(n).Name
	r.Nominations = s.nominations(n)
	return r
}

// feasible answers with the best candidate.
func (s *podSearch) feasible() *Result {
	name := s.ix.Node(s.best.node).Name
	list := s.victims(s.best)
	r := s.result(Feasible, fmt.Sprintf("fits on %s once %s is evicted", name, count(numPods(list), "pod")))
	if len(list) > 1 || numPods(list) > 1 {
		r.Message = fmt.Sprintf("fits on %s once %s are evicted", name, count(numPods(list), "pod"))
	}
	r.Domain, r.Nominations = name, s.nominations(s.best.node)
	r.Victims = list
	r.Score = criteria(s.best.score)
	r.Violations = s.best.score.Violations
	r.Overruns = s.budgets.Overruns(s.units, s.best.victims, s.tally)
	r.Cleared = s.cleared(s.best.node)
	r.Rejected = s.rejections()
	if s.options.Candidates {
		r.Candidates = s.candidates()
	}
	if s.options.Explain {
		r.Trace = s.trace()
	}
	r.Stats.Trials = s.trial.Checks
	return r
}

// infeasible answers that no evictions help, and what would.
func (s *podSearch) infeasible() *Result {
	r := s.result(Infeasible, "no evictions help")
	if s.ix.NumNodes() == 0 {
		r.Message = "the cluster has no nodes"
	}
	r.Rejected = s.rejections()
	r.Nearest = s.nearest()
	if s.options.Explain {
		r.Trace = s.trace()
	}
	r.Stats.Trials = s.trial.Checks
	return r
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

func (s *podSearch) ref(p cluster.PodID) PodRef {
	pod := s.ix.Pod(p)
	return PodRef{pod.Namespace, pod.Name}
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
			Overruns:   s.budgets.Overruns(s.units, c.victims, s.tally),
			Score:      criteria(c.score),
			Best:       c.score.Compare(s.best.score) == 0,
		}
	}
	return list
}

func criteria(score victims.Score) []Criterion {
	list := make([]Criterion, len(victims.Criteria))
	for i, v := range score.Values() {
		list[i] = Criterion{victims.Criteria[i], v}
	}
	return list
}

// victims spells out the victims of c, each with the check that its return fails.
func (s *podSearch) victims(c candidate) []Victim {
	attempts := s.attempts(c.node)
	list := make([]Victim, len(c.victims))
	for i, u := range c.victims {
		list[i] = s.victim(u, attempts[u], c.node)
	}
	return list
}

// attempt is how the return of a unit went.
type attempt struct {
	violates bool
	why      domain.Reason
}

// attempts repeats the evaluation of node n, which helps, and notes why each unit
// that stayed out could not return: with the final set of victims gone, or, where
// constraints are not monotone and it could by now, when it was tried.
func (s *podSearch) attempts(n cluster.NodeID) map[victims.UnitID]attempt {
	tried := map[victims.UnitID]attempt{}
	s.runner.Observe = func(u victims.UnitID, violates bool, why domain.Reason) { tried[u] = attempt{violates, why} }
	defer func() { s.runner.Observe = nil }()
	s.trial.Reset(n)
	out, _ := s.runner.Run(s.trial, s.units.Potential(n, s.priority))
	for _, u := range out.Victims {
		pods := s.units.Unit(u).Pods
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

func (s *podSearch) victim(u victims.UnitID, a attempt, n cluster.NodeID) Victim {
	unit := s.units.Unit(u)
	v := Victim{Kind: cluster.KindPod, Priority: unit.Priority, Violates: a.violates, Reason: s.reason(n, a.why)}
	if unit.Group != cluster.NoGroup {
		g := s.ix.Group(unit.Group)
		v.Kind, v.Namespace, v.Name, v.Mode = g.Kind, g.Namespace, g.Name, g.Mode
	} else {
		pod := s.ix.Pod(unit.Pods[0])
		v.Namespace, v.Name = pod.Namespace, pod.Name
	}
	for _, p := range unit.Pods {
		pod := s.ix.Pod(p)
		v.Pods = append(v.Pods, VictimPod{s.ref(p), pod.Node, s.ix.Priority(p), pod.Started})
		for _, b := range s.budgets.Of(p) {
			v.Budgets = append(v.Budgets, s.ix.Budget(b).Namespace+"/"+s.ix.Budget(b).Name)
		}
	}
	slices.Sort(v.Budgets)
	v.Budgets = slices.Compact(v.Budgets)
	return v
}

// reason puts why into words.
func (s *podSearch) reason(n cluster.NodeID, why domain.Reason) Reason {
	why = s.member.Describe(s.ix, n, why)
	r := Reason{
		Node: s.ix.Node(n).Name, Check: why.Check, Missing: why.Missing,
		Detail: why.Detail, Unresolvable: why.Unresolvable,
	}
	if why.Check == domain.CheckResource {
		r.Resource = s.resourceName(why)
	}
	return r
}

func (s *podSearch) resourceName(why domain.Reason) string {
	if why.Resource == domain.NoResource {
		return why.Detail
	}
	return s.ix.Resource(why.Resource)
}

// rejections counts the nodes by why preemption does not help there.
func (s *podSearch) rejections() []Rejection {
	counts := map[string]int{}
	for _, why := range s.status {
		if !why.OK() {
			counts[s.rejection(why)]++
		}
	}
	var list []Rejection
	for reason, n := range counts {
		list = append(list, Rejection{reason, n})
	}
	slices.SortFunc(list, func(a, b Rejection) int {
		return cmp.Or(cmp.Compare(b.Domains, a.Domains), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

// rejection is why in a few words, without what differs from node to node.
func (s *podSearch) rejection(why domain.Reason) string {
	switch {
	case why.Check == domain.CheckResource:
		return "not enough " + s.resourceName(why)
	case why.Check == noVictims:
		return fmt.Sprintf("nobody below priority %d to evict", s.priority)
	}
	return string(why.Check)
}

// String is the reason in words: where, which check, and what is missing.
func (r Reason) String() string {
	text := string(r.Check)
	switch {
	case r.Check == "":
		text = "fits"
	case r.Check == domain.CheckResource:
		text = fmt.Sprintf("%s short by %d", r.Resource, r.Missing)
	case r.Detail != "":
		text += " " + r.Detail
	}
	if r.Node != "" {
		return r.Node + ": " + text
	}
	return text
}

func numPods(list []Victim) int {
	n := 0
	for _, v := range list {
		n += len(v.Pods)
	}
	return n
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
