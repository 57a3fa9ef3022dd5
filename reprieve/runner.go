package reprieve

import (
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/victims"
)

// Runner holds what one reprieve after the other needs. Not safe for concurrent use.
type Runner struct {
	Units   *victims.Units
	Budgets *victims.Budgets

	// Repeat makes further passes over the remaining victims, in the same order,
	// until one changes nothing. Only constraints that are not monotone need it.
	Repeat bool

	// Observe, if set, is told of every attempt to return a unit: why is the zero
	// Reason if it stays.
	Observe func(u victims.UnitID, violates bool, why domain.Reason)

	ledger    *disruption.Ledger
	violating []charged
	rest      []victims.UnitID
	out       []victims.UnitID
}

// charged is a unit whose loss violates a budget, and what it adds to the count.
type charged struct {
	unit       victims.UnitID
	violations int
}

// NewRunner returns a Runner over the units us and the budgets b.
func NewRunner(us *victims.Units, b *victims.Budgets) *Runner {
	return &Runner{Units: us, Budgets: b, ledger: b.NewLedger()}
}

// Outcome is what a reprieve came to.
type Outcome struct {
	// Victims are the units that stay out, most important first. The slice belongs
	// to the Runner and is good until its next Run.
	Victims []victims.UnitID

	// Violations is upstream's count: what the units that were tried first, and
	// still stay out, add up to.
	Violations int
}

// Run takes the potential victims, most important first, out of t and gives back
// whom it can. The Reason is zero, or says why the preemptor does not fit even with
// all of them gone; they are left out of the trial then. O(k) checks for k units.
func (r *Runner) Run(t domain.Trial, potential []victims.UnitID) (Outcome, domain.Reason) {
	for _, u := range potential {
		r.remove(t, u)
	}
	if why := t.Fits(); !why.OK() {
		return Outcome{}, why
	}
	return r.Reprieve(t, potential), domain.Reason{}
}

// Reprieve is Run after the potential victims have been taken out of t and the
// preemptor was found to fit.
func (r *Runner) Reprieve(t domain.Trial, potential []victims.UnitID) Outcome {
	r.split(potential)
	r.out = r.out[:0]
	violations := 0
	for _, c := range r.violating {
		if !r.giveBack(t, c.unit, true) {
			violations += c.violations
		}
	}
	for _, u := range r.rest {
		r.giveBack(t, u, false)
	}
	for r.Repeat && r.pass(t, &violations) {
	}
	if len(r.violating) > 0 && len(r.rest) > 0 {
		slices.SortFunc(r.out, r.Units.Compare)
	}
	return Outcome{Victims: r.out, Violations: violations}
}

// split charges the units in order of importance, so that an allowance covers the
// most important ones and the others count as violating.
func (r *Runner) split(potential []victims.UnitID) {
	r.violating, r.rest = r.violating[:0], r.rest[:0]
	if r.ledger.Len() == 0 {
		r.rest = append(r.rest, potential...)
		return
	}
	r.ledger.Reset()
	for _, u := range potential {
		if v := r.Budgets.Charge(r.ledger, r.Units.Unit(u)); v > 0 {
			r.violating = append(r.violating, charged{u, v})
		} else {
			r.rest = append(r.rest, u)
		}
	}
}

// giveBack returns unit u if the preemptor still fits with it, whole or not at all.
func (r *Runner) giveBack(t domain.Trial, u victims.UnitID, violates bool) bool {
	for _, p := range r.Units.Unit(u).Pods {
		t.Return(p)
	}
	why := t.Fits()
	if r.Observe != nil {
		r.Observe(u, violates, why)
	}
	if why.OK() {
		return true
	}
	r.remove(t, u)
	r.out = append(r.out, u)
	return false
}

// pass tries every remaining victim once more and reports whether one returned.
func (r *Runner) pass(t domain.Trial, violations *int) bool {
	before := r.out
	r.out = r.out[len(r.out):]
	for _, u := range before {
		i := slices.IndexFunc(r.violating, func(c charged) bool { return c.unit == u })
		if r.giveBack(t, u, i >= 0) && i >= 0 {
			*violations -= r.violating[i].violations
		}
	}
	changed := len(r.out) < len(before)
	r.out = append(before[:0], r.out...)
	return changed
}

func (r *Runner) remove(t domain.Trial, u victims.UnitID) {
	for _, p := range r.Units.Unit(u).Pods {
		t.Remove(p)
	}
}
