package tell

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/victims"
)

// gangAnswer tells what the search for a gang comes to.
type gangAnswer struct {
	*Inquiry
	*gang.Search
	rounds [][]domain.Domain // where it looks
}

// Answer asks, unless what is asked can be answered without a search, and tells the answer.
func (s *gangAnswer) Answer() (*answer.Result, error) {
	if !s.Composites && s.Group.Kind == cluster.KindCompositePodGroup {
		return s.result(answer.NotEligible, s.Refusal(ask.Refusal{Why: ask.NoComposites})), nil
	}
	if text := s.hopeless(); text != "" {
		r := s.result(answer.Infeasible, text)
		r.Rejected = []answer.Rejection{{Reason: "too few pods", Domains: 1}}
		return r, nil
	}
	rounds, err := s.Levels()
	if err != nil {
		return nil, err
	}
	s.rounds = rounds
	return s.tell(s.Run(rounds)), nil
}

// tell puts an answer into words.
func (s *gangAnswer) tell(a gang.Answer) *answer.Result {
	switch {
	case s.Brief && a.Plan != nil:
		return &answer.Result{Verdict: verdicts[a.Verdict], Domain: a.Plan.Domain.Name}
	case s.Brief:
		return &answer.Result{Verdict: verdicts[a.Verdict], Stats: answer.Stats{Exact: s.Proved}}
	case a.Verdict == ask.Feasible:
		return s.feasible(a.Plan)
	case a.Verdict == ask.Fits:
		r := s.result(answer.Fits, s.seats(len(a.Plan.Places), a.Plan.Domain.Name)+" without preemption")
		r.Domain, r.Nominations = a.Plan.Domain.Name, s.nominate(a.Plan.Places)
		for _, f := range a.Fitting {
			r.Candidates = append(r.Candidates, answer.Candidate{Domain: f.Domain, Best: f.Seats == len(a.Plan.Places)})
		}
		return r
	case a.Verdict == ask.Infeasible:
		return s.infeasible()
	}
	return s.refused(a)
}

// refused answers for a gang that evicts nobody, as it is or as yet: where it waits for
// victims, the nominations of the members stand.
func (s *gangAnswer) refused(a gang.Answer) *answer.Result {
	if a.Verdict == ask.NotEligible {
		return s.result(answer.NotEligible, s.Refusal(a.Refusal))
	}
	r := s.result(answer.Waiting, s.stillTerminating(a.Node))
	for _, m := range s.Members {
		if s.Index.NodeByName(m.Pod.NominatedNode) != cluster.NoNode {
			r.Nominations = append(r.Nominations, answer.Nomination{Pod: RefTo(m.Pod), Node: m.Pod.NominatedNode})
		}
	}
	SortNominations(r.Nominations)
	return r
}

// result starts an answer.
func (s *gangAnswer) result(v answer.Verdict, message string) *answer.Result {
	s.Stats.Trials, s.Stats.Exact = s.Search.Checks(), s.Proved
	return &answer.Result{Verdict: v, Message: message, Preemptor: s.asked, Warnings: append(s.Cluster.Warnings(), s.oddAsked()...), Stats: answer.Stats(s.Stats)}
}

// feasible answers with the best plan.
func (s *gangAnswer) feasible(p *gang.Plan) *answer.Result {
	list := s.victims(p)
	r := s.result(answer.Feasible, s.seats(len(p.Places), p.Domain.Name)+" once "+areEvicted(list))
	r.Domain, r.Nominations = p.Domain.Name, s.nominate(p.Places)
	r.Victims, r.Moves = list, s.moves(p.Places, p.Victims, p.Parts)
	r.Score = s.criteria(p.Score)
	r.Optimal, r.Bound = s.bounded(r.Score, p.Score, s.Open, s.Least)
	r.Proof = s.proof(p, r.Bound)
	r.Violations = p.Score.Violations
	r.Overruns = s.Wholes().Overruns(p.Victims, p.Parts, s.Tally)
	r.Cost = p.Score.Cost
	r.Budgets = s.roomOf(p.Victims, p.Parts)
	r.Cleared = s.clearedBy(p)
	r.Rejected = s.rejections()
	r.Trace = s.trace()
	r.Kept = s.keptBy(p.Domain.Nodes)
	r.Warnings = append(r.Warnings, s.classless(list)...)
	if s.Candidates {
		for i := range s.Found {
			r.Candidates = append(r.Candidates, s.candidate(&s.Found[i]))
		}
	}
	r.Stats.Trials = s.Search.Checks()
	return r
}

