package reprieve

import (
	"maps"
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

	// Around, if set, lists those units that are out whose return matters to the preemptor where
	// it has its place then, most important first. The others stay out of the trial, and are no victims.
	Around func() []victims.UnitID
}

// RunLowest is [Runner.Run] by that strategy: take all out, place, give back whom a
// budget protects, find the level, give back everybody above it, place again, give
// back the rest.
//
// Source: KEP-5710, early text, "Preemption algorithm".
func (r *Runner) RunLowest(t domain.Trial, l Lowest, potential []victims.UnitID) (Outcome, domain.Reason) {
	r.empty(t, potential)
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
	r.GiveBack(t, violating, nil)
	out := slices.Concat(r.out, rest)
	if len(r.out) > 0 {
		slices.SortFunc(out, r.Units.Compare)
	}
	out = r.bound(t, l, out)
	if l.Around != nil {
		out = r.around(t, l)
	}
	r.GiveBack(t, nil, out)
	return Outcome{Victims: r.out, Violations: r.violations(violating)}
}

// around returns those whose return has to be tried, and those others who are out in part.
func (r *Runner) around(t domain.Trial, l Lowest) []victims.UnitID {
	list := l.Around()
	tried := among(list)
	for u := range maps.Clone(r.parts) {
		if !tried(u) {
			r.Return(t, u)
		}
	}
	return list
}

// bound returns everybody above the lowest sufficient level, and the others.
func (r *Runner) bound(t domain.Trial, l Lowest, out []victims.UnitID) []victims.UnitID {
	if len(out) == 0 {
		return out
	}
	c := r.newCut(t, l, out)
	at := len(c.levels) - 1 // sufficient: it is everybody
	if l.Monotone {
		low := 0
		for low < at {
			if mid := (low + at) / 2; c.enough(mid).OK() {
				at = mid
			} else {
				low = mid + 1
			}
		}
	} else {
		at = 0
		for at < len(c.levels)-1 && !c.enough(at).OK() {
			at++
		}
	}
	if l.Bounded != nil {
		if at > 0 {
			l.Bounded(c.levels[at], c.levels[at-1], true, c.enough(at-1))
		} else {
			l.Bounded(c.levels[at], 0, false, domain.Reason{})
		}
	}
	c.enough(at)
	if l.Placed != nil {
		l.Placed()
	}
	kept := out[:0]
	for i, u := range out {
		if c.level[i] <= c.levels[at] {
			kept = append(kept, u)
		}
	}
	return kept
}

// cut is between those up to a level, who are gone, and those above, who are back.
type cut struct {
	*Runner
	trial  domain.Trial
	place  func() domain.Reason
	units  []victims.UnitID
	level  []int32            // of each unit
	levels []int32            // each once, the lowest first
	of     [][]victims.UnitID // by level
	at     int                // the highest level of those who are gone
}

// newCut is above everybody. What the latest one tells of levels is not asked again of the same units.
func (r *Runner) newCut(t domain.Trial, l Lowest, out []victims.UnitID) *cut {
	if c := r.cut; c != nil && slices.Equal(c.units, out) {
		c.trial, c.place, c.at = t, l.Place, len(c.levels)-1
		return c
	}
	c := &cut{Runner: r, trial: t, place: l.Place, units: slices.Clone(out), level: make([]int32, len(out))}
	r.cut = c
	byLevel := make([]int64, len(out)) // and by number, as what is read of them lies in memory
	for i, u := range out {
		c.level[i] = l.Level(u)
		byLevel[i] = int64(c.level[i])<<32 | int64(u)
	}
	slices.Sort(byLevel)
	list := make([]victims.UnitID, len(out))
	for i, key := range byLevel {
		level := int32(key >> 32)
		if c.at = len(c.levels) - 1; c.at < 0 || c.levels[c.at] != level {
			c.levels, c.of = append(c.levels, level), append(c.of, list[i:i])
			c.at++
		}
		c.of[c.at] = append(c.of[c.at], victims.UnitID(uint32(key)))
	}
	return c
}

// enough moves the cut, and says whether the preemptor finds a place then.
func (c *cut) enough(at int) domain.Reason {
	for ; c.at > at; c.at-- {
		for _, u := range c.of[c.at] {
			c.Return(c.trial, u)
		}
	}
	for ; c.at < at; c.at++ {
		for _, u := range c.of[c.at+1] {
			c.Remove(c.trial, u)
		}
	}
	return c.place()
}
