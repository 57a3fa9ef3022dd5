package reprieve

import (
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
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

	// Whole takes elastic units as units that go as a whole.
	Whole bool

	// ObservePart, if set, is told of the pods that stay out of an elastic unit whose
	// others return. Observe is told of the whole unit.
	ObservePart func(u victims.UnitID, out []cluster.PodID)

	// Kind, if set, numbers units: of one number, which is not below zero, are those with which the preemptor fits, or not, alike, wherever
	// they are, so that who fails to come back fails for all of them until somebody comes back.
	Kind func(u victims.UnitID) int

	// Enough, if set, says how many times its share giving back has used: from 1 on units come back by halves, from 2 on no half is tried
	// any more, and more of them may stay out than have to.
	Enough func() int

	// Aside, if set, is called before questions that are asked for who observes alone, and what it returns after them.
	Aside func() (back func())

	// Doubtful says that more room may hurt, Constrained that more than resources and
	// ports decides: searches then leave less out.
	Doubtful, Constrained bool

	// Decided counts what the searches of Choose decided on since the Runner was made.
	Decided int

	// Bound is what every set costs at least, by the latest search of Choose: more than was
	// looked for if there is none.
	Bound int64

	// Here, if set, lists those pods of a unit that leave and return in the trial; the others change
	// nothing there. nil: all of them. Of an elastic unit the others stay unless it goes whole.
	Here func(u victims.UnitID) []cluster.PodID

	// Wholes, if set, charges for Budgets and counts for Units: it remembers units of many pods.
	Wholes interface {
		// Charge is [victims.Budgets.Charge] of unit u.
		Charge(l *disruption.Ledger, u victims.UnitID) int

		// Running is [victims.Units.Running] of unit u.
		Running(u victims.UnitID) (running int, ok bool)
	}

	// Cut is set once such a search for an elastic unit ran out of steps: more of its members might stay.
	Cut bool

	// Steps is how many members of an elastic unit a search may decide on; 0: 20,000. Each
	// is tried once in any case, one after the other. See [Runner.Share].
	Steps int

	shared    bool                                     // all searches for who of elastic units may stay share their steps
	left      int                                      // so many members they may still decide on then
	places    map[victims.UnitID]map[cluster.PodID]int // of those pods of which part was charged: where they stand in the unit
	nests     map[victims.UnitID]*nested               // see nested
	parts     victims.Parts
	ledger    *disruption.Ledger
	scratch   disruption.Ledger                     // a buffer
	cut       *cut                                  // the latest; see newCut
	before    map[victims.UnitID]*disruption.Ledger // of elastic units that violate a budget: before they were charged
	failed    map[int]domain.Reason                 // by kind, since the latest who came back: why nobody does
	violating []Charged
	rest      []victims.UnitID
	out       []victims.UnitID
}

// Charged is a unit whose loss violates a budget, and what it adds to the count of
// violations.
type Charged struct {
	Unit       victims.UnitID
	Violations int
}

// NewRunner returns a Runner over the units us and the budgets b.
func NewRunner(us *victims.Units, b *victims.Budgets) *Runner {
	return &Runner{Units: us, Budgets: b, ledger: b.NewLedger()}
}

// Outcome is what a reprieve came to.
type Outcome struct {
	// Victims are the units that stay out, most important first. The slice belongs
	// to the Runner and is good until its next run.
	Victims []victims.UnitID

	// Violations is upstream's count: what the units that were tried first, and
	// still stay out, add up to.
	Violations int

	// Passes is how often all who stayed out were tried once more; see [Runner.Repeat].
	Passes int
}

// Run takes the potential victims, most important first, out of t and gives back
// whom it can. The Reason is zero, or says why the preemptor does not fit even with
// all of them gone; they are left out of the trial then. O(k) checks for k units.
func (r *Runner) Run(t domain.Trial, potential []victims.UnitID) (Outcome, domain.Reason) {
	r.empty(t, potential)
	if why := t.Fits(); !why.OK() {
		return Outcome{}, why
	}
	r.split(potential)
	return r.GiveBack(t, r.violating, r.rest), domain.Reason{}
}

// empty takes the potential victims, most important first, out of t.
func (r *Runner) empty(t domain.Trial, potential []victims.UnitID) {
	r.Forget()
	for _, u := range potential {
		r.Remove(t, u)
	}
}

