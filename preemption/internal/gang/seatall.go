package gang

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
)

// seatAllWays is up to how many placements are looked at for the one of most members.
const seatAllWays = 10_000

// seatAll makes the placement, which placer has found, one of as many members as fit in
// the domain with every potential victim gone: placers take large members first, and
// the first child groups, and some of these may stand in the way of more.
func (a *attempt) seatAll(placer domain.Placer) {
	switch {
	case a.q.Fewest, a.q.OwnPlacer:
		return
	case len(a.Trial.Placed()) == len(a.q.Members), a.Trial.Interchangeable() && len(a.q.Tree.Children) == 0:
		return
	}
	first := a.Trial.Assignments()
	if a.fullest == nil {
		a.Trial.UnplaceTo(0)
		a.fullest = a.findFullest()
	}
	a.Trial.UnplaceTo(0)
	if len(a.fullest) <= len(first) {
		a.Trial.PlaceAll(first)
	} else if !a.placeThese(placer) {
		a.Trial.UnplaceTo(0)
		a.Trial.PlaceAll(a.fullest)
	}
	a.seater.Adopt(a.domain)
	a.seater.Rest(a.domain) // placer may have left room for others
}

// findFullest looks for the placement of most members: at every one where they are few; where members are alike at how many each group
// may have; otherwise at the one that takes small members first. Nobody is placed.
func (a *attempt) findFullest() []domain.Assignment {
	best := []domain.Assignment{}
	if a.Place(a.domain, domain.Pack{SmallFirst: true}, nil, false) {
		best = a.Trial.Assignments()
	}
	a.Trial.UnplaceTo(0)
	if len(best) == len(a.q.Members) {
		return best
	}
	e := a.newEvery()
	if e.optional = true; e.ways(seatAllWays) > seatAllWays {
		if list := a.fullestAlike(); len(list) > len(best) {
			return list
		}
		return best
	}
	e.each(seatAllWays, func() {
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
func (a *attempt) placeThese(placer domain.Placer) bool {
	var members []domain.MemberID
	for _, x := range a.fullest {
		members = append(members, x.Member)
	}
	var offers domain.Offers
	if prices := a.prices(placer); prices != nil {
		offers = prices
	}
	slices.Sort(members)
	return placer.Place(a.Trial, a.domain, offers, members, len(members)) == len(members) && a.seater.Suffices()
}