// seats says that n members fit in a domain: all that are pending, or how many of
// them.
func (s *gangAnswer) seats(n int, domainName string) string {
	if domainName == domain.ClusterName {
		domainName = "the cluster"
	}
	of, fit := "of "+words.Count(len(s.Members), "pod"), "fit"
	switch {
	case n == len(s.Members) && n == 1:
		return fmt.Sprintf("the pod of %s fits in %s", s.Tree.Name, domainName)
	case n == len(s.Members):
		return fmt.Sprintf("all %d pods of %s fit in %s", n, s.Tree.Name, domainName)
	case n == 1:
		fit = "fits"
	}
	return fmt.Sprintf("%d %s of %s %s in %s", n, of, s.Tree.Name, fit, domainName)
}

func (s *gangAnswer) candidate(p *gang.Plan) answer.Candidate {
	c := answer.Candidate{
		Domain:     p.Domain.Name,
		Victims:    s.victims(p),
		Violations: p.Score.Violations,
		Overruns:   s.Wholes().Overruns(p.Victims, p.Parts, s.Tally),
		Score:      s.criteria(p.Score),
		Best:       s.Compare(p, s.Best) == 0,
	}
	if p.Domain.Name != s.Best.Domain.Name {
		s.shorten(c.Victims, p.Victims, p.Domain.Nodes)
	}
	return c
}

// infeasible answers that no evictions help.
func (s *gangAnswer) infeasible() *answer.Result {
	message := helpless(s.Proved)
	if s.Index.CountNodes() == 0 {
		message = "the cluster has no nodes"
	} else if s.Stats.Domains == 0 {
		message = "no domain holds all members that run already"
	}
	if need := s.Tree.Need(); s.Room > 0 && s.Room < need {
		message += fmt.Sprintf(": room for %d of the %d pods that %s needs", s.Room, need, s.Tree.Name)
	}
	r := s.result(answer.Infeasible, message)
	r.Unplaced = s.unplaced()
	r.Proof = s.refutation()
	r.Kept = s.keptBy(nil)
	r.Nearest = s.nearest()
	r.Rejected = s.rejections()
	r.Trace = s.trace()
	return r
}

// unplaced tells which members find no node, and why.
func (s *gangAnswer) unplaced() (list []answer.Unplaced) {
	if s.Cluster.Probe || s.caller.Plan {
		return nil
	}
	d, found := s.Search.Unplaced()
	for _, u := range found {
		one := answer.Unplaced{Domain: d.Name, Rejected: s.sayRejections(u.Why)}
		for _, m := range u.Members {
			one.Pods = append(one.Pods, RefTo(s.Members[m].Pod))
		}
		list = append(list, one)
	}
	return list
}

// trace tells what happened in each domain.
func (s *gangAnswer) trace() []answer.DomainTrace {
	var list []answer.DomainTrace
	for _, t := range s.Traces {
		steps := s.keepSteps(t.Domain.Nodes)
		for _, step := range t.Steps {
			steps = append(steps, s.stepOf(cluster.NoNode, step))
			if step.Action == ask.TakesOut {
				steps = append(steps, s.freeSteps(step.Units)...)
			}
		}
		if s.Best != nil && t.Domain.Name == s.Best.Domain.Name {
			steps = append(steps, answer.Step{Action: answer.ActionChoose, Text: "chosen"})
		}
		list = append(list, answer.DomainTrace{Domain: t.Domain.Name, Steps: steps})
	}
	return list
}

func (s *gangAnswer) rejections() []answer.Rejection {
	if s.caller.Plan {
		return nil
	}
	alike := map[domain.Reason]int{}
	for _, r := range s.Rejected {
		alike[ask.Alike(r.Why)]++
	}
	return s.sayRejections(alike)
}

// nominate lists where the placed members go, in order of their names.
func (s *gangAnswer) nominate(places []domain.Assignment) []answer.Nomination {
	list := make([]answer.Nomination, len(places))
	for i, a := range places {
		pod := s.Members[a.Member].Pod
		list[i] = answer.Nomination{Pod: RefTo(pod), Node: s.Index.Node(a.Node).Name}
	}
	SortNominations(list)
	return list
}

