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
func (s *gangSearch) result(v Verdict, message string) *Result {
	s.stats.Trials, s.stats.Exact = s.checks(), s.proved
	return &Result{Verdict: v, Message: message, Preemptor: s.asked, Warnings: s.warnings(), Stats: s.stats}
}

// fits answers that what is placed in d can go there as things are.
func (s *gangSearch) fits(d *domain.Domain) *Result {
	places := s.trial.Assignments()
	r := s.result(Fits, s.seats(len(places), d.Name)+" without preemption")
	r.Domain, r.Nominations = d.Name, s.nominate(places)
	return r
}

// feasible answers with the best plan.
func (s *gangSearch) feasible() *Result {
	p := s.best
	if s.brief && p.score.Pods > 0 {
		return &Result{Verdict: Feasible, Domain: p.domain.Name}
	}
	if len(p.victims) == 0 {
		r := s.result(Fits, s.seats(len(p.places), p.domain.Name)+" without preemption")
		r.Domain, r.Nominations = p.domain.Name, s.nominate(p.places)
		return r
	}
	list := s.victims(p)
	r := s.result(Feasible, s.seats(len(p.places), p.domain.Name)+" once "+areEvicted(list))
	r.Domain, r.Nominations = p.domain.Name, s.nominate(p.places)
	r.Victims = list
	r.Score = s.criteria(p.score)
	r.Violations = p.score.Violations
	r.Overruns = s.budgets.Overruns(s.units, p.victims, p.parts, s.tally)
	r.Cost = p.score.Cost
	r.Budgets = s.roomOf(p.victims, p.parts)
	r.Cleared = s.clearedBy(p)
	r.Rejected = s.rejections()
	r.Trace = s.trace()
	r.Kept = s.keptBy(p.domain.Nodes)
	r.Warnings = append(r.Warnings, s.classless(list)...)
	if s.options.Candidates {
		for i := range s.found {
			r.Candidates = append(r.Candidates, s.candidate(&s.found[i]))
		}
	}
	r.Stats.Trials = s.checks()
	return r
}

// seats says that n members fit in a domain: all that are pending, or how many of
// them.
func (s *gangSearch) seats(n int, domainName string) string {
	if domainName == domain.ClusterName {
		domainName = "the cluster"
	}
	of, fit := "of "+count(len(s.members), "pod"), "fit"
	switch {
	case n == len(s.members) && n == 1:
		return fmt.Sprintf("the pod of %s fits in %s", s.tree.Name, domainName)
	case n == len(s.members):
		return fmt.Sprintf("all %d pods of %s fit in %s", n, s.tree.Name, domainName)
	case n == 1:
		fit = "fits"
	}
	return fmt.Sprintf("%d %s of %s %s in %s", n, of, s.tree.Name, fit, domainName)
}

func (s *gangSearch) candidate(p *plan) Candidate {
	return Candidate{
		Domain:     p.domain.Name,
		Victims:    s.victims(p),
		Violations: p.score.Violations,
		Overruns:   s.budgets.Overruns(s.units, p.victims, p.parts, s.tally),
		Score:      s.criteria(p.score),
		Best:       s.compare(p, s.best) == 0,
	}
}

// infeasible answers that no evictions help.
func (s *gangSearch) infeasible() *Result {
	message := helpless(s.proved)
	if s.ix.NumNodes() == 0 {
		message = "the cluster has no nodes"
	} else if s.stats.Domains == 0 {
		message = "no domain holds all members that run already"
	}
	if need := s.tree.Need(); s.room > 0 && s.room < need {
		message += fmt.Sprintf(": room for %d of the %d pods that %s needs", s.room, need, s.tree.Name)
	}
	r := s.result(Infeasible, message)
	r.Kept = s.keptBy(nil)
	r.Nearest = s.nearestBounded()
	r.Rejected = s.rejections()
	r.Trace = s.trace()
	return r
}

func (s *gangSearch) trace() []DomainTrace {
	if s.best != nil {
		for i := range s.traces {
			if t := &s.traces[i]; t.Domain == s.best.domain.Name {
				t.Steps = append(t.Steps, Step{Action: ActionChoose, Text: "chosen"})
			}
		}
	}
	return s.traces
}

func (s *gangSearch) rejections() []Rejection {
	whys := make([]domain.Reason, len(s.rejected))
	for i, r := range s.rejected {
		whys[i] = r.why
	}
	return s.countRejections(whys)
}

// nominate lists where the placed members go, in order of their names.
func (s *gangSearch) nominate(places []domain.Assignment) []Nomination {
	list := make([]Nomination, len(places))
	for i, a := range places {
		pod := s.members[a.Member].Pod
		list[i] = Nomination{PodRef{pod.Namespace, pod.Name}, s.ix.Node(a.Node).Name}
	}
	sortNominations(list)
	return list
}

func sortNominations(list []Nomination) {
	slices.SortFunc(list, func(a, b Nomination) int {
		return cmp.Or(cmp.Compare(a.Pod.Namespace, b.Pod.Namespace), cmp.Compare(a.Pod.Name, b.Pod.Name))
	})
}

// clearedBy lists nobody: upstream clears the nominations to the domain's name, and
// a domain of several nodes has none.
//
// Source: kube-scheduler v1.36, preparation of a candidate; E14.
func (s *gangSearch) clearedBy(*plan) []PodRef { return nil }

