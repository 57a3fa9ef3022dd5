package reprieve

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/victims"
)

// Lowest is the strategy of KEP-5710's early text: after the units that violate a
// budget have been tried, it looks for the lowest level such that nobody above it
// has to go, which bounds how far preemption can cascade.
type Lowest struct {
	// Level is what a unit is eligible by.
	Level func(victims.UnitID) int32

	// Place finds the preemptor a place anew, as things stand in the trial; the zero
	// Reason if it did. Where the place is fixed it only checks.
	Place func() domain.Reason

	// Monotone says that more room never hurts: levels are searched by halving.
	// Otherwise every level is tried, from the lowest up.
	Monotone bool

	// Bounded, if set, is told the level found, and the next lower one with why it
	// is not enough; lower is false if there is none.
	Bounded func(level int32, next int32, lower bool, why domain.Reason)

	// Placed, if set, is called once everybody above the level is back and the
	// preemptor has its place anew.
	Placed func()
}

// RunLowest is [Runner.Run] by that strategy: take all out, place, give back whom a
// budget protects, find the level, give back everybody above it, place again, give
// back the rest.
//
// Source: KEP-5710, early text, "Preemption algorithm".
func (r *Runner) RunLowest(t domain.Trial, l Lowest, potential []victims.UnitID) (Outcome, domain.Reason) {
	r.Forget()
	for _, u := range potential {
		r.Remove(t, u)
	}
	if why := l.Place(); !why.OK() {
		return Outcome{}, why
	}
	r.split(potential)
	return r.GiveBackLowest(t, l, r.violating, r.rest), domain.Reason{}
}

// GiveBackLowest is RunLowest after the potential victims have been taken out of t
// and the preemptor has found a place: those that violate a budget, and the rest, each
// most important first.
func (r *Runner) GiveBackLowest(t domain.Trial, l Lowest, violating []Charged, rest []victims.UnitID) Outcome {
	violating, rest = slices.Clone(violating), slices.Clone(rest)
	r.GiveBack(t, violating, nil)
	out := slices.Concat(r.out, rest)
	slices.SortFunc(out, r.Units.Compare)
	out = r.bound(t, l, out)

	r.GiveBack(t, nil, out)
	return Outcome{Victims: r.out, Violations: r.violations(violating)}
}

// bound returns everybody above the lowest sufficient level, and the others.
func (r *Runner) bound(t domain.Trial, l Lowest, out []victims.UnitID) []victims.UnitID {
	var levels []int32
	for _, u := range out {
		levels = append(levels, l.Level(u))
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	if len(levels) == 0 {
		return out
	}
	at := len(levels) - 1 // sufficient: it is everybody
	if l.Monotone {
		low := 0
		for low < at {
			if mid := (low + at) / 2; r.enough(t, l, out, levels[mid]).OK() {
				at = mid
			} else {
				low = mid + 1
			}
		}
	} else {
		at = 0
		for at < len(levels)-1 && !r.enough(t, l, out, levels[at]).OK() {
			at++
		}
	}
	if l.Bounded != nil {
		if at > 0 {
			l.Bounded(levels[at], levels[at-1], true, r.enough(t, l, out, levels[at-1]))
		} else {
			l.Bounded(levels[at], 0, false, domain.Reason{})
		}
	}
	above := func(u victims.UnitID) bool { return l.Level(u) > levels[at] }
	for _, u := range out {
		if above(u) {
			r.Return(t, u)
		}
	}
	l.Place()
	if l.Placed != nil {
		l.Placed()
	}
	return slices.DeleteFunc(out, above)
}

// enough says whether the preemptor finds a place with nobody above level gone. It
// leaves who is out as it was, and the place wherever Place put it.
func (r *Runner) enough(t domain.Trial, l Lowest, out []victims.UnitID, level int32) domain.Reason {
	for _, u := range out {
		if l.Level(u) > level {
			r.Return(t, u)
		}
	}
	why := l.Place()
	for _, u := range out {
		if l.Level(u) > level {
			r.Remove(t, u)
		}
	}
	return why
}