// SortNominations orders list by the names of the pods.
func SortNominations(list []answer.Nomination) {
	slices.SortFunc(list, func(a, b answer.Nomination) int {
		return cmp.Or(cmp.Compare(a.Pod.Namespace, b.Pod.Namespace), cmp.Compare(a.Pod.Name, b.Pod.Name))
	})
}

// clearedBy lists nobody: upstream clears the nominations to the domain's name, and
// a domain of several nodes has none.
//
// Source: kube-scheduler v1.36, preparation of a candidate; E14.
func (s *gangAnswer) clearedBy(*gang.Plan) []answer.PodRef { return nil }

// victims spells out the victims of p, each with the check that its return fails.
func (s *gangAnswer) victims(p *gang.Plan) []answer.Victim {
	if p.Counted != nil {
		return s.tellCounted(p)
	}
	s.Equip()
	s.Near().To(p.Domain.Nodes)
	defer s.Near().To(nil)
	for _, u := range p.Victims {
		s.takeOut(p, u)
	}
	s.Trial.PlaceAll(p.Places)
	s.Trial.Settle()
	list := make([]answer.Victim, len(p.Victims))
	pods := 0
	for _, u := range p.Victims {
		if out := p.Parts.Of(s.Units, u); !s.manyPods(u, out) {
			pods += len(out)
		}
	}
	room := make([]answer.VictimPod, pods)
	before := s.Trial.Work()
	for i, u := range p.Victims {
		why := domain.Reason{Check: ask.NotLookedAt}
		if s.Trial.Work()-before <= gang.MostBack {
			s.putBack(p, u)
			why = s.Trial.Fits()
			s.takeOut(p, u)
			s.Trial.Settle()
		}
		out := p.Parts.Of(s.Units, u)
		list[i] = s.victim(u, out, attempt{p.Charged[i] > 0, why}, cluster.NoNode, room)
		if !s.manyPods(u, out) {
			room = room[len(out):]
		}
		list[i].Reason.Node = s.where(u)
	}
	s.Trial.UnplaceTo(0)
	for _, u := range p.Victims {
		s.putBack(p, u)
	}
	s.Trial.Settle()
	return list
}

// takeOut takes the pods of unit u out of the trial that plan p evicts.
func (s *gangAnswer) takeOut(p *gang.Plan, u victims.UnitID) {
	for _, pod := range s.goes(p, u) {
		s.Trial.Remove(pod)
	}
}

// putBack returns them.
func (s *gangAnswer) putBack(p *gang.Plan, u victims.UnitID) {
	for _, pod := range s.goes(p, u) {
		s.Trial.Return(pod)
	}
}

// goes are the pods of unit u that plan p evicts and that matter in its domain.
func (s *gangAnswer) goes(p *gang.Plan, u victims.UnitID) []cluster.PodID {
	if part, ok := p.Parts[u]; ok {
		return part
	}
	return s.Near().Pods(u)
}

// where is the first node on which the return of unit u meets a member.
func (s *gangAnswer) where(u victims.UnitID) string {
	best := cluster.NoNode
	for _, p := range s.Near().Pods(u) {
		if n := s.Index.NodeOf(p); n != cluster.NoNode && len(s.Trial.On(n)) > 0 && (best == cluster.NoNode || n < best) {
			best = n
		}
	}
	if best == cluster.NoNode {
		return ""
	}
	return s.Index.Node(best).Name
}

// whyNot answers about a domain that holds a node, or about a unit.
func (s *gangAnswer) whyNot(target answer.Target) (*answer.Why, error) {
	s.Each = true
	return s.whyNotOf(s, target)
}

