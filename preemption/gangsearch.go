package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/counting"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// gangSearch is the search for a group: a domain is the whole cluster or a region
// of it, and in each several placements are tried.
type gangSearch struct {
	*question
	trial  *domain.GangTrial
	seater *seating.Seating
	runner *reprieve.Runner
	tally  *disruption.Ledger
	offers *victims.Offers

	seen    []int32 // by unit: the number of the list in which it stands
	lists   int32   // how many lists of units were made
	inside  []bool  // by unit: potential victim of the domain that is looked at
	charged []int32 // by unit: what its loss adds to the violations

	counting *counting.Search // nil if members can't be counted
	counted  int              // checks that counting stands for
	brief    bool             // only verdict, domain and score are asked for
	shares   int              // among so many domains the checks for better placements are shared out
	each     bool             // the plan of every domain is asked for

	best     *plan
	room     int // for so many members at most there would be room, where it is not enough
	rejected []rejectedDomain
	found    []plan
	proved   bool // every "no" so far is proved
	stats    Stats
	notes    func(Step) // told of every decision, for the trace; may be nil
	traces   []DomainTrace
}

// plan is a domain in which preemption helps, with a placement and its victims.
type plan struct {
	domain  domain.Domain
	places  []domain.Assignment
	victims []victims.UnitID
	parts   victims.Parts // of those that go in part; may be nil
	charged []int32       // by victim: what its loss adds to the violations
	score   victims.Score
	steps   []Step // how it came about, for the trace

	counted *counting.Plan // that it was made of; nil if trials found it
}

type rejectedDomain struct {
	domain domain.Domain
	why    domain.Reason
}

// The reasons of a gang that no eviction helps.
const (
	tooFewPods  domain.Check = "too few pods"
	noPlacement domain.Check = "no placement"
)

// newGangSearch returns the search by trials.
func newGangSearch(q *question) *gangSearch {
	s := bareGangSearch(q)
	s.equip()
	return s
}

// countGang returns the search that counts members where that comes to the same.
func countGang(q *question) *gangSearch {
	s := bareGangSearch(q)
	if s.counting = s.newCount(); s.counting == nil {
		s.equip()
	}
	return s
}

func bareGangSearch(q *question) *gangSearch {
	return &gangSearch{question: q, tally: q.budgets.NewLedger(), proved: true, shares: 1, stats: Stats{Hooks: q.options.Hooks != nil}}
}

// equip makes what trials need, once.
func (s *gangSearch) equip() {
	if s.trial != nil {
		return
	}
	q := s.question
	s.trial = q.gangTrial()
	s.seater = &seating.Seating{Trial: s.trial, Gang: q.tree, OwnPlacer: q.options.Hooks != nil && q.options.Hooks.Placer != nil}
	s.runner = reprieve.NewRunner(q.units, q.budgets)
	s.runner.Repeat = q.options.repeat(q.rules.repeatGroups) && (q.rules.mobile || !q.monotone())
	s.runner.Doubtful, s.runner.Constrained, s.runner.Steps = !q.monotone(), len(q.states) > 0, q.options.SearchSteps
	s.seen = make([]int32, q.units.Len())
	s.inside = make([]bool, q.units.Len())
	s.charged = make([]int32, q.units.Len())
}

// checks counts the feasibility checks so far.
func (s *gangSearch) checks() int {
	if s.trial == nil {
		return s.counted
	}
	return s.counted + s.trial.Checks
}

// gangTrial returns a trial of the members. Pods that are nominated to a node, other
// than the members themselves, count there if they are as important.
func (q *question) gangTrial() *domain.GangTrial {
	return q.trialWith(func(p cluster.PodID) bool { return q.ix.Priority(p) >= q.priority })
}

// trialWith is a trial of the members to which those whom counts names count where they are
// nominated.
func (q *question) trialWith(counts func(cluster.PodID) bool) *domain.GangTrial {
	own := map[cluster.PodID]bool{}
	for _, m := range q.members {
		own[m.ID] = true
	}
	return domain.NewGangTrial(q.ix, q.members, q.states, func(p cluster.PodID) bool { return !own[p] && counts(p) })
}

// run is the whole road: may it preempt, does it fit, whom, and where.
func (s *gangSearch) run() (*Result, error) {
	if !s.rules.composites && s.group.Kind == cluster.KindCompositePodGroup {
		return s.result(NotEligible, "these rules know no composite groups"), nil
	}
	if text := s.hopeless(); text != "" {
		r := s.result(Infeasible, text)
		r.Rejected = []Rejection{{string(tooFewPods), 1}}
		return r, nil
	}
	levels, err := s.levels()
	if err != nil {
		return nil, err
	}
	for _, domains := range levels {
		if d := s.fitsIn(domains); d != nil {
			return s.fits(d), nil
		}
	}
	if r := s.refuse(); r != nil {
		return r, nil
	}
	for _, domains := range levels {
		s.rejected, s.traces = nil, nil
		s.stats.Domains, s.shares = len(domains), s.numUsable(domains)
		s.evaluateAll(domains)
		s.settleAll()
		if s.best != nil {
			return s.feasible(), nil
		}
	}
	return s.infeasible(), nil
}

// numUsable is how many of domains have a node that some member could be on if it were
// empty; at least 1.
func (s *gangSearch) numUsable(domains []domain.Domain) int {
	if len(domains) == 1 {
		return 1
	}
	usable := func(n cluster.NodeID) bool {
		if s.counting == nil {
			return s.trial.Usable(n)
		}
		offers := s.ix.Allocatable(n)
		return s.counting.Admits(n) && s.members[0].Resources(offers, offers).OK()
	}
	if s.counting == nil {
		s.equip()
	}
	num := 0
	for i := range domains {
		if slices.ContainsFunc(domains[i].Nodes, usable) {
			num++
		}
	}
	return max(num, 1)
}

// evaluateAll looks for the plan that disrupts least, in order of the domains.
func (s *gangSearch) evaluateAll(domains []domain.Domain) {
	var outs []counting.Outcome
	if s.counting != nil {
		s.counting.Brief = s.brief
		outs = s.counting.Evaluate(domains, s.shares)
	}
	for i := range domains {
		if outs != nil && !outs[i].ByTrials {
			s.adopt(&domains[i], &outs[i])
		} else {
			s.evaluate(&domains[i])
		}
	}
}

// evaluate looks by trials for the plan in domain d that disrupts least.
func (s *gangSearch) evaluate(d *domain.Domain) {
	s.equip()
	var steps []Step
	if s.options.Explain {
		s.notes = func(step Step) { steps = append(steps, step) }
	}
	why := s.tryDomain(d)
	if !why.OK() {
		s.rejected = append(s.rejected, rejectedDomain{*d, why})
		s.note(Step{Action: ActionReject, Text: s.rejection(why)})
	}
	if s.options.Explain {
		s.traces = append(s.traces, DomainTrace{d.Name, steps})
		s.notes = nil
	}
}

func (s *gangSearch) note(step Step) {
	if s.notes != nil {
		s.notes(step)
	}
}
