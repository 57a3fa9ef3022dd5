package gang

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/reprieve"
)

// seatAllWays is up to how many placements are looked at for the one of most members, where the gang fits as things stand in all
// domains together.
const seatAllWays = 10_000

// fitMoreSteps is how many nodes FitMore looks at in all these placements where constraints may open some.
const fitMoreSteps = 1 << 18

// seatAll makes the placement, which placer has found, one of as many members as fit in
// the domain with every potential victim gone: placers take large members first, and
// the first child groups, and some of these may stand in the way of more.
func (a *attempt) seatAll(placer domain.Placer) {
	if !a.leavesOut() {
		return
	}
	first := a.Trial.Assignments()
	if a.fullest == nil {
		a.Trial.UnplaceTo(0)
		a.fullest = a.newEvery().findFullest(seatAllWays)
	}
	a.Trial.UnplaceTo(0)
	if len(a.fullest) <= len(first) {
		a.Trial.PlaceAll(first)
	} else {
		var offers domain.Offers
		if prices := a.prices(placer); prices != nil {
			offers = prices
		}
		a.seatFullest(placer, offers)
	}
	a.seater.Adopt(a.domain)
	a.seater.Rest(a.domain) // placer may have left room for others
}

// leavesOut reports whether members are left out who may be the wrong ones, where as many count as have places.
func (s *Search) leavesOut() bool {
	all := !s.q.Fewest && !s.q.OwnPlacer && s.q.Given == nil
	return all && len(s.Trial.Placed()) < len(s.q.Members) && (!s.Trial.Interchangeable() || len(s.q.Tree.Children) > 0)
}

// FitMore is called where the gang has places in the one of domains that is d, as things stand. It seats it in the domain where
// most members have places, of those that findFullest finds, if these are more, and returns that.
func (s *Search) FitMore(domains []domain.Domain, d *domain.Domain) *domain.Domain {
	if !s.leavesOut() {
		return d
	}
	proved, unproved := s.Proved, s.seater.Unproved
	best := s.Trial.Assignments()
	e := (&attempt{Search: s}).newEvery()
	for i := 0; i < len(domains) && len(best) < len(s.q.Members); i++ {
		s.Trial.UnplaceTo(0)
		s.Trial.Allow(max(s.looks()/4/len(domains), seating.FewestLooks))
		s.seater.Allow(len(domains))
		e.domain = &domains[i]
		ways := seatAllWays
		if len(s.q.States) > 0 { // each is looked for on all nodes
			ways = min(ways, fitMoreSteps/max(len(e.domain.Nodes), 1))
		}
		if list := e.findFullest(ways / len(domains)); len(list) > len(best) {
			best, d, e.fullest = list, e.domain, list
		}
	}
	s.Proved, s.seater.Unproved = proved, unproved
	if s.Trial.UnplaceTo(0); e.fullest == nil {
		s.Trial.PlaceAll(best)
		return d
	}
	placer := domain.Placer(domain.Pack{})
	if spread, ok := s.q.Chosen().(domain.Spread); ok {
		placer = spread
	}
	e.domain = d
	e.seatFullest(placer, nil)
	s.seater.Adopt(d)
	s.seater.Rest(d) // placer may have left room for others
	return d
}

// seatFullest places the members of the fullest placement by placer or, where these do not all find a place so, as they are there.
func (a *attempt) seatFullest(placer domain.Placer, offers domain.Offers) {
	if !a.placeThese(placer, offers) {
		a.Trial.UnplaceTo(0)
		a.Trial.PlaceAll(a.fullest)
	}
}

// findFullest looks for the placement of most members: at every one where they are few; where members are alike at how many each group
// may have; otherwise at the one that takes small members first. Nobody is placed.
func (e *every) findFullest(ways int) []domain.Assignment {
	best := []domain.Assignment{}
	if e.Place(e.domain, domain.Pack{SmallFirst: true}, nil, false) {
		best = e.Trial.Assignments()
	}
	e.Trial.UnplaceTo(0)
	if len(best) == len(e.q.Members) {
		return best
	}
	if e.optional = true; e.ways(ways) > ways {
		if list := e.fullestAlike(); len(list) > len(best) {
			return list
		}
		return best
	}
	e.look()
	e.each(ways, func() {
		if len(e.Trial.Placed()) > len(best) && e.seater.Suffices() {
			best = e.Trial.Assignments()
		}
	})
	return best
}

// fullestAlike is the placement of most members where nothing but their groups tells them apart: these may have as many
// as there is room for, whoever they are; nil: it is not known.
func (a *attempt) fullestAlike() []domain.Assignment {
	if !a.Trial.PlacersAgree() || a.q.Tree.PartsHaveTopology() {
		return nil
	}
	members := make([]domain.MemberID, len(a.q.Members))
	for m := range members {
		members[m] = domain.MemberID(m)
	}
	defer a.Trial.UnplaceTo(0)
	room := (domain.Pack{}).Place(a.Trial, a.domain, nil, members, len(members))
	a.Trial.UnplaceTo(0)
	members = a.q.Tree.Fullest(room)
	slices.Sort(members)
	if (domain.Pack{}).Place(a.Trial, a.domain, nil, members, len(members)) < len(members) {
		return nil // looks have run out
	}
	return a.Trial.Assignments()
}