func (s *gangAnswer) whyNotNode(r *answer.Result, n cluster.NodeID) *answer.Why {
	if why := s.whyNotAt(r, n, r.Verdict == answer.Feasible); why != nil {
		return why
	}
	for _, rejected := range s.Rejected {
		if slices.Contains(rejected.Domain.Nodes, n) {
			return &answer.Why{Text: fmt.Sprintf("its domain %s is ruled out: %s", rejected.Domain.Name, s.rejection(rejected.Why))}
		}
	}
	for _, p := range s.Found {
		if p.Domain.Name == r.Domain || !slices.Contains(p.Domain.Nodes, n) {
			continue
		}
		if a, b := len(p.Places), len(s.Best.Places); a != b {
			return &answer.Why{Criterion: "seated", Text: fmt.Sprintf("its domain %s seats %d against %d in %s", p.Domain.Name, a, b, r.Domain)}
		}
		if why := s.disruptsMore(p.Score, s.Best.Score, "in its domain "+p.Domain.Name, "in "+r.Domain); why != nil {
			return why
		}
		return &answer.Why{Text: fmt.Sprintf("its domain %s is as good as %s, whose name comes first", p.Domain.Name, r.Domain)}
	}
	return &answer.Why{Text: fmt.Sprintf("the placement that disrupts least in %s does without %s", r.Domain, s.Index.Node(n).Name)}
}

func (s *gangAnswer) whyNotUnit(r *answer.Result, u victims.UnitID) *answer.Why {
	name, unit := s.UnitName(u), s.Units.Unit(u)
	switch {
	case r.Verdict != answer.Feasible:
		return &answer.Why{Text: "nobody is a victim: " + r.Message}
	case !s.May(u, s.Claim):
		return s.whyKept(u, s.Kept(u, s.Claim))
	case s.Own(unit):
		return &answer.Why{Text: name + " belongs to the preemptor"}
	case slices.Contains(s.Best.Victims, u):
		return &answer.Why{Chosen: true, Text: name + " is a victim"}
	}
	return &answer.Why{Text: fmt.Sprintf("%s may stay: the preemptor fits in %s with it", name, r.Domain)}
}

// Levels lists the domains to try, in rounds: the first round that has a plan
// decides.
func (q *Inquiry) Levels() ([][]domain.Domain, error) {
	if err := q.checkTopology(q.Tree, q.Group); err != nil {
		return nil, err
	}
	if q.Given != nil { // kept as it is; placeGiven looks whether it is one that is allowed
		return [][]domain.Domain{seating.Split(q.Index, nil)}, nil
	}
	if q.Splitter != nil {
		return [][]domain.Domain{q.Tree.Pinned(q.Index, q.Splitter.Split(nil, q.Index))}, nil
	}
	return q.Tree.Levels(q.Index), nil
}

// checkTopology complains about a topology key of t, which is group g, or of a group
// beneath it that no node has.
func (q *Inquiry) checkTopology(t *seating.Group, g *cluster.Group) error {
	for i, c := range t.Topology {
		if q.Index.CountNodes() > 0 && q.Index.Topology(c.Key).Len() == 0 {
			return &cluster.FieldError{
				Kind: string(g.Kind), Namespace: g.Namespace, Name: g.Name,
				Field: fmt.Sprintf("Topology[%d].Key", i), Value: words.Quoted(c.Key), Want: "a label of some node",
			}
		}
	}
	for _, c := range t.Children {
		if err := q.checkTopology(c, q.Index.Group(c.ID)); err != nil {
			return err
		}
	}
	return nil
}

// hopeless says why no eviction can help: there are too few pods, or too few groups
// that have enough. Empty if it may help.
func (q *Inquiry) hopeless() string {
	switch t, able := q.Tree.Short(); {
	case t == nil:
		return ""
	case len(t.Children) == 0:
		return "pod group " + t.Name + " has " + words.Count(len(t.Members)+t.Running, "pod") + ", fewer than its minCount"
	default:
		return "composite group " + t.Name + " has " + words.Count(able, "child group") + " with enough pods, fewer than its minGroupCount"
	}
}

// Stray says where a placement leaves the one topology value that a group of the
// preemptor requires; empty if it does not.
func (q *Inquiry) Stray(at func(domain.MemberID) cluster.NodeID) string {
	switch s := q.Tree.Stray(q.Index, at); {
	case s == nil:
		return ""
	case s.Node != cluster.NoNode:
		return fmt.Sprintf("node %s has no %s, which %s requires", q.Index.Node(s.Node).Name, s.Key, s.Group.Name)
	default:
		return fmt.Sprintf("%s requires one %s, the placement given has %d", s.Group.Name, s.Key, s.Values)
	}
}

// givenAt is the node that a given placement has for member m, or NoNode.
func (q *Inquiry) givenAt(m domain.MemberID) cluster.NodeID {
	for _, a := range q.Given {
		if a.Member == m {
			return a.Node
		}
	}
	return cluster.NoNode
}
