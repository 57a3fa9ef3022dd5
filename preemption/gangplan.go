package preemption

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// attemptAt is the work on one domain: every potential victim is out of the trial,
// and one placement after the other is tried.
type attemptAt struct {
	*gangSearch
	domain    *domain.Domain
	potential []victims.UnitID
	plain     bool // see gangSearch.plain

	fullest []domain.Assignment // see seatAll; nil: not looked for yet

	top     *plan // the best so far
	tried   int   // placements
	effort  int   // checks that moving members may still cost
	decided int   // what searches had decided on before this domain
	steps   []Step

	over   []Relaxation     // what the latest victims go beyond
	refuse domain.Reason    // why a placement has no victims within the bounds
	greedy []victims.UnitID // whom the latest placement would evict
}

// prices are what room costs that the potential victims of the domain who are out
// would have to make, where placer or the choice of a child's region asks for it.
func (a *attemptAt) prices(placer domain.Placer) *victims.Offers {
	switch placer.(type) {
	case domain.Pack, domain.Spread:
		if !a.plain && !a.tree.PartsHaveTopology() {
			return nil
		}
	}
	s := a.gangSearch
	if s.offers == nil {
		potential := func(u victims.UnitID) bool { return s.inside[u] && s.out(u) }
		violates := func(u victims.UnitID) int { return int(s.charged[u]) }
		costless := func(u victims.UnitID) bool { return s.broken(u) }
		if s.runner.Budgets.None() {
			violates = nil
		}
		if !s.options.BrokenGroupsFree {
			costless = nil
		}
		s.offers = victims.NewOffers(s.units, s.trial, potential, violates, costless)
		s.offers.CostLeads = s.ranking.CostAt == 1
	}
	s.offers.Reset()
	return s.offers
}

// dearer reports whether the members that are placed cost more than the best plan so
// far, as far as that can be told without giving anybody back.
func (a *attemptAt) dearer() bool {
	if a.top == nil || !a.plain || !byPriceFirst.leads(a.question.traits()) {
		return false
	}
	if a.rules.members != MinCount {
		if seats := len(a.trial.Placed()) - len(a.top.places); seats != 0 {
			return seats < 0
		}
	}
	a.offers.Reset()
	return a.offers.Total().Compare(priceOf(a.top.score)) > 0
}

// priceOf is a score as a price.
func priceOf(s victims.Score) domain.Price {
	p := domain.Price{Violations: int64(s.Violations), Highest: int64(s.Highest), Sum: s.Sum, Pods: int64(s.Pods)}
	if s.Pods == 0 {
		p.Highest = domain.Free.Highest
	}
	return p
}

// giveBack returns whom it can beside the members that are placed, by placer if one
// placed them, keeps the plan if it is the best so far, and takes everybody out again.
func (a *attemptAt) giveBack(placer domain.Placer) {
	if placer == nil && a.given == nil {
		a.seater.Adopt(a.domain)
	}
	violating, rest := a.concerned()
	moves := a.rules.mobile && a.given == nil
	if a.options.Explain {
		a.steps = nil
		if !moves {
			a.notePlaces()
		}
		a.runner.Observe, a.runner.ObservePart = a.observe, a.observePart
	}
	first := a.trial.Assignments()
	out := a.reprieve(placer, violating, rest)
	if a.bounded() {
		out, a.refuse = a.choose(first, violating, rest, out)
	}
	a.runner.Observe, a.runner.ObservePart, a.trial.Mobile = nil, nil, false
	if a.options.Explain && moves {
		a.notePlaces()
	}
	if a.refuse.OK() {
		a.propose(out)
	}
	a.trial.UnplaceTo(0)
	for _, list := range [][]victims.UnitID{units(violating), rest} {
		for _, u := range list {
			if !a.out(u) {
				a.runner.Remove(a.trial, u)
			}
		}
	}
	a.trial.Settle()
}

// propose keeps the plan that out and the placement make if it is the best so far.
func (a *attemptAt) propose(out reprieve.Outcome) {
	if a.rules.members == MinCount && a.given == nil {
		a.seatMore(out.Victims)
	}
	parts := maps.Clone(a.runner.Parts())
	p := plan{domain: *a.domain, places: a.trial.Assignments(), parts: parts, score: a.score(out.Victims, parts, out.Violations)}
	if a.tried++; a.top == nil || a.better(&p, out.Victims) {
		p.victims, p.steps = slices.Clone(out.Victims), a.steps
		p.charged = make([]int32, len(p.victims))
		for i, u := range p.victims {
			p.charged[i] = int32(a.runner.ViolationsOf(reprieve.Charged{Unit: u, Violations: int(a.charged[u])}))
		}
		a.top = &p
	}
}

// reprieve gives back by the strategy of the rules.
func (a *attemptAt) reprieve(placer domain.Placer, violating []reprieve.Charged, rest []victims.UnitID) reprieve.Outcome {
	switch {
	case a.counts():
		trial := a.slotTrial()
		out := a.runner.GiveBack(trial, violating, rest)
		a.reseat()
		return out
	case !a.rules.lowest:
		return a.runner.GiveBack(a.mobileTrial(), violating, rest)
	}
	first := a.trial.Assignments()
	again := func() domain.Reason {
		a.trial.UnplaceTo(0)
		a.trial.Settle()
		if a.given != nil {
			return a.placeGiven()
		}
		placed := a.place(a.domain, placer, a.prices(placer), a.rules.members == MinCount)
		if placed && (a.rules.members == MinCount || len(a.trial.Placed()) >= len(first)) || a.placeAsBefore(first) {
			return domain.Reason{}
		}
		a.trial.UnplaceTo(0)
		return domain.Reason{Check: noPlacement}
	}
	var note func(Step)
	if a.options.Explain {
		note = func(step Step) { a.steps = append(a.steps, step) }
	}
	l := a.lowest(again, note)
	if note != nil {
		l.Placed = func() {
			if !slices.Equal(first, a.trial.Assignments()) {
				a.notePlaces()
			}
		}
	}
	return a.runner.GiveBackLowest(a.mobileTrial(), l, violating, rest)
}