// split charges the units in order of importance, so that an allowance covers the
// most important ones and the others count as violating.
func (r *Runner) split(potential []victims.UnitID) {
	r.violating, r.rest = r.violating[:0], r.rest[:0]
	clear(r.before)
	if r.ledger.Len() == 0 {
		r.rest = append(r.rest, potential...)
		return
	}
	r.ledger.Reset()
	for _, u := range potential {
		inPart := r.Units.Unit(u).Elastic && !r.Whole
		if inPart {
			r.scratch.CopyFrom(r.ledger)
		}
		v := r.charge(u)
		if v == 0 {
			r.rest = append(r.rest, u)
			continue
		}
		if r.violating = append(r.violating, Charged{u, v}); inPart {
			r.noteBefore(u)
		}
	}
}

// charge charges unit u.
func (r *Runner) charge(u victims.UnitID) int {
	if r.Wholes != nil {
		return r.Wholes.Charge(r.ledger, u)
	}
	return r.Budgets.Charge(r.ledger, r.Units.Unit(u))
}

// noteBefore notes that budgets had what scratch has before unit u was charged.
func (r *Runner) noteBefore(u victims.UnitID) {
	if r.before == nil {
		r.before = map[victims.UnitID]*disruption.Ledger{}
	}
	r.before[u] = r.scratch.Clone()
}

// Charge charges the units, most important first, and returns those whose loss
// violates a budget with what they add to the count, in the same order. The slice
// belongs to the Runner and is good until its next run.
func (r *Runner) Charge(potential []victims.UnitID) []Charged {
	r.split(potential)
	return r.violating
}

// GiveBack gives back whom it can of units that are out of t, with which the
// preemptor fits: first those that violate a budget, then the rest, each in the
// order given, most important first.
func (r *Runner) GiveBack(t domain.Trial, violating []Charged, rest []victims.UnitID) Outcome {
	r.out = r.out[:0]
	r.forgetFailed()
	violations := 0
	for _, c := range violating {
		if !r.giveBack(t, c.Unit, true) {
			violations += c.Violations
		}
	}
	for _, u := range rest {
		r.giveBack(t, u, false)
	}
	passes := 0
	for more := r.Repeat; more && !r.enough(); passes++ {
		more = r.pass(t, violating)
	}
	enough := r.enough()
	if enough {
		list := slices.Clone(r.out)
		r.out = r.out[:0]
		r.halves(t, list, domain.Reason{}, violating)
	}
	if len(violating) > 0 && len(rest) > 0 {
		slices.SortFunc(r.out, r.Units.Compare)
	}
	if len(r.parts) > 0 || enough || passes > 0 {
		violations = r.violations(violating)
	}
	return Outcome{Victims: r.out, Violations: violations, Passes: passes}
}

// GiveBackMore makes one more pass over the victims of out, which GiveBack or GiveBackLowest has
// just returned: where these did not look at every placement of a preemptor that moves, a victim may
// not be in its way where it has come to stay.
func (r *Runner) GiveBackMore(t domain.Trial, violating []Charged, out Outcome) Outcome {
	r.forgetFailed()
	r.pass(t, violating)
	out.Victims, out.Violations = r.out, r.violations(violating)
	return out
}

// halves returns units together if the preemptor still fits with them, or else one half after the other; why is what kept
// them out together with others.
func (r *Runner) halves(t domain.Trial, list []victims.UnitID, why domain.Reason, violating []Charged) {
	if len(list) == 0 {
		return
	}
	if why.OK() || r.Enough() < 2 {
		parts := map[victims.UnitID][]cluster.PodID{}
		for _, u := range list {
			if part, in := r.parts[u]; in {
				parts[u] = part
			}
			r.Return(t, u)
		}
		if why = t.Fits(); !why.OK() {
			for _, u := range list {
				r.Remove(t, u)
				if part, in := parts[u]; in {
					r.restore(t, u, part)
				}
			}
			if half := len(list) / 2; half > 0 {
				r.halves(t, list[:half], why, violating)
				r.halves(t, list[half:], why, violating)
				return
			}
		}
	}
	if !why.OK() {
		r.out = append(r.out, list...)
	}
	if r.Observe != nil {
		for _, u := range list {
			r.Observe(u, slices.ContainsFunc(violating, func(c Charged) bool { return c.Unit == u }), why)
		}
	}
}

func (r *Runner) forgetFailed() {
	if r.failed = nil; r.Kind != nil {
		r.failed = map[int]domain.Reason{}
	}
}

func (r *Runner) enough() bool { return r.Enough != nil && r.Enough() > 0 }

