package gang

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
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
