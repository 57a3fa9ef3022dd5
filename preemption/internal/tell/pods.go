package tell

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// podAnswer tells what the search for a lone pod comes to.
type podAnswer struct {
	*Inquiry
	*onepod.Search
}

// tell puts plan p into words.
func (s *podAnswer) tell(p onepod.Plan) *answer.Result {
	switch p.Verdict {
	case ask.Feasible:
		return s.feasible()
	case ask.Infeasible:
		return s.infeasible()
	case ask.NotEligible:
		return s.result(answer.NotEligible, s.Refusal(p.Refusal))
	}
	text := "fits on " + s.Index.Node(p.Node).Name + " without preemption"
	if p.Verdict == ask.Waiting {
		text = s.stillTerminating(p.Node)
	}
	r := s.result(verdicts[p.Verdict], text)
	r.Domain, r.Nominations = s.Index.Node(p.Node).Name, s.nominations(p.Node)
	if s.Candidates && p.Verdict == ask.Fits {
		for n, best := range s.Fitting(p.Node) {
			r.Candidates = append(r.Candidates, answer.Candidate{Domain: s.Index.Node(n).Name, Best: best})
		}
		r.Stats.Trials = s.Search.Checks()
	}
	return r
}

// result starts an answer.
func (s *podAnswer) result(v answer.Verdict, message string) *answer.Result {
	s.Stats.Trials = s.Search.Checks()
	return &answer.Result{Verdict: v, Message: message, Preemptor: s.asked, Warnings: append(s.Cluster.Warnings(), s.oddAsked()...), Stats: answer.Stats(s.Stats)}
}

