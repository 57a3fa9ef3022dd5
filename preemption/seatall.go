package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
)

// seatAllWays is up to how many placements are looked at for the one of most members.
const seatAllWays = 10_000

// seatAll makes the placement, which placer has found, one of as many members as fit in
// the domain with every potential victim gone: placers take large members first, and
// some of these may stand in the way of more.
func (a *attemptAt) seatAll(placer domain.Placer) {
	switch {
	case a.rules.members == MinCount, a.options.Hooks != nil && a.options.Hooks.Placer != nil:
		return
	case len(a.trial.Placed()) == len(a.members), a.trial.Interchangeable():
		return
	}
	first := a.trial.Assignments()
	if a.fullest == nil {
		a.trial.UnplaceTo(0)
		a.fullest = a.findFullest()
	}
	a.trial.UnplaceTo(0)
	if len(a.fullest) <= len(first) {
		a.trial.PlaceAll(first)
	} else if !a.placeThese(placer) {
		a.trial.UnplaceTo(0)
		a.trial.PlaceAll(a.fullest)
	}
	a.seater.Adopt(a.domain)
}

// findFullest looks for the placement of most members: at every one where they are few,
// otherwise at the one that takes small members first. Nobody is placed.
func (a *attemptAt) findFullest() []domain.Assignment {
	best := []domain.Assignment{}
	if a.place(a.domain, domain.Pack{SmallFirst: true}, nil, false) {
		best = a.trial.Assignments()
	}
	a.trial.UnplaceTo(0)
	if len(best) == len(a.members) {
		return best
	}
	e := a.newEvery()
	if e.optional = true; e.ways(seatAllWays) > seatAllWays {
		return best
	}
	e.walk(0, 0, 0, func() {
		if len(e.trial.Placed()) > len(best) && e.seater.Suffices() {
			best = e.trial.Assignments()
		}
	})
	return best
}

// placeThese places the members of the fullest placement by placer, and reports whether
// all of them found a place.
func (a *attemptAt) placeThese(placer domain.Placer) bool {
	var members []domain.MemberID
	for _, x := range a.fullest {
		members = append(members, x.Member)
	}
	var offers domain.Offers
	if prices := a.prices(placer); prices != nil {
		offers = prices
	}
	slices.Sort(members)
	return placer.Place(a.trial, a.domain, offers, members, len(members)) == len(members) && a.seater.Suffices()
}
