package preemption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/preemption/internal/proving"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// podAnswer tells what the search for a lone pod comes to.
type podAnswer struct {
	*question
	*onepod.Search
}

// tell puts plan p into words.
func (s *podAnswer) tell(p onepod.Plan) *Result {
	switch p.Verdict {
	case ask.Feasible:
		return s.feasible()
	case ask.Infeasible:
		return s.infeasible()
	case ask.NotEligible:
		return s.result(NotEligible, s.refusal(p.Refusal))
	}
	text := "fits on " + s.Index.Node(p.Node).Name + " without preemption"
	if p.Verdict == ask.Waiting {
		text = s.stillTerminating(p.Node)
	}
	r := s.result(verdicts[p.Verdict], text)
	r.Domain, r.Nominations = s.Index.Node(p.Node).Name, s.nominations(p.Node)
	if s.Candidates && p.Verdict == ask.Fits {
		for n, best := range s.Fitting(p.Node) {
			r.Candidates = append(r.Candidates, Candidate{Domain: s.Index.Node(n).Name, Best: best})
		}
		r.Stats.Trials = s.Search.Checks()
	}
	return r
}

// result starts an answer.
func (s *podAnswer) result(v Verdict, message string) *Result {
	s.Stats.Trials = s.Search.Checks()
	return &Result{Verdict: v, Message: message, Preemptor: s.asked, Warnings: append(s.c.Warnings(), s.oddAsked()...), Stats: Stats(s.Stats)}
}

// feasible answers with the best candidate.
func (s *podAnswer) feasible() *Result {
	name := s.Index.Node(s.Best.Node).Name
	list := s.victims(s.Best)
	r := s.result(Feasible, fmt.Sprintf("fits on %s once %s", name, areEvicted(list)))
	r.Domain, r.Nominations = name, s.nominations(s.Best.Node)
	r.Victims = list
	r.Score = s.criteria(s.Best.Score)
	if s.Sampling == nil {
		r.Optimal, r.Bound = s.bounded(r.Score, s.Best.Score, s.Open, s.Search.Bound)
		r.Optimal = r.Optimal && s.Stats.Exact
	}
	r.Proof = s.proof(r.Bound)
	r.Violations = s.Best.Score.Violations
	r.Overruns = s.Budgets.Overruns(s.Units, s.Best.Victims, s.Best.Parts, s.Tally)
	r.Cost = s.Best.Score.Cost
	r.Budgets = s.roomOf(s.Best.Victims, s.Best.Parts)
	r.Cleared = s.cleared(s.Best.Node)
	r.Rejected = s.rejections()
	r.Kept = s.keptBy([]cluster.NodeID{s.Best.Node})
	r.Warnings = append(r.Warnings, s.classless(list)...)
	if s.Candidates {
		r.Candidates = s.candidates()
	}
	if s.Trace {
		r.Trace = s.trace()
	}
	r.Stats.Trials = s.Search.Checks()
	return r
}

// bounded says how far the score may be from the least, where open says that some plan
// may have as little as least.
func (q *question) bounded(score []Criterion, of victims.Score, open bool, least []int64) (optimal bool, bound []Criterion) {
	if q.Effort == ask.Greedy || q.Compare != nil {
		return false, nil
	}
	values := q.Ranking.Values(of)
	if !open || slices.Compare(least, values) >= 0 {
		return true, score
	}
	for i, v := range least {
		if bound = append(bound, Criterion{Name: score[i].Name, Value: v}); v != values[i] {
			break
		}
	}
	return false, bound
}

// provable reports whether a proof is asked for, and can be given.
func (s *podAnswer) provable() bool { return s.Question.Proof && s.Sampling == nil && !s.Hooks }

// proof proves bound, or the score where none is known, if that was asked for.
func (s *podAnswer) proof(bound []Criterion) *Proof {
	if !s.provable() {
		return nil
	}
	values, names := s.Ranking.Values(s.Best.Score), s.criteria(s.Best.Score)
	if bound != nil {
		values = values[:0]
		for _, c := range bound {
			values = append(values, c.Value)
		}
	}
	shown := proving.Prove(s.Question, s.Trial, s.Runner, values)
	if len(shown.Bound) == 0 {
		return nil
	}
	return s.tellProof(shown, names)
}

// refutation proves that no evictions help, if that was asked for.
func (s *podAnswer) refutation() *Proof {
	if !s.provable() {
		return nil
	}
	shown, ok := proving.Refute(s.Question, s.Trial, s.Runner)
	if !ok {
		return nil
	}
	return s.tellProof(shown, nil)
}

// tellProof names what a proof is about.
func (s *podAnswer) tellProof(shown proving.Proof, names []Criterion) *Proof {
	p := &Proof{}
	for k, v := range shown.Bound {
		p.Bound = append(p.Bound, Criterion{Name: names[k].Name, Value: v})
	}
	for _, n := range shown.Nodes {
		of := ProofNodes{}
		for _, node := range n.Nodes {
			of.Nodes = append(of.Nodes, s.Index.Node(node).Name)
		}
		for _, step := range n.Steps {
			told := ProofStep{}
			if step.Criterion >= 0 {
				told.Criterion = names[step.Criterion].Name
			}
			for i := range step.Cases {
				told.Cases = append(told.Cases, s.proofCase(&step.Cases[i], names))
			}
			of.Steps = append(of.Steps, told)
		}
		p.Nodes = append(p.Nodes, of)
	}
	return p
}

