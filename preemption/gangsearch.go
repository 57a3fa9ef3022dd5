package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// gangSearch is the search for a group: a domain is the whole cluster or a region
// of it, and in each several placements are tried.
type gangSearch struct {
	*question
	trial  *domain.GangTrial
	runner *reprieve.Runner
	tally  *disruption.Ledger
	offers *victims.Offers

	seen    []int32 // by unit: the number of the list in which it stands
	lists   int32   // how many lists of units were made
	inside  []bool  // by unit: potential victim of the domain that is looked at
	charged []int32 // by unit: what its loss adds to the violations

	slots   *slotSearch // nil if members can't be counted
	counted int         // checks that counting stands for
	brief   bool        // only verdict, domain and score are asked for

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

	counted bool       // by a slotSearch
	spots   []spot     // then: where the members go
	losses  slotLosses // and the victims, once they are needed: see slotSearch.settle
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
	s.slots = s.newSlotSearch()
	if s.slots == nil {
		s.equip()
	}
	return s
}

func bareGangSearch(q *question) *gangSearch {
	return &gangSearch{question: q, tally: q.budgets.NewLedger(), proved: true, stats: Stats{Hooks: q.options.Hooks != nil}}
}

// equip makes what trials need, once.
func (s *gangSearch) equip() {
	if s.trial != nil {
		return
	}
	q := s.question
	s.trial = q.gangTrial()
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
	own := map[cluster.PodID]bool{}
	for _, m := range q.members {
		own[m.ID] = true
	}
	return domain.NewGangTrial(q.ix, q.members, q.states, func(p cluster.PodID) bool {
		return !own[p] && q.ix.Priority(p) >= q.priority
	})
}

// run is the whole road: may it preempt, does it fit, whom, and where.
func (s *gangSearch) run() (*Result, error) {
	if !s.rules.composites && s.group.Kind == cluster.KindCompositePodGroup {
		return s.result(NotEligible, "these rules know no composite groups"), nil
	}
	if text := s.team.hopeless(); text != "" {
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
		s.stats.Domains = len(domains)
		s.evaluateAll(domains)
		if s.slots != nil && !s.brief {
			s.slots.settleAll()
		}
		if s.best != nil {
			return s.feasible(), nil
		}
	}
	return s.infeasible(), nil
}

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