// victims spells out the victims of p, each with the check that its return fails.
func (s *gangSearch) victims(p *plan) []Victim {
	if p.counted != nil {
		return s.tellCounted(p)
	}
	s.equip()
	for _, u := range p.victims {
		s.takeOut(p, u)
	}
	s.trial.PlaceAll(p.places)
	s.trial.Settle()
	list := make([]Victim, len(p.victims))
	pods := 0
	for _, u := range p.victims {
		pods += len(p.parts.Of(s.units, u))
	}
	room := make([]VictimPod, pods)
	for i, u := range p.victims {
		s.putBack(p, u)
		why := s.trial.Fits()
		s.takeOut(p, u)
		s.trial.Settle()
		list[i] = s.victim(u, p.parts.Of(s.units, u), attempt{p.charged[i] > 0, why}, cluster.NoNode, room)
		room = room[len(list[i].Pods):]
		list[i].Reason.Node = s.where(u)
	}
	s.trial.UnplaceTo(0)
	for _, u := range p.victims {
		s.putBack(p, u)
	}
	s.trial.Settle()
	return list
}

// takeOut takes the pods of unit u out of the trial that plan p evicts.
func (s *gangSearch) takeOut(p *plan, u victims.UnitID) {
	for _, pod := range p.parts.Of(s.units, u) {
		s.trial.Remove(pod)
	}
}

// putBack returns them.
func (s *gangSearch) putBack(p *plan, u victims.UnitID) {
	for _, pod := range p.parts.Of(s.units, u) {
		s.trial.Return(pod)
	}
}

// where is the first node on which the return of unit u meets a member.
func (s *gangSearch) where(u victims.UnitID) string {
	best := cluster.NoNode
	for _, p := range s.units.Unit(u).Pods {
		if n := s.ix.NodeOf(p); n != cluster.NoNode && len(s.trial.On(n)) > 0 && (best == cluster.NoNode || n < best) {
			best = n
		}
	}
	if best == cluster.NoNode {
		return ""
	}
	return s.ix.Node(best).Name
}

// score is the score of a list of victims; what is left of a broken gang costs
// nothing where the options say so.
func (s *gangSearch) score(list []victims.UnitID, parts victims.Parts, violations int) victims.Score {
	return s.units.ScoreParts(s.priced(list), parts, violations)
}

// whyNot answers about a domain that holds a node, or about a unit.
func (s *gangSearch) whyNot(target Target) (*Why, error) {
	s.each = true
	return s.whyNotOf(s, target)
}

func (s *gangSearch) whyNotNode(r *Result, n cluster.NodeID) *Why {
	name := s.ix.Node(n).Name
	for _, nomination := range r.Nominations {
		if nomination.Node == name {
			return &Why{Chosen: true, Text: name + " is chosen: " + r.Message}
		}
	}
	if r.Verdict != Feasible {
		return &Why{Text: otherwise(r)}
	}
	for i := range s.members {
		if why := s.members[i].Static(s.ix.Node(n)); !why.OK() {
			reason := s.reason(n, s.members[i].Describe(s.ix, n, why))
			return &Why{Text: fmt.Sprintf("%s does not fit: %s", s.members[i].Pod.Name, reason), Reason: &reason}
		}
	}
	for _, rejected := range s.rejected {
		if slices.Contains(rejected.domain.Nodes, n) {
			return &Why{Text: fmt.Sprintf("its domain %s is ruled out: %s", rejected.domain.Name, s.rejection(rejected.why))}
		}
	}
	for _, p := range s.found {
		if p.domain.Name == r.Domain || !slices.Contains(p.domain.Nodes, n) {
			continue
		}
		if a, b := len(p.places), len(s.best.places); a != b {
			return &Why{Criterion: "seated", Text: fmt.Sprintf("its domain %s seats %d against %d in %s", p.domain.Name, a, b, r.Domain)}
		}
		mine, best := s.criteria(p.score), s.criteria(s.best.score)
		for i := range mine {
			if mine[i].Value != best[i].Value {
				return &Why{Criterion: mine[i].Name, Text: fmt.Sprintf("evictions in its domain %s help, but %s: %d against %d in %s",
					p.domain.Name, mine[i].Name, mine[i].Value, best[i].Value, r.Domain)}
			}
		}
		return &Why{Text: fmt.Sprintf("its domain %s is as good as %s, whose name comes first", p.domain.Name, r.Domain)}
	}
	return &Why{Text: fmt.Sprintf("the placement that disrupts least in %s does without %s", r.Domain, name)}
}

func (s *gangSearch) whyNotUnit(r *Result, u victims.UnitID) *Why {
	name, unit := s.unitName(u), s.units.Unit(u)
	switch {
	case r.Verdict != Feasible:
		return &Why{Text: "nobody is a victim: " + r.Message}
	case !s.may(u, s.claim):
		return s.whyKept(u, s.kept(u, s.claim))
	case s.ownUnit(unit):
		return &Why{Text: name + " belongs to the preemptor"}
	case slices.Contains(s.best.victims, u):
		return &Why{Chosen: true, Text: name + " is a victim"}
	}
	return &Why{Text: fmt.Sprintf("%s may stay: the preemptor fits in %s with it", name, r.Domain)}
}