// proofCase names what a case is about.
func (s *podAnswer) proofCase(of *proving.Case, names []Criterion) (c ProofCase) {
	if of.Pod != cluster.NoPod {
		ref := refTo(s.Index.Pod(of.Pod))
		c.Pod = &ref
	}
	for _, w := range of.Weights {
		if w.Of.Kind == proving.Count {
			c.Count = w.Value
			continue
		}
		to, name := &c.Resources, ""
		switch at := w.Of.Number; w.Of.Kind {
		case proving.Resource:
			name = s.Index.Resource(cluster.ResourceID(at))
		case proving.Criterion:
			to, name = &c.Criteria, names[at].Name
		case proving.Budget:
			to, name = &c.Budgets, s.budgetName(cluster.BudgetID(at))
		default:
			to, name = &c.Limits, s.boundName(s.Limits[at])
		}
		if *to == nil {
			*to = map[string]int64{}
		}
		(*to)[name] = w.Value
	}
	return c
}

// infeasible answers that no evictions help, and what would.
func (s *podAnswer) infeasible() *Result {
	r := s.result(Infeasible, helpless(s.Stats.Exact))
	if s.Index.CountNodes() == 0 {
		r.Message = "the cluster has no nodes"
	}
	r.Proof = s.refutation()
	r.Rejected = s.rejections()
	r.Kept = s.keptBy(nil)
	if !s.c.Probe {
		r.Nearest = s.nearest()
	}
	if s.Trace {
		r.Trace = s.trace()
	}
	r.Stats.Trials = s.Search.Checks()
	return r
}

// helpless is the message of an infeasible answer, proved or not.
func helpless(proved bool) string {
	if proved {
		return "no evictions help"
	}
	return "no evictions were found that help; that none do is not proved"
}

func (s *podAnswer) nominations(n cluster.NodeID) []Nomination {
	return []Nomination{{Pod: refTo(s.Member.Pod), Node: s.Index.Node(n).Name}}
}

// cleared lists the pods of lower priority that are nominated to node n.
//
// Source: kube-scheduler v1.36, lower nominated pods.
func (q *question) cleared(n cluster.NodeID) []PodRef {
	var list []PodRef
	for _, p := range q.Index.Nominees(n) {
		if q.Index.Priority(p) < q.Priority {
			list = append(list, refTo(q.Index.Pod(p)))
		}
	}
	return list
}

// candidates spells out every candidate, by name of the node.
func (s *podAnswer) candidates() []Candidate {
	slices.SortFunc(s.Found, func(a, b onepod.Candidate) int { return cmp.Compare(a.Node, b.Node) })
	list := make([]Candidate, len(s.Found))
	for i, c := range s.Found {
		list[i] = Candidate{
			Domain:     s.Index.Node(c.Node).Name,
			Victims:    s.victims(c),
			Violations: c.Score.Violations,
			Overruns:   s.Budgets.Overruns(s.Units, c.Victims, c.Parts, s.Tally),
			Score:      s.criteria(c.Score),
			Best:       s.CompareScores(&c.Score, &s.Best.Score) == 0,
		}
	}
	return list
}

// victims spells out the victims of c, each with the check that its return fails.
func (s *podAnswer) victims(c onepod.Candidate) []Victim {
	attempts := s.attempts(&c)
	list := make([]Victim, len(c.Victims))
	for i, u := range c.Victims {
		list[i] = s.victim(u, c.Parts.Of(s.Units, u), attempts[u], c.Node, nil)
	}
	return list
}

// attempts repeats the evaluation of node n, which helps, and notes why each unit
// that stayed out could not return: with the final set of victims gone, or, where
// constraints are not monotone and it could by now, when it was tried.
func (s *podAnswer) attempts(c *onepod.Candidate) map[victims.UnitID]attempt {
	tried := map[victims.UnitID]attempt{}
	s.Runner.Observe = func(u victims.UnitID, violates bool, why domain.Reason) {
		if !why.OK() || s.Units.Unit(u).Elastic { // the others came back whole
			tried[u] = attempt{violates || tried[u].violates, why} // it may be tried again, below the lowest level
		}
	}
	defer func() { s.Runner.Observe = nil }()
	s.Watch(c)
	for _, u := range c.Victims {
		pods := s.Runner.Parts().Of(s.Units, u)
		if a := tried[u]; a.violates && s.Runner.ViolationsOf(reprieve.Charged{Unit: u, Violations: 1}) == 0 {
			tried[u] = attempt{false, a.why}
		}
		for _, p := range pods {
			s.Trial.Return(p)
		}
		if why := s.Trial.Fits(); !why.OK() {
			tried[u] = attempt{tried[u].violates, why}
		}
		for _, p := range pods {
			s.Trial.Remove(p)
		}
	}
	return tried
}

// rejections says why preemption does not help where it does not.
func (s *podAnswer) rejections() []Rejection {
	alike := map[domain.Reason]int{}
	for _, r := range s.Rejected() {
		alike[r.Why] += r.Nodes
	}
	return s.sayRejections(alike)
}