// giveBack returns unit u if the preemptor still fits with it, whole or not at all.
func (r *Runner) giveBack(t domain.Trial, u victims.UnitID, violates bool) bool {
	if r.enough() {
		r.out = append(r.out, u)
		return false
	}
	kind := -1
	if r.Kind != nil {
		kind = r.Kind(u)
	}
	why, failed := r.failed[kind]
	if !failed {
		r.Return(t, u)
		why = t.Fits()
	}
	if r.Observe != nil {
		r.Observe(u, violates, why)
	}
	if why.OK() {
		clear(r.failed)
		return true
	}
	r.out = append(r.out, u)
	switch {
	case failed:
		return false
	case kind >= 0:
		r.failed[kind] = why
	}
	r.Remove(t, u)
	if r.Units.Unit(u).Elastic && !r.Whole {
		r.shrink(t, u)
		clear(r.failed)
	}
	return false
}

// violations is what the violating units that are out add up to.
func (r *Runner) violations(violating []Charged) int { return r.violationsOf(violating, r.out) }

// violationsOf is what the violating units among out add up to.
func (r *Runner) violationsOf(violating []Charged, out []victims.UnitID) int {
	sum, gone := 0, among(out)
	for _, c := range violating {
		if gone(c.Unit) {
			sum += r.ViolationsOf(c)
		}
	}
	return sum
}

// ViolationsOf is what c adds to the count of violations, as things stand: less than
// it says where the unit is out in part, which charges those of its pods that are.
func (r *Runner) ViolationsOf(c Charged) int {
	return r.ViolationsOfPods(c, r.parts.Of(r.Units, c.Unit))
}

// ViolationsOfPods is ViolationsOf where these pods of the unit are out, in any order: they are charged in that of
// the unit, as all of them are.
func (r *Runner) ViolationsOfPods(c Charged, out []cluster.PodID) int {
	unit, before := *r.Units.Unit(c.Unit), r.before[c.Unit]
	if before == nil || len(out) == len(unit.Pods) {
		return c.Violations
	}
	at := r.placesIn(c.Unit)
	unit.Pods = slices.SortedFunc(slices.Values(out), func(p, q cluster.PodID) int { return at[p] - at[q] })
	r.scratch.CopyFrom(before)
	return r.Budgets.Charge(&r.scratch, &unit)
}

// placesIn tells where pods stand in unit u, found out once.
func (r *Runner) placesIn(u victims.UnitID) map[cluster.PodID]int {
	if r.places[u] == nil {
		at := make(map[cluster.PodID]int, len(r.Units.Unit(u).Pods))
		for i, p := range r.Units.Unit(u).Pods {
			at[p] = i
		}
		if r.places == nil {
			r.places = map[victims.UnitID]map[cluster.PodID]int{}
		}
		r.places[u] = at
	}
	return r.places[u]
}

// pass tries every remaining victim once more and reports whether one returned.
func (r *Runner) pass(t domain.Trial, violating []Charged) bool {
	violates := make(map[victims.UnitID]bool, len(violating))
	for _, c := range violating {
		violates[c.Unit] = true
	}
	before := r.out
	r.out = r.out[len(r.out):]
	for _, u := range before {
		r.giveBack(t, u, violates[u])
	}
	changed := len(r.out) < len(before)
	r.out = append(before[:0], r.out...)
	return changed
}

// Remove takes every pod of unit u out of t that is not out yet.
func (r *Runner) Remove(t domain.Trial, u victims.UnitID) {
	if out, in := r.parts[u]; in {
		delete(r.parts, u)
		except(r.here(u), out, t.Remove)
		return
	}
	removeUnit(t, u, r.here(u))
}

// mover is an optional part of a Trial: it moves pods of a unit at once.
type mover interface {
	RemoveUnit(u victims.UnitID, pods []cluster.PodID)
	ReturnUnit(u victims.UnitID, pods []cluster.PodID)
}

// removeUnit takes pods of unit u, all of which are in t, out, returnUnit puts them back, all of which are out.
func removeUnit(t domain.Trial, u victims.UnitID, pods []cluster.PodID) {
	if m, moves := t.(mover); moves {
		m.RemoveUnit(u, pods)
		return
	}
	for _, p := range pods {
		t.Remove(p)
	}
}

func returnUnit(t domain.Trial, u victims.UnitID, pods []cluster.PodID) {
	if m, moves := t.(mover); moves {
		m.ReturnUnit(u, pods)
		return
	}
	for _, p := range pods {
		t.Return(p)
	}
}

func (r *Runner) here(u victims.UnitID) []cluster.PodID {
	if r.Here != nil {
		return r.Here(u)
	}
	return r.Units.Unit(u).Pods
}

// Return puts every pod of unit u back that is out.
func (r *Runner) Return(t domain.Trial, u victims.UnitID) {
	if out, in := r.parts[u]; in {
		delete(r.parts, u)
		for _, p := range out {
			t.Return(p)
		}
		return
	}
	returnUnit(t, u, r.here(u))
}