// evaluateAll looks for the plan that disrupts least, in order of the domains.
func (s *gangSearch) evaluateAll(domains []domain.Domain) {
	var outs []slotOutcome
	if s.slots != nil {
		outs = s.slots.evaluate(domains)
	}
	for i := range domains {
		if outs != nil && outs[i].counted {
			s.slots.adopt(&domains[i], outs[i])
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

// tryDomain evaluates the placements in d and keeps the best plan. The trial is
// left as it was.
func (s *gangSearch) tryDomain(d *domain.Domain) domain.Reason {
	potential := s.potential(d)
	if s.notes != nil {
		for _, step := range s.keepSteps(d.Nodes) {
			s.note(step)
		}
	}
	if len(potential) == 0 {
		return domain.Reason{Check: noVictims, Detail: s.whyNobodyIn(d)}
	}
	s.stats.Evaluated++
	if s.options.Explain {
		s.note(Step{Action: ActionPotential, Text: "potential " + s.unitNames(potential)})
		for _, step := range s.freeSteps(potential) {
			s.note(step)
		}
	}
	for _, u := range potential {
		s.inside[u] = true
		s.runner.Remove(s.trial, u)
	}
	defer func() {
		s.trial.UnplaceTo(0)
		for _, u := range potential {
			s.inside[u], s.charged[u] = false, 0
		}
		s.bringBack(potential)
	}()
	a := &attemptAt{gangSearch: s, domain: d, potential: potential, plain: s.plain(potential), decided: s.runner.Decided}
	stuck := a.leaveStuck()
	for _, c := range s.runner.Charge(s.budgeted(a.potential)) {
		s.charged[c.Unit] = int32(c.Violations)
	}
	if s.given != nil {
		if why := s.placeGiven(); !why.OK() {
			return why
		}
		a.giveBack(nil)
		if a.top == nil {
			return a.refuse
		}
		a.finish()
		return domain.Reason{}
	}
	for _, placer := range s.placers() {
		if s.place(d, placer, a.prices(placer), s.rules.members == MinCount) && !a.dearer() {
			a.giveBack(placer)
		}
		s.trial.UnplaceTo(0)
		if a.top != nil && a.counts() {
			break // the others have the same victims
		}
	}
	if a.top == nil && !a.refuse.OK() {
		a.repair()
	}
	if a.top == nil {
		switch {
		case !a.refuse.OK():
			return a.refuse
		case len(stuck) > 0:
			return beyond(stuck, reprieve.Refuted)
		}
		s.noteRoom(d)
		return domain.Reason{Check: noPlacement}
	}
	a.improve()
	a.finish()
	return domain.Reason{}
}

// bringBack returns those of list that are out.
func (s *gangSearch) bringBack(list []victims.UnitID) {
	if len(s.states) == 0 && len(list) > s.units.Len()/4 {
		s.trial.Home()
		s.runner.Forget()
		return
	}
	for _, u := range list {
		if s.outInPart(u) {
			s.runner.Return(s.trial, u)
		}
	}
	s.runner.Forget()
	s.trial.Settle()
}

// noteRoom remembers for how many members of a lone pod group there is room in d with
// every potential victim gone, where that is not enough.
func (s *gangSearch) noteRoom(d *domain.Domain) {
	if len(s.team.children) == 0 {
		n := domain.Pack{}.Place(s.trial, d, nil, s.team.members, len(s.team.members))
		s.room = max(s.room, n)
		s.trial.UnplaceTo(0)
	}
}

// out reports whether every pod of unit u is out, outInPart whether one is.
func (s *gangSearch) out(u victims.UnitID) bool {
	unit := s.units.Unit(u)
	if !unit.Elastic {
		return s.trial.Gone(unit.Pods[0])
	}
	return !slices.ContainsFunc(unit.Pods, func(p cluster.PodID) bool { return !s.trial.Gone(p) })
}

func (s *gangSearch) outInPart(u victims.UnitID) bool {
	unit := s.units.Unit(u)
	if !unit.Elastic {
		return s.trial.Gone(unit.Pods[0])
	}
	return slices.ContainsFunc(unit.Pods, s.trial.Gone)
}

// placers lists the placers to try, the first one wins ties.
func (s *gangSearch) placers() []domain.Placer {
	if h := s.options.Hooks; h != nil && h.Placer != nil {
		return []domain.Placer{h.Placer}
	}
	switch s.options.Placement {
	case PlacePack:
		return []domain.Placer{domain.Pack{}}
	case PlaceSpread:
		return []domain.Placer{domain.Spread{}}
	}
	return []domain.Placer{domain.LeastDisruption{}, domain.Pack{}, domain.Spread{}}
}

// potential returns the units with a pod in d that may be evicted, in no order.
// Units of the gang itself are not among them.
func (s *gangSearch) potential(d *domain.Domain) []victims.UnitID {
	most := 0
	for _, n := range d.Nodes {
		most += len(s.units.On(n))
	}
	list := make([]victims.UnitID, 0, most)
	s.lists++
	for _, n := range d.Nodes {
		list = s.addFrom(list, n)
	}
	if s.team.id == cluster.NoGroup {
		return list
	}
	return slices.DeleteFunc(list, func(u victims.UnitID) bool { return s.ownUnit(s.units.Unit(u)) })
}

// addFrom appends the potential victims on node n that are not in the list yet.
func (s *gangSearch) addFrom(list []victims.UnitID, n cluster.NodeID) []victims.UnitID {
	for _, u := range s.evictable(n) {
		if s.seen[u] != s.lists {
			s.seen[u] = s.lists
			list = append(list, u)
		}
	}
	return list
}

// plain reports whether what has to go on a node is a matter of that node alone, and
// is priced as it is scored: every unit is one pod of its own priority.
func (s *gangSearch) plain(list []victims.UnitID) bool {
	if len(s.states) > 0 {
		return false
	}
	for _, u := range list {
		if unit := s.units.Unit(u); len(unit.Pods) > 1 || unit.Priority != s.ix.Priority(unit.Pods[0]) {
			return false
		}
	}
	return true
}

// ownUnit reports whether unit holds running pods of the gang.
func (s *gangSearch) ownUnit(unit *victims.Unit) bool {
	g := s.ix.GroupOf(unit.Pods[0])
	if g == cluster.NoGroup || s.team.id == cluster.NoGroup {
		return false
	}
	for ; g != cluster.NoGroup; g = s.ix.Group(g).Parent {
		if g == s.team.id {
			return true
		}
	}
	return false
}

// budgeted returns those of potential that a budget covers, most important first.
func (s *gangSearch) budgeted(potential []victims.UnitID) []victims.UnitID {
	var list []victims.UnitID
	for _, u := range potential {
		for _, p := range s.units.Unit(u).Pods {
			if len(s.budgets.Of(p)) > 0 {
				list = append(list, u)
				break
			}
		}
	}
	return s.units.Sorted(list)
}
