package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/victims"
)

// reseat finds the members another placement, as things stand: as many as have to
// stay seated. It looks at every placement where they are few or alike, and beyond
// takes what Pack and Spread find.
func (a *attemptAt) reseat() bool {
	var leaves []*team
	for _, leaf := range a.team.leaves(nil) {
		if leaf.within != nil {
			leaves = append(leaves, leaf)
		}
	}
	all := func(ok func(*team) bool) bool {
		return !slices.ContainsFunc(leaves, func(l *team) bool { return !ok(l) })
	}
	seated, proved := a.seatParts(a.domain, leaves, a.wanted, all)
	for _, leaf := range leaves {
		leaf.within = a.domain
	}
	if seated || proved {
		return seated
	}
	a.gangSearch.proved = false
	for _, placer := range []domain.Placer{domain.Pack{}, domain.Spread{}} {
		w := &seating{gangSearch: a.gangSearch, placer: placer}
		if !slices.ContainsFunc(leaves, func(l *team) bool { return w.fill(l, a.domain, a.wanted(l)) < a.wanted(l) }) {
			return true
		}
		a.trial.UnplaceTo(0)
	}
	return false
}

// wanted is how many members of a pod group have to stay seated.
func (a *attemptAt) wanted(leaf *team) int {
	if a.rules.members == MinCount {
		return leaf.need()
	}
	return leaf.seated
}

// seatMore gives further members a place where nobody more has to go for it. The
// units that stay, but were never tried, are back while it looks.
func (a *attemptAt) seatMore(out []victims.UnitID) {
	var back []victims.UnitID
	a.lists++
	for _, u := range out {
		a.seen[u] = a.lists
	}
	for _, u := range a.potential {
		if a.seen[u] != a.lists && a.out(u) {
			a.runner.Return(a.trial, u)
			back = append(back, u)
		}
	}
	w := &seating{gangSearch: a.gangSearch, placer: domain.Pack{}}
	w.seatRest(a.team, a.domain)
	for _, u := range back {
		a.runner.Remove(a.trial, u)
	}
}

// seatRest seats further members of t in d: beside the others of their group, and groups
// that were left out wherever there is room for them.
func (w *seating) seatRest(t *team, d *domain.Domain) {
	leftOut := !slices.ContainsFunc(t.leaves(nil), func(leaf *team) bool { return leaf.within != nil })
	switch {
	case leftOut:
		if w.seat(t, d) {
			w.fillUp(t)
		}
	case len(t.children) == 0:
		w.fill(t, t.within, len(t.members))
	default:
		if d = w.regionOf(t, d); d == nil {
			return
		}
		for _, c := range t.children {
			w.seatRest(c, d)
		}
	}
}
