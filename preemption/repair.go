package preemption

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// choose looks for victims that keep within the bounds, or are cheapest, where the
// members were placed first: out, the greedy ones, do not or may not be. Without
// any, everybody may be in any place.
func (a *attemptAt) choose(first []domain.Assignment, violating []reprieve.Charged, rest []victims.UnitID, out reprieve.Outcome) (reprieve.Outcome, domain.Reason) {
	a.over = a.overruns(out.Victims, a.runner.Parts())
	if len(a.over) == 0 && !a.options.Cost.Objective {
		return out, domain.Reason{}
	}
	a.greedy = slices.Clone(out.Victims)
	a.trial.Mobile = false
	a.trial.UnplaceTo(0)
	all := append(units(violating), rest...)
	for _, u := range all {
		if !a.out(u) {
			a.runner.Remove(a.trial, u)
		}
	}
	a.trial.PlaceAll(first)
	a.trial.Settle()
	if a.options.Explain {
		a.steps = nil
		if !a.rules.mobile || a.given != nil {
			a.notePlaces()
		}
	}
	a.stats.Searched++
	w := a.within(all, a.runner)
	w.Steps = min(w.Steps, stepsLeft(w.Steps, a.runner.Decided-a.decided))
	out, proof := a.runner.GiveBackWithin(a.trial, violating, rest, w)
	switch proof {
	case reprieve.Found:
		return out, domain.Reason{}
	case reprieve.FoundSome:
		a.proved = false
		return out, domain.Reason{}
	}
	return out, beyond(a.over, proof)
}

// domainSearches is for how many whole searches there are steps in one domain, however
// many placements are tried there; and to find out what would help.
const domainSearches = 5

// stepsLeft is how many steps are left of domainSearches searches, where one may take
// most and so many were taken.
func stepsLeft(most, taken int) int {
	if most > math.MaxInt/domainSearches {
		return most
	}
	return max(domainSearches*most-taken, 0)
}

// leaveStuck puts units back whose eviction alone would go beyond a bound: they are
// no potential victims. It returns what they go beyond.
func (a *attemptAt) leaveStuck() []Relaxation {
	if a.hard == nil && a.limits == nil {
		return nil
	}
	var over []Relaxation
	a.potential = slices.DeleteFunc(slices.Clone(a.potential), func(u victims.UnitID) bool {
		list := a.overruns([]victims.UnitID{u}, nil)
		if len(list) == 0 || a.units.Unit(u).Elastic {
			return false
		}
		over = append(over, list...)
		a.keep(u)
		return true
	})
	a.trial.Settle()
	return over
}

// keep puts unit u back for good.
func (a *attemptAt) keep(u victims.UnitID) {
	a.inside[u] = false
	a.runner.Return(a.trial, u)
}

// repairs is how often other places are looked for.
const repairs = 16

// repair looks for a placement whose victims keep within the bounds, after those of
// the placers have none: among all placements where they are few, which proves a no;
// otherwise again and again without the units that went too far, and with fewer
// members.
func (a *attemptAt) repair() {
	budget := a.compiled.searchChecks / a.shares
	if placed := !a.rules.mobile && !a.rules.lowest; placed { // and stays where it is
		e := a.newEvery()
		if cost := 1 + len(a.potential); e.ways(budget/cost) <= budget/cost {
			a.proved = a.proved && a.monotone()
			e.runBounded()
			return
		}
	}
	a.proved = false
	for range repairs {
		if !a.keepGreedy() || !a.placeAgain(a.rules.members == MinCount) && !a.placeAgain(true) {
			return
		}
		if a.top != nil {
			return
		}
	}
}

// placeAgain tries the placers as things stand and reports whether one of them found
// a placement.
func (a *attemptAt) placeAgain(fewest bool) bool {
	placed := false
	for _, placer := range a.placers() {
		if a.place(a.domain, placer, a.prices(placer), fewest) {
			placed = true
			a.giveBack(placer)
		}
		a.trial.UnplaceTo(0)
	}
	return placed
}

// keepGreedy keeps the most important of the units that the latest placement would
// evict and that go beyond a bound. It reports whether there is one.
func (a *attemptAt) keepGreedy() bool {
	for _, b := range a.bounds(a.greedy) {
		if !slices.ContainsFunc(a.over, func(r Relaxation) bool { return r.Kind == b.kind && r.Name == b.name }) {
			continue
		}
		for _, u := range a.units.Sorted(a.greedy) {
			if a.weight(b, u) > 0 && a.inside[u] {
				a.keep(u)
				a.trial.Settle()
				a.potential = slices.DeleteFunc(a.potential, func(v victims.UnitID) bool { return v == u })
				return true
			}
		}
	}
	return false
}

// runBounded evaluates every placement, those with most members first, until some
// have victims within the bounds.
func (e *every) runBounded() {
	e.optional = true
	for e.most = len(e.members); e.most > 0 && e.top == nil; e.most-- {
		e.walk(0, 0, 0, func() {
			if len(e.trial.Placed()) != e.most || !e.seater.Suffices() {
				return
			}
			list := e.trial.Assignments()
			e.giveBack(nil)
			if !e.refuse.OK() && e.exhausted() {
				e.proved = false
			}
			e.trial.PlaceAll(list)
		})
	}
	e.trial.UnplaceTo(0)
}

// exhausted reports whether the latest refusal is not proved.
func (a *attemptAt) exhausted() bool {
	text := a.refuse.Detail
	return len(text) >= len(notProved) && text[len(text)-len(notProved):] == notProved
}