// placeThese places the members of the fullest placement by placer, and reports whether
// all of them found a place.
func (a *attempt) placeThese(placer domain.Placer, offers domain.Offers) bool {
	var members []domain.MemberID
	for _, x := range a.fullest {
		members = append(members, x.Member)
	}
	slices.Sort(members)
	return placer.Place(a.Trial, a.domain, offers, members, len(members)) == len(members) && a.seater.Suffices()
}

// mostEverywhere is among how many units those are searched for with whom gone the members find a place, wherever that is.
const mostEverywhere = 512

// searchable reports whether everywhere looks: for whom there is to improve on, by a known order of plans, among so few potential victims.
func (a *attempt) searchable() bool {
	return a.q.Improves && a.q.Compare == nil && len(a.potential) <= mostEverywhere
}

// everywhere looks among all sets of the potential victims for the one that disrupts least,
// wherever the members then go: for as few of them as are needed, or else for as many as there is
// a set for. It reports whether that is settled: no plan disrupts less, or there is none.
func (a *attempt) everywhere() bool {
	q := a.q
	if !a.searchable() {
		return false
	}
	if q.Fewest {
		proof := a.seatedEverywhere(max(1, q.Tree.Fewest()), func() (bool, bool) { return a.seater.Exactly(a.domain) })
		return proof == reprieve.Found || proof == reprieve.Refuted && a.top == nil
	}
	least := max(1, q.Tree.Fewest())
	if a.top != nil {
		least = len(a.top.Places)
	}
	most := 0
	for _, leaf := range q.Tree.Able() {
		most += len(leaf.Members)
	}
	for n := most; n >= least; n-- {
		if n < most && len(q.Tree.Children) > 0 {
			return false
		}
		proof := a.seatedEverywhere(n, func() (bool, bool) {
			return a.seater.ExactlySo(a.domain, func(leaf *seating.Group) int { return min(n, len(leaf.Members)) })
		})
		if proof != reprieve.Refuted {
			return proof == reprieve.Found
		}
	}
	return a.top == nil
}

// seatedEverywhere is everywhere for so many members, whom seat gives a place if there is one for them as things stand; it may not know
// that there is none. Refuted: no set of victims makes room for them.
func (a *attempt) seatedEverywhere(members int, seat func() (seated, proved bool)) reprieve.Proof {
	q := a.q
	known := true
	try := func() bool {
		seated, proved := seat()
		known = known && (seated || proved)
		return seated
	}
	switch seated := try(); {
	case !known:
		return reprieve.Exhausted
	case !seated:
		return reprieve.Refuted
	}
	trial := domain.Trial(a.Trial)
	if a.Trial.Interchangeable() && len(q.Tree.Children) == 0 && !q.Lands() {
		a.Trial.UnplaceTo(0)
		trial = seating.NewSlotTrial(a.Trial, a.domain, 0, members)
	}
	a.Trial.Mobile, a.Trial.Need = true, func(*domain.GangTrial) bool { return try() }
	least, all := a.seater.LeastOf(members), q.Units.Sorted(slices.Clone(a.potential))
	violating, rest := a.byViolations(all)
	var from reprieve.Least
	if a.top != nil && len(a.top.Places) == members {
		from = reprieve.Least{Victims: slices.Clone(a.top.Victims), Parts: maps.Clone(a.top.Parts)}
	}
	aims, numAims := q.Aims(a.Runner, all, violating), q.Known(all)
	w := q.Within(all, a.Runner, a.Trial.Assignments)
	a.shareSteps(&w)
	a.Stats.Searched++
	if a.scarce == nil {
		a.scarce = make([]int, q.Index.NumNodes())
	}
	sums := seating.NewSums(trial, a.Trial, a.domain, members, least, a.scarce)
	defer sums.Close()
	l := a.Runner.Least(sums, violating, rest, from, w, aims[:numAims], nil)
	a.Trial.Mobile = false
	a.Trial.UnplaceTo(0)
	if l.Victims != nil && try() {
		a.seater.Adopt(a.domain)
		if q.Trace {
			a.steps = nil
			a.notePlaces(0)
			a.Runner.Observe, a.Runner.ObservePart = a.observe, a.observePart
		}
		out := a.Runner.Told(a.Trial, l.Victims, violating, rest)
		a.Runner.Observe, a.Runner.ObservePart = nil, nil
		if known = known && len(a.overruns(out.Victims)) == 0; known { // from the places that they have come to
			a.propose(out)
		}
	}
	a.clear(violating, rest)
	switch {
	case !known:
		return reprieve.Exhausted
	case l.Proof == reprieve.Refuted:
		return reprieve.Refuted
	case l.Proof != reprieve.Found || numAims < len(aims):
		if slices.Compare(a.bound, l.Bound) < 0 {
			a.bound = l.Bound
		}
		return reprieve.Exhausted
	}
	return reprieve.Found
}