// feasible answers with the best candidate.
func (s *podAnswer) feasible() *answer.Result {
	name := s.Index.Node(s.Best.Node).Name
	list := s.victims(s.Best)
	r := s.result(answer.Feasible, fmt.Sprintf("fits on %s once %s", name, areEvicted(list)))
	r.Domain, r.Nominations = name, s.nominations(s.Best.Node)
	r.Victims, r.Moves = list, s.moves([]domain.Assignment{{Node: s.Best.Node}}, s.Best.Victims, s.Best.Parts)
	r.Score = s.criteria(s.Best.Score)
	if s.Sampling == nil {
		r.Optimal, r.Bound = s.bounded(r.Score, s.Best.Score, s.Open, s.Search.Bound)
		r.Optimal = r.Optimal && s.Stats.Exact
	}
	r.Proof = s.proof(r.Bound)
	r.Violations = s.Best.Score.Violations
	r.Overruns = s.Wholes().Overruns(s.Best.Victims, s.Best.Parts, s.Tally)
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
func (q *Inquiry) bounded(score []answer.Criterion, of victims.Score, open bool, least []int64) (optimal bool, bound []answer.Criterion) {
	if q.Effort == ask.Greedy || q.Compare != nil {
		return false, nil
	}
	values := q.Ranking.Values(of)
	if !open || slices.Compare(least, values) >= 0 {
		return true, score
	}
	for i, v := range least {
		if bound = append(bound, answer.Criterion{Name: score[i].Name, Value: v}); v != values[i] {
			break
		}
	}
	return false, bound
}

// infeasible answers that no evictions help, and what would.
func (s *podAnswer) infeasible() *answer.Result {
	r := s.result(answer.Infeasible, helpless(s.Stats.Exact))
	if s.Index.CountNodes() == 0 {
		r.Message = "the cluster has no nodes"
	}
	r.Proof = s.refutation()
	r.Rejected = s.rejections()
	r.Kept = s.keptBy(nil)
	if !s.Cluster.Probe && !s.caller.Plan {
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

func (s *podAnswer) nominations(n cluster.NodeID) []answer.Nomination {
	return []answer.Nomination{{Pod: RefTo(s.Member.Pod), Node: s.Index.Node(n).Name}}
}

// cleared lists the pods of lower priority that are nominated to node n.
//
// Source: kube-scheduler v1.36, lower nominated pods.
func (q *Inquiry) cleared(n cluster.NodeID) []answer.PodRef {
	var list []answer.PodRef
	for _, p := range q.Index.Nominees(n) {
		if q.Index.Priority(p) < q.Priority {
			list = append(list, RefTo(q.Index.Pod(p)))
		}
	}
	return list
}

// candidates spells out every candidate, by name of the node.
func (s *podAnswer) candidates() []answer.Candidate {
	slices.SortFunc(s.Found, func(a, b onepod.Candidate) int { return cmp.Compare(a.Node, b.Node) })
	list := make([]answer.Candidate, len(s.Found))
	for i, c := range s.Found {
		list[i] = answer.Candidate{
			Domain:     s.Index.Node(c.Node).Name,
			Victims:    s.victims(c),
			Violations: c.Score.Violations,
			Overruns:   s.Wholes().Overruns(c.Victims, c.Parts, s.Tally),
			Score:      s.criteria(c.Score),
			Best:       s.CompareScores(&c.Score, &s.Best.Score) == 0,
		}
		if c.Node != s.Best.Node {
			s.shorten(list[i].Victims, c.Victims, []cluster.NodeID{c.Node})
		}
	}
	return list
}

// mostListed is how many pods of large groups that run outside their domains the candidates of an answer list, the one that was chosen aside.
const mostListed = 262_144

// shorten leaves out of the victims of a candidate on nodes, those units, pods that run elsewhere, where candidates would list too many.
func (q *Inquiry) shorten(list []answer.Victim, units []victims.UnitID, nodes []cluster.NodeID) {
	for i, u := range units {
		w := q.Wholes().Of(u)
		if w == nil || list[i].Surplus {
			continue
		}
		var inside []cluster.PodID
		for _, n := range nodes {
			inside = append(inside, w.On(q.Index, n)...)
		}
		if elsewhere := len(w.Pods) - len(inside); elsewhere > 0 && q.listed+elsewhere > mostListed {
			list[i].Pods, _ = q.toldPods(inside, nil)
			list[i].Unlisted = elsewhere
		} else {
			q.listed += elsewhere
		}
	}
}

// victims spells out the victims of c, each with the check that its return fails.
func (s *podAnswer) victims(c onepod.Candidate) []answer.Victim {
	attempts := s.attempts(&c)
	list := make([]answer.Victim, len(c.Victims))
	for i, u := range c.Victims {
		list[i] = s.victim(u, c.Parts.Of(s.Units, u), attempts[u], c.Node, nil)
	}
	return list
}

// attempts repeats the evaluation of node n, which helps, and notes why each unit
// that stayed out could not return: with the final set of victims gone, or, where
// constraints are not monotone and it could by now, when it was tried. Once fractions of devices have been given as many seats as
// giving back may, the others are not looked at.
func (s *podAnswer) attempts(c *onepod.Candidate) map[victims.UnitID]attempt {
	tried := map[victims.UnitID]attempt{}
	if s.GivesBack() {
		s.Runner.Observe = func(u victims.UnitID, violates bool, why domain.Reason) {
			if !why.OK() || s.Units.Unit(u).Elastic { // the others came back whole
				tried[u] = attempt{violates || tried[u].violates, why} // it may be tried again, below the lowest level
			}
		}
		defer func() { s.Runner.Observe = nil }()
	}
	s.Watch(c)
	if !s.GivesBack() {
		for _, v := range s.Runner.Charge(s.Evictable(c.Node)) {
			tried[v.Unit] = attempt{violates: true}
		}
	}
	s.CountSeats()
	defer s.EndSeats()
	for _, u := range c.Victims {
		pods := s.Runner.Parts().Of(s.Units, u)
		if a := tried[u]; a.violates && s.Runner.ViolationsOf(reprieve.Charged{Unit: u, Violations: 1}) == 0 {
			tried[u] = attempt{false, a.why}
		}
		if s.Runner.Enough != nil && s.Runner.Enough() > 0 {
			tried[u] = attempt{tried[u].violates, domain.Reason{Check: ask.NotLookedAt}}
			continue
		}
		if len(pods) == len(s.Units.Unit(u).Pods) {
			pods = s.Runner.Here(u)
		}
		s.Trial.ReturnUnit(u, pods)
		if why := s.Trial.Fits(); !why.OK() {
			tried[u] = attempt{tried[u].violates, why}
		}
		s.Trial.RemoveUnit(u, pods)
	}
	return tried
}

// rejections says why preemption does not help where it does not.
func (s *podAnswer) rejections() []answer.Rejection {
	if s.caller.Plan {
		return nil
	}
	alike := map[domain.Reason]int{}
	for _, r := range s.Rejected() {
		alike[r.Why] += r.Nodes
	}
	return s.sayRejections(alike)
}
