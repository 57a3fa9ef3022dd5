package gang

import (
	"cmp"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// attempt is the work on one domain: every potential victim is out of the trial,
// and one placement after the other is tried.
type attempt struct {
	*Search
	domain    *domain.Domain
	potential []victims.UnitID // those who were taken out at once
	unseen    int              // how many others there are, on nodes that were vacant
	covered   []victims.UnitID // of these, those on nodes with somebody whom a budget covers
	plain     bool             // see Search.plain

	fullest []domain.Assignment // see seatAll; nil: not looked for yet

	top     *Plan              // the best so far
	against *Plan              // see rival
	roomy   int8               // ample: 1 yes, -1 no, 0 not known yet
	few     map[ask.Bound]bool // pastPods, by the limit
	tried   int                // placements
	effort  int                // checks that moving members may still cost
	decided int                // what searches had decided on before this domain
	late    int                // see mostLate
	steps   []ask.Step

	over   []ask.Excess     // what the latest victims go beyond
	refuse domain.Reason    // why a placement has no victims within the bounds
	beyond bool             // it is proved that none has
	greedy []victims.UnitID // whom the latest placement would evict
	proved bool             // no victims are better for the given placement
	bound  []int64          // by aim: no plan has less; aims behind its end may have anything
}

// numPotential is how many potential victims there are.
func (a *attempt) numPotential() int { return len(a.potential) + a.unseen }

// prices are what room costs that the potential victims of the domain who are out
// would have to make, where placer or the choice of a child's region asks for it.
func (a *attempt) prices(placer domain.Placer) *losses.Offers {
	switch placer.(type) {
	case domain.Pack, domain.Spread:
		if !a.plain && !a.q.Tree.PartsHaveTopology() {
			return nil
		}
	}
	return a.anew()
}

// anew are the offers for the members that are placed.
func (s *Search) anew() *losses.Offers {
	if s.offers == nil {
		potential := func(u victims.UnitID) bool { return s.out(u) && s.inside[u] } // whoever asks who is out lets a vacant node be emptied first
		violates := func(u victims.UnitID) int { return int(s.charged[u]) }
		costless := func(u victims.UnitID) bool { return s.q.Broken(u) }
		if s.Runner.Budgets.None() {
			violates = nil
		}
		if !s.q.BrokenFree {
			costless = nil
		}
		s.offers = losses.NewOffers(s.q.Units, s.Trial, potential, violates, costless)
		if f := s.firstSeats(); f.vacates { // then nobody is back while members are placed
			s.offers.Out = f.out
		}
		s.offers.Near = s.near.Pods
		s.offers.CostLeads = s.q.Ranking.Criteria()[0] == victims.CriterionCost
	}
	s.offers.Renew()
	return s.offers
}

// looksAtMembers reports whether a constraint looks at somebody on a node with members: who has to
// go there is more than a matter of room then.
func (a *attempt) looksAtMembers() bool {
	return len(a.q.States) > 0 && slices.ContainsFunc(a.Trial.Placed(), func(m domain.MemberID) bool { return a.Trial.Looks(a.Trial.At(m)) })
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
func (a *attempt) giveBack(placer domain.Placer) {
	if a.given += given; a.q.Effort != ask.Greedy {
		a.given += chosen
	}
	if placer == nil {
		a.seater.Adopt(a.domain)
	}
	told := a.told()
	violating, rest := a.concerned(told)
	moves := a.q.Mobile && a.q.Given == nil
	if a.q.Trace {
		a.steps = nil
		if !moves {
			a.notePlaces(0)
		}
		a.Runner.Observe, a.Runner.ObservePart = a.observe, a.observePart
	}
	a.Trial.Settle() // whoever is placed fits with everybody gone
	first := a.Trial.Assignments()
	out := a.reprieve(placer, violating, rest)
	a.goWhere(told, &out)
	if a.q.Bounded() {
		out, a.refuse = a.choose(first, violating, rest, out)
	}
	a.Runner.Observe, a.Runner.ObservePart, a.Trial.Mobile = nil, nil, false
	if a.q.Trace && moves {
		a.notePlaces(0)
	}
	if a.refuse.OK() {
		a.propose(out)
	}
	a.clear(violating, rest)
}

// clear takes off who is placed, and out who came back.
func (a *attempt) clear(violating []reprieve.Charged, rest []victims.UnitID) {
	a.Trial.UnplaceTo(0)
	lists := [][]victims.UnitID{units(violating), rest}
	if a.q.Mobile || a.q.Lowest {
		lists = [][]victims.UnitID{a.potential} // the same, node by node, as they lie in memory
	}
	for _, list := range lists {
		for _, u := range list {
			if !a.out(u) {
				a.Runner.Remove(a.Trial, u)
			}
		}
	}
	a.Trial.Settle()
}

// settleOn makes a plan of the members that are placed and of who has to go for them.
func (a *attempt) settleOn(list []victims.UnitID) {
	a.seater.Adopt(a.domain)
	violating, rest := a.concerned(nil)
	a.Runner.Forget()
	a.lists++
	for _, u := range list {
		a.seen[u] = a.lists
	}
	for _, u := range append(units(violating), rest...) {
		if a.seen[u] != a.lists {
			a.Runner.Return(a.Trial, u)
		}
	}
	a.Trial.Fits() // yes; it wants to be asked
	if a.q.Trace {
		a.notePlaces(0)
		a.Runner.Observe = a.observe
	}
	out := a.Runner.Told(a.Trial, list, violating, rest)
	a.Runner.Observe = nil
	a.propose(out)
	a.clear(violating, rest)
}

// propose keeps the plan that out and the placement make if it is the best so far.
func (a *attempt) propose(out reprieve.Outcome) {
	if a.q.Fewest && a.q.Given == nil {
		before := len(a.Trial.Placed())
		a.seatMore(out.Victims)
		if len(a.Trial.Placed()) > before && len(a.overruns(out.Victims)) > 0 { // victims move to where these would be
			a.Trial.UnplaceTo(before)
		}
		if a.q.Trace {
			a.notePlaces(before)
		}
	}
	parts := maps.Clone(a.Runner.Parts())
	p := Plan{Domain: *a.domain, Places: a.Trial.Assignments(), Parts: parts}
	p.Score = a.q.Score(out.Victims, parts, out.Violations, p.Places...)
	if a.tried++; a.top == nil || a.better(&p, out.Victims) {
		p.Victims, p.steps = slices.Clone(out.Victims), a.steps
		p.Charged = make([]int32, len(p.Victims))
		for i, u := range p.Victims {
			p.Charged[i] = int32(a.Runner.ViolationsOf(reprieve.Charged{Unit: u, Violations: int(a.charged[u])}))
		}
		a.top = &p
	}
}

// consider keeps plan p if it is the best so far; nil: there is none.
func (a *attempt) consider(p *Plan) {
	if p != nil && (a.top == nil || a.better(p, p.Victims)) {
		a.top = p
	}
}

// reprieve gives back by the strategy of the rules.
func (a *attempt) reprieve(placer domain.Placer, violating []reprieve.Charged, rest []victims.UnitID) reprieve.Outcome {
	switch {
	case a.counts():
		trial := a.slotTrial()
		out := a.Runner.GiveBack(trial, violating, rest)
		a.reseat()
		return out
	case !a.q.Lowest:
		return a.afterMoving(violating, a.comeBack(func() reprieve.Outcome { return a.Runner.GiveBack(a.mobileTrial(), violating, rest) }))
	}
	first := a.Trial.Assignments()
	var moved, found []domain.Assignment // once those are back who violate budgets, in the order in which they fit; as found last
	asBefore := func(list []domain.Assignment) bool {
		ok := len(list) > 0 && a.placeAsBefore(list)
		if ok && a.q.Mobile {
			a.seater.Adopt(a.domain) // so many have to stay seated
		}
		a.Trial.Settle()
		return ok
	}
	again := func() domain.Reason {
		if moved == nil {
			moved = a.Trial.Assignments()
		}
		a.Trial.UnplaceTo(0)
		a.Trial.Settle()
		if a.q.Given != nil {
			return a.PlaceGiven()
		}
		placed := a.Place(a.domain, placer, a.prices(placer), a.q.Fewest)
		if placed && (a.q.Fewest || len(a.Trial.Placed()) >= len(first)) {
			a.Trial.Settle()
			found = a.Trial.Assignments()
		} else if !asBefore(first) && !asBefore(moved) {
			return domain.Reason{Check: ask.NoPlacement}
		}
		return domain.Reason{}
	}
	l, tellRest := a.q.Bounding(again), func() {}
	if a.q.Trace {
		l.Bounded = func(level, next int32, lower bool, why domain.Reason) {
			tellRest()
			a.steps = append(a.steps, ask.Step{Action: ask.Settles, Level: level, Below: next, Lower: lower, Why: why})
		}
	}
	l.Placed = func() {
		if len(a.Trial.Placed()) == 0 { // the look ended before it found the places of this level once more
			asBefore(found)
		}
		if a.q.Trace && !slices.Equal(first, a.Trial.Assignments()) {
			a.notePlaces(0)
		}
	}
	trial := a.mobileTrial()
	if !trial.Mobile {
		stays := func(u victims.UnitID) bool { return !a.outInPart(u) }
		l.Around = func() []victims.UnitID {
			if a.q.Trace {
				tellRest()
				tellRest = a.tellAll(a.q.Units.Sorted(slices.DeleteFunc(slices.Clone(a.potential), stays)), false)
			}
			return a.q.Units.Sorted(slices.DeleteFunc(a.around(nil), stays))
		}
		if len(a.q.States) == 0 {
			tellRest = a.tellAll(units(violating), true)
			violating = a.returnOthers(violating)
		}
	}
	out := a.comeBack(func() reprieve.Outcome { return a.Runner.GiveBackLowest(trial, l, violating, rest) })
	tellRest()
	return a.afterMoving(violating, out)
}

// tellAll lets a trace tell of each of all in order, while some of them are tried: the others return without a check. It returns
// what tells of those behind the last one.
func (a *attempt) tellAll(all []victims.UnitID, violating bool) (tellRest func()) {
	tellTo := func(end int) {
		for _, u := range all[:end] {
			a.observe(u, violating && a.charged[u] > 0, domain.Reason{})
		}
		all = all[min(end+1, len(all)):]
	}
	if a.Runner.Observe == nil {
		return func() {}
	}
	a.steps = slices.Grow(a.steps, len(all)+len(all)/8) // some are tried again
	a.Runner.Observe = func(u victims.UnitID, violates bool, why domain.Reason) {
		at := slices.Index(all, u)
		if at < 0 { // once more
			at = len(all)
		}
		tellTo(at)
		a.observe(u, violates, why)
	}
	return func() { tellTo(len(all)) }
}

// returnOthers returns those of violating who are in nobody's way where the members are, without constraints: on other
// nodes. They count as tried. The others are returned to be tried.
func (a *attempt) returnOthers(violating []reprieve.Charged) (tried []reprieve.Charged) {
	a.around(nil)
	for _, c := range violating {
		if a.seen[c.Unit] == a.lists {
			tried = append(tried, c)
		}
	}
	for _, u := range a.potential { // node by node, as they lie in memory
		if a.charged[u] > 0 && a.seen[u] != a.lists {
			a.Runner.Return(a.Trial, u)
		}
	}
	a.Trial.Checks += len(violating) - len(tried)
	return tried
}

// afterMoving returns those of out who are not in the way of the gang where it has come to stay:
// where members are many and unlike, it may have found no other place when they were tried.
func (a *attempt) afterMoving(violating []reprieve.Charged, out reprieve.Outcome) reprieve.Outcome {
	if moves := a.q.Mobile && a.q.Given == nil; !moves || !a.seater.Unproved || a.Runner.Repeat {
		return out
	}
	a.Trial.Mobile = false
	return a.comeBack(func() reprieve.Outcome { return a.Runner.GiveBackMore(a.Trial, violating, out) })
}

// mobileTrial is the trial, in which the gang moves where the rules let it.
func (a *attempt) mobileTrial() *domain.GangTrial {
	a.Trial.Mobile = a.q.Mobile && a.q.Given == nil
	a.Trial.Need = func(t *domain.GangTrial) bool {
		ok := a.reseat()
		t.Mobile = ok || !a.seater.Stays()
		return ok
	}
	return a.Trial
}

// counts reports whether the gang moves and its members are alike, so that counting
// rooms takes the place of placing them: then every placement has the same victims.
func (a *attempt) counts() bool {
	return a.q.Mobile && a.q.Given == nil && !a.q.Lowest && a.Trial.Interchangeable()
}

// slotTrial takes the members off and counts room for as many.
func (a *attempt) slotTrial() *seating.SlotTrial {
	need := 0
	for _, leaf := range a.q.Tree.Leaves() {
		if leaf.Within != nil {
			need += a.wanted(leaf)
		}
	}
	a.Trial.UnplaceTo(0)
	return seating.NewSlotTrial(a.Trial, a.domain, 0, need)
}

// placeAsBefore places what list says, if it fits as things stand.
func (a *attempt) placeAsBefore(list []domain.Assignment) bool {
	a.Trial.UnplaceTo(0)
	for _, x := range list {
		if !a.Trial.CanPlace(x.Member, x.Node).OK() {
			a.Trial.UnplaceTo(0)
			return false
		}
		a.Trial.Place(x.Member, x.Node)
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

// concerned lists the units whose return has to be tried, most important first: those that matter
// to members where they are, or all where members may move.
func (a *attempt) concerned(told map[cluster.NodeID]bool) (violating []reprieve.Charged, rest []victims.UnitID) {
	if a.q.Mobile || a.q.Lowest {
		return a.byViolations(a.q.Units.Sorted(a.potential))
	}
	return a.byViolations(a.q.Units.Sorted(a.around(told)))
}

// around lists the potential victims on nodes with members, and those at whom a constraint looks across
// nodes, in no order. The others come back without a check, and so do those on nodes that are told, of whom
// goWhere tells.
func (a *attempt) around(told map[cluster.NodeID]bool) (list []victims.UnitID) {
	a.lists++
	across := a.Trial.CrossNode()
	for _, m := range a.Trial.Placed() {
		if n := a.Trial.At(m); !told[n] {
			if a.Trial.Empty(n); !across {
				list = a.addFrom(list, n)
			}
		}
	}
	if !across {
		return slices.DeleteFunc(list, func(u victims.UnitID) bool { return !a.inside[u] })
	}
	matters := func(p cluster.PodID) bool { return !told[a.q.Index.NodeOf(p)] && a.Trial.Matters(p) } // perhaps outside the domain
	for _, u := range a.removed {
		if a.seen[u] != a.lists && a.inside[u] && slices.ContainsFunc(a.near.Pods(u), matters) {
			a.seen[u] = a.lists
			list = append(list, u)
		}
	}
	return list
}

// told are the nodes with members where the columns tell who has to go: no constraint looks at anybody there.
func (a *attempt) told() map[cluster.NodeID]bool {
	f := a.firstSeats()
	if !f.vacates || a.harmful {
		return nil
	}
	told := map[cluster.NodeID]bool{}
	for _, m := range a.Trial.Placed() {
		n := a.Trial.At(m)
		if _, ok := f.vacant(n); ok {
			told[n] = true
		}
	}
	return told
}

// goWhere adds to out who has to go on nodes that are told, as many checks as it would take to try
// everybody there, and those who stay out once more in each further pass.
func (a *attempt) goWhere(told map[cluster.NodeID]bool, out *reprieve.Outcome) {
	if len(told) == 0 {
		return
	}
	offers := a.anew()
	for n := range told {
		units, _ := a.firsts.vacant(n)
		gone := offers.Booked(n)
		a.Trial.Checks += units + out.Passes*len(gone)
		out.Victims = append(out.Victims, gone...)
	}
	slices.SortFunc(out.Victims, a.q.Units.Compare)
}

// byViolations tells the units of list whose loss adds to the violations from the others.
func (s *Search) byViolations(list []victims.UnitID) (violating []reprieve.Charged, rest []victims.UnitID) {
	for _, u := range list {
		if v := s.charged[u]; v > 0 {
			violating = append(violating, reprieve.Charged{Unit: u, Violations: int(v)})
		} else {
			rest = append(rest, u)
		}
	}
	return violating, rest
}

// finish notes what was found in the domain, and keeps the best plan if it is the
// best of all domains.
func (a *attempt) finish() {
	a.note(a.top.steps...)
	if a.tried > 1 {
		a.note(ask.Step{Action: ask.Compares, More: &ask.More{Count: a.tried}})
	}
	a.noteScore(a.top)
	a.keepPlan(a.top)
}

// noteScore notes what plan p comes to.
func (s *Search) noteScore(p *Plan) {
	s.note(ask.Step{Action: ask.Scores, More: &ask.More{Score: p.Score, Units: p.Victims, Parts: p.Parts}})
}

// keepPlan notes the plan of a domain, and keeps it if it is the best so far.
func (s *Search) keepPlan(p *Plan) {
	if s.q.Candidates || s.Each {
		s.Found = append(s.Found, *p)
	}
	p.turn = s.turn
	if s.Best == nil || cmp.Or(s.Compare(p, s.Best), p.turn-s.Best.turn) < 0 {
		s.Best = p
	}
}

// better reports whether p, with those victims, is better than the best plan so far:
// by Compare, and among equals if the most important victim in which they differ is
// less important. That is how the units of one domain are told apart where the score
// reads pods alone.
func (a *attempt) better(p *Plan, out []victims.UnitID) bool {
	if c := a.Compare(p, a.top); c != 0 {
		return c < 0
	}
	return slices.CompareFunc(out, a.top.Victims, func(u, v victims.UnitID) int { return -a.q.Units.Compare(u, v) }) < 0
}

// Compare is below zero if p is better than o: where room is made for all that fit,
// more members seated, then the lower score; where it is made for as few as are
// needed, the score decides first.
func (s *Search) Compare(p, o *Plan) int {
	seats := len(o.Places) - len(p.Places)
	score := s.q.CompareScores(&p.Score, &o.Score)
	if s.q.Fewest {
		return cmp.Or(score, seats)
	}
	return cmp.Or(seats, score)
}

func (a *attempt) observe(u victims.UnitID, violates bool, why domain.Reason) {
	a.steps = append(a.steps, ask.Returning(u, violates, why))
}

func (a *attempt) observePart(u victims.UnitID, out []cluster.PodID) {
	a.steps = append(a.steps, ask.Step{Action: ask.ReturnsInPart, Unit: u, More: &ask.More{Pods: slices.Clone(out)}})
}

// notePlaces tells where those are who were placed after so many others.
func (a *attempt) notePlaces(placed int) {
	for _, m := range a.Trial.Placed()[placed:] {
		a.steps = append(a.steps, ask.Step{Action: ask.Places, Member: m, Node: a.Trial.At(m)})
	}
}