// mobileTrial is the trial, in which the gang moves where the rules let it.
func (a *attemptAt) mobileTrial() *domain.GangTrial {
	a.trial.Mobile = a.rules.mobile && a.given == nil
	a.trial.Need = func(*domain.GangTrial) bool { return a.reseat() }
	return a.trial
}

// counts reports whether the gang moves and its members are alike, so that counting
// rooms takes the place of placing them: then every placement has the same victims.
func (a *attemptAt) counts() bool {
	return a.rules.mobile && a.given == nil && !a.rules.lowest && a.trial.Interchangeable()
}

// slotTrial takes the members off and counts room for as many.
func (a *attemptAt) slotTrial() *domain.SlotTrial {
	need := 0
	for _, leaf := range a.tree.Leaves() {
		if leaf.Within != nil {
			need += a.wanted(leaf)
		}
	}
	a.trial.UnplaceTo(0)
	return domain.NewSlotTrial(a.trial, a.domain, 0, need)
}

// placeAsBefore places what list says, if it fits as things stand.
func (a *attemptAt) placeAsBefore(list []domain.Assignment) bool {
	a.trial.UnplaceTo(0)
	for _, x := range list {
		if !a.trial.CanPlace(x.Member, x.Node).OK() {
			a.trial.UnplaceTo(0)
			return false
		}
		a.trial.Place(x.Member, x.Node)
	}
	return true
}

func units(list []reprieve.Charged) []victims.UnitID {
	us := make([]victims.UnitID, len(list))
	for i, c := range list {
		us[i] = c.Unit
	}
	return us
}

// concerned lists the units whose return has to be tried, most important first:
// those on nodes with members, or all where members may move or a constraint looks
// across nodes. The others come back without a check.
func (a *attemptAt) concerned() (violating []reprieve.Charged, rest []victims.UnitID) {
	list := a.potential
	if !a.rules.mobile && !a.rules.lowest && !a.trial.CrossNode() {
		list = nil
		a.lists++
		for _, m := range a.trial.Placed() {
			list = a.addFrom(list, a.trial.At(m))
		}
		list = slices.DeleteFunc(list, func(u victims.UnitID) bool { return !a.out(u) })
	}
	list = a.units.Sorted(list)
	for _, u := range list {
		if v := a.charged[u]; v > 0 {
			violating = append(violating, reprieve.Charged{Unit: u, Violations: int(v)})
		} else {
			rest = append(rest, u)
		}
	}
	return violating, rest
}

// finish notes what was found in the domain, and keeps the best plan if it is the
// best of all domains.
func (a *attemptAt) finish() {
	for _, step := range a.top.steps {
		a.note(step)
	}
	if a.tried > 1 {
		a.note(Step{Action: ActionCompare, Text: fmt.Sprintf("of %d placements tried, none disrupts less", a.tried)})
	}
	a.note(Step{Action: ActionScore, Text: "score " + a.scoreText(a.top.score)})
	a.keepPlan(a.top)
}

// keepPlan notes the plan of a domain, and keeps it if it is the best so far.
func (s *gangSearch) keepPlan(p *plan) {
	if s.options.Candidates || s.each {
		s.found = append(s.found, *p)
	}
	if s.best == nil || s.compare(p, s.best) < 0 {
		s.best = p
	}
}

// better reports whether p, with those victims, is better than the best plan so far:
// by compare, and among equals if the most important victim in which they differ is
// less important. That is how the units of one domain are told apart where the score
// reads pods alone.
func (a *attemptAt) better(p *plan, out []victims.UnitID) bool {
	if c := a.compare(p, a.top); c != 0 {
		return c < 0
	}
	return slices.CompareFunc(out, a.top.victims, func(u, v victims.UnitID) int { return -a.units.Compare(u, v) }) < 0
}

// compare is below zero if p is better than o: where room is made for all that fit,
// more members seated, then the lower score; where it is made for as few as are
// needed, the score decides first.
func (s *gangSearch) compare(p, o *plan) int {
	seats := len(o.places) - len(p.places)
	score := s.compareScores(&p.score, &o.score)
	if s.rules.members == MinCount {
		return cmp.Or(score, seats)
	}
	return cmp.Or(seats, score)
}

func (a *attemptAt) observe(u victims.UnitID, violates bool, why domain.Reason) {
	a.steps = append(a.steps, a.reprieveStep(u, violates, a.reason(cluster.NoNode, why)))
}

func (a *attemptAt) observePart(u victims.UnitID, out []cluster.PodID) {
	a.steps = append(a.steps, a.partStep(u, out))
}

func (a *attemptAt) notePlaces() {
	for _, m := range a.trial.Placed() {
		pod := a.members[m].Pod
		name, node := key(pod.Namespace, pod.Name), a.ix.Node(a.trial.At(m)).Name
		a.steps = append(a.steps, Step{Action: ActionPlace, Unit: name, Text: fmt.Sprintf("place %s on %s", name, node)})
	}
}
