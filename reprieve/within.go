package reprieve

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Within bounds a reprieve.
type Within struct {
	Choice
	Keeps func(out []victims.UnitID) bool // whether a set is within the caps

	// AimSteps is how many of the steps [Runner.Least] may take once it has a set within the
	// caps.
	AimSteps int
}

// RunWithin is [Runner.Run] for a choice without a price: the greedy way first, and where it
// goes beyond a cap, the search. The Reason is zero if a set was found; it is that of Run if
// even without all of them the preemptor does not fit. For a price see [Runner.RunLeast].
func (r *Runner) RunWithin(t domain.Trial, potential []victims.UnitID, w Within) (Outcome, Proof, domain.Reason) {
	r.empty(t, potential)
	if why := t.Fits(); !why.OK() {
		return Outcome{}, Refuted, why
	}
	r.split(potential)
	out, proof := r.GiveBackWithin(t, slices.Clone(r.violating), slices.Clone(r.rest), w)
	return out, proof, domain.Reason{}
}

// GiveBackWithin is [Runner.GiveBack] for a choice. With Refuted or Exhausted, all of
// the units stay out.
func (r *Runner) GiveBackWithin(t domain.Trial, violating []Charged, rest []victims.UnitID, w Within) (Outcome, Proof) {
	observe, part := r.Observe, r.ObservePart
	var seen []func() // told later, if at all
	if observe != nil {
		r.Observe = func(u victims.UnitID, violates bool, why domain.Reason) {
			seen = append(seen, func() { observe(u, violates, why) })
		}
	}
	if part != nil {
		r.ObservePart = func(u victims.UnitID, out []cluster.PodID) {
			out = slices.Clone(out)
			seen = append(seen, func() { part(u, out) })
		}
	}
	defer func() { r.Observe, r.ObservePart = observe, part }()
	out := r.GiveBack(t, violating, rest)
	if w.Keeps(out.Victims) {
		for _, tell := range seen {
			tell()
		}
		return out, Found
	}
	r.Observe, r.ObservePart = nil, nil
	order := inOrder(violating, rest)
	r.move(t, order, slices.Sorted(slices.Values(out.Victims)), r.Remove)
	list, proof := r.Choose(t, w.Choice, order, math.MaxInt64)
	more := false
	for _, u := range list {
		more = r.fewer(t, u, list, w) || more
	}
	if more {
		list = r.spare(t, list, w)
	}
	r.Observe, r.ObservePart = observe, part
	return r.Told(t, list, violating, rest), proof
}

// spare returns those of list who can come back, now that more members of others are back, and lists the others.
func (r *Runner) spare(t domain.Trial, list []victims.UnitID, w Within) []victims.UnitID {
	for i := 0; i < len(list); {
		part, in := r.parts[list[i]]
		r.Return(t, list[i])
		rest := slices.Delete(slices.Clone(list), i, i+1)
		if t.Fits().OK() && w.Keeps(rest) {
			list = rest
			continue
		}
		r.Remove(t, list[i])
		if in {
			r.restore(t, list[i], part)
		}
		i++
	}
	return list
}

// fewer looks whether of unit u, which is out in part, fewer members may be.
func (r *Runner) fewer(t domain.Trial, u victims.UnitID, list []victims.UnitID, w Within) bool {
	before, in := r.parts[u]
	if !in {
		return false
	}
	r.Remove(t, u)
	r.shrink(t, u)
	if after, in := r.parts[u]; in {
		if len(after) < len(before) && w.Keeps(list) {
			return true
		}
		r.Remove(t, u)
	}
	r.restore(t, u, before)
	return false
}

// move removes or returns the units of order that are not in out, which is in order of number.
func (r *Runner) move(t domain.Trial, order, out []victims.UnitID, do func(domain.Trial, victims.UnitID)) {
	for _, u := range order {
		_, part := r.parts[u]
		if _, in := slices.BinarySearch(out, u); part || !in {
			do(t, u)
		}
	}
}

// restore puts back those pods of unit u, which is out, that are not in part.
func (r *Runner) restore(t domain.Trial, u victims.UnitID, part []cluster.PodID) {
	except(r.here(u), part, t.Return)
	if r.parts == nil {
		r.parts = victims.Parts{}
	}
	r.parts[u] = part
	t.Fits()
}

// Told is the Outcome of victims who are out of t, and tells who observes of the attempt to
// return each unit in order.
func (r *Runner) Told(t domain.Trial, list []victims.UnitID, violating []Charged, rest []victims.UnitID) Outcome {
	r.out = append(r.out[:0], list...)
	slices.SortFunc(r.out, r.Units.Compare)
	o := Outcome{Victims: r.out, Violations: r.violations(violating)}
	if r.Observe == nil || list == nil {
		return o
	}
	if r.Aside != nil {
		defer r.Aside()()
	}
	gone := among(list)
	for i, u := range inOrder(violating, rest) {
		if !gone(u) {
			r.Observe(u, i < len(violating), domain.Reason{})
			continue
		}
		part, in := r.parts[u]
		r.Return(t, u)
		why := t.Fits()
		r.Remove(t, u)
		if in {
			r.restore(t, u, part)
		}
		r.Observe(u, i < len(violating), why)
		if in && r.ObservePart != nil {
			r.ObservePart(u, part)
		}
	}
	return o
}
