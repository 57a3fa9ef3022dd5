package reprieve

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Cap bounds a sum over the victims: what they charge to a hard budget, or how many
// they are.
type Cap struct {
	Room   int64                      // the most that the sum may be
	Weight func(victims.UnitID) int64 // what a victim adds; not below zero
}

// Choice says which sets of victims will do, and which of them is wanted.
type Choice struct {
	Caps []Cap

	// Price makes the cheapest set the wanted one. nil: all are alike.
	Price func(victims.UnitID) int64

	// Monotone says that more room never hurts, which lets the search leave early.
	Monotone bool

	// Alike, if set, says that two units differ in nothing that the trial, the caps
	// or the price look at.
	Alike func(a, b victims.UnitID) bool

	// Steps is how many units may be decided on before the search gives up.
	Steps int
}

// Proof says how far the answer of a search can be relied on.
type Proof int

// The proofs.
const (
	Refuted   Proof = iota // there is no such set
	Exhausted              // none was found within the steps
	Found                  // this is the wanted set
	FoundSome              // it will do; a cheaper one was not looked for to the end
)

// Within bounds a reprieve.
type Within struct {
	Choice
	Keeps func(out []victims.UnitID) bool // whether a set is within the caps
}

// chooser is one search: branch and bound over the units, in order.
type chooser struct {
	*Choice
	r     *Runner
	trial domain.Trial
	order []victims.UnitID

	price  []int64   // by position
	weight [][]int64 // by cap and position
	next   []int     // by position: the next one that is alike, or -1
	used   []int64   // by cap
	forced []bool    // by position: must be out, since one like it before is
	out    []bool
	cost   int64
	bounds *bounds // nil where the trial does not tell what is missing

	steps   int
	best    []bool // nil: none found yet
	atMost  int64  // what a set may cost to be wanted
	stopped bool   // out of steps
	done    bool   // nothing better can be found
}

// Choose finds the wanted set of victims among the units of order. All of them are
// out of t, and the preemptor fits. Of equal sets the one is wanted that keeps the
// first unit of order in which they differ: what giving back in that order comes to
// as well, where nothing else is asked for.
//
// It returns a new slice, in the order given, with the others back in t; if it finds
// none, all stay out. Only sets are looked for that cost atMost so much.
//
// Exponential in the worst case; see Choice.Steps.
func (r *Runner) Choose(t domain.Trial, c Choice, order []victims.UnitID, atMost int64) ([]victims.UnitID, Proof) {
	s := &chooser{
		Choice: &c, r: r, trial: t, order: order, atMost: atMost,
		price: make([]int64, len(order)), used: make([]int64, len(c.Caps)),
		forced: make([]bool, len(order)), out: make([]bool, len(order)), next: make([]int, len(order)),
	}
	for _, bound := range c.Caps {
		row := make([]int64, len(order))
		for i, u := range order {
			row[i] = bound.Weight(u)
		}
		s.weight = append(s.weight, row)
	}
	for i, u := range order {
		if c.Price != nil {
			s.price[i] = c.Price(u)
		}
		s.next[i] = -1
	}
	s.findAlike()
	if gapped, ok := t.(domain.Gapped); ok && c.Monotone {
		s.bounds = newBounds(s, gapped)
	}
	if s.promising(0) {
		s.decide(0)
	}
	return s.settle()
}

// findAlike links each unit to the next one that is like it.
func (s *chooser) findAlike() {
	if s.Alike == nil {
		return
	}
	for i := range s.order {
		for j := i + 1; j < len(s.order); j++ {
			if s.Alike(s.order[i], s.order[j]) {
				s.next[i] = j
				break
			}
		}
	}
}

// settle puts everybody back who is not in the best set.
func (s *chooser) settle() ([]victims.UnitID, Proof) {
	if s.best == nil {
		if s.stopped {
			return nil, Exhausted
		}
		return nil, Refuted
	}
	var list []victims.UnitID
	for i, u := range s.order {
		if s.best[i] {
			list = append(list, u)
		} else {
			s.r.Return(s.trial, u)
		}
	}
	if s.stopped {
		return list, FoundSome
	}
	return list, Found
}

// decide decides on the units from position i on; those before are decided, and
// these are out.
func (s *chooser) decide(i int) {
	if s.stopped || s.done {
		return
	}
	if i == len(s.order) {
		if s.Monotone || s.fits() {
			s.best, s.atMost = slices.Clone(s.out), s.cost-1
			s.done = s.Price == nil || s.cost == 0
		}
		return
	}
	if s.steps++; s.steps > s.Steps {
		s.stopped = true
		return
	}
	if !s.forced[i] {
		s.r.Return(s.trial, s.order[i])
		if !s.Monotone || s.trial.Fits().OK() {
			if s.promising(i + 1) {
				s.decide(i + 1)
			}
		}
		s.r.Remove(s.trial, s.order[i])
	}
	if before := s.cost; s.evict(i) {
		if s.promising(i + 1) {
			s.decide(i + 1)
		}
		s.spare(i, before)
	}
}

// fits reports whether the preemptor fits, whatever was answered before.
func (s *chooser) fits() bool {
	if d, ok := s.trial.(domain.Doubter); ok {
		d.Doubt()
	}
	return s.trial.Fits().OK()
}

// evict books the eviction of unit i, if it keeps within the caps and is not too dear.
func (s *chooser) evict(i int) bool {
	cost := disruption.AddPrices(s.cost, s.price[i])
	if cost > s.atMost {
		return false
	}
	for c := range s.Caps {
		if s.weight[c][i] > s.Caps[c].Room-s.used[c] {
			return false
		}
	}
	for c := range s.Caps {
		s.used[c] += s.weight[c][i]
	}
	s.cost, s.out[i] = cost, true
	if s.next[i] >= 0 {
		s.forced[s.next[i]] = true // or else keep this one and evict that: better in the order
	}
	return true
}

// spare takes evict back; it cost so much before.
func (s *chooser) spare(i int, before int64) {
	for c := range s.Caps {
		s.used[c] -= s.weight[c][i]
	}
	s.cost, s.out[i] = before, false
	if s.next[i] >= 0 {
		s.forced[s.next[i]] = false
	}
}

// promising reports whether the units from position i on may be decided on so that
// the preemptor fits, within the caps and cheaply enough. It says yes where it
// can't tell.
func (s *chooser) promising(i int) bool {
	if !s.Monotone {
		return true
	}
	if s.bounds != nil && !s.bounds.promising(i) {
		return false
	}
	return s.fitsWithout(i)
}

// fitsWithout reports whether the preemptor fits with everybody from position i on
// in place whose eviction alone would go beyond a cap.
func (s *chooser) fitsWithout(i int) bool {
	stuck := 0
	for j := i; j < len(s.order); j++ {
		if s.beyond(j) {
			s.r.Return(s.trial, s.order[j])
			stuck++
		}
	}
	if stuck == 0 {
		return true
	}
	fits := s.trial.Fits().OK()
	for j := i; j < len(s.order); j++ {
		if s.beyond(j) {
			s.r.Remove(s.trial, s.order[j])
		}
	}
	return fits
}

// beyond reports whether unit j cannot be evicted any more.
func (s *chooser) beyond(j int) bool {
	for c := range s.Caps {
		if s.weight[c][j] > s.Caps[c].Room-s.used[c] {
			return true
		}
	}
	return false
}

// RunWithin is [Runner.Run] for a choice: the greedy way first, and where it goes
// beyond a cap, or a price is set, the search. order is the one in which Run would
// give back. The Reason is zero if a set was found; it is that of Run if even
// without all of them the preemptor does not fit.
func (r *Runner) RunWithin(t domain.Trial, potential []victims.UnitID, w Within) (Outcome, Proof, domain.Reason) {
	r.Forget()
	for _, u := range potential {
		r.Remove(t, u)
	}
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
	r.Observe, r.ObservePart = nil, nil
	defer func() { r.Observe, r.ObservePart = observe, part }()
	out := r.GiveBack(t, violating, rest)
	greedy, within := slices.Clone(out.Victims), w.Keeps(out.Victims)
	if within && w.Price == nil && observe == nil {
		return out, Found
	}
	order := make([]victims.UnitID, 0, len(violating)+len(rest))
	for _, c := range violating {
		order = append(order, c.Unit)
	}
	order = append(order, rest...)
	r.move(t, order, greedy, r.Remove)
	if within && w.Price == nil { // the same again, to be watched
		r.Observe, r.ObservePart = observe, part
		return r.GiveBack(t, violating, rest), Found
	}
	atMost := int64(math.MaxInt64)
	if within {
		atMost = 0
		for _, u := range greedy {
			atMost = disruption.AddPrices(atMost, w.Price(u))
		}
	}
	list, proof := r.Choose(t, w.Choice, order, atMost)
	if proof == Exhausted && within {
		list, proof = greedy, FoundSome
		r.move(t, order, greedy, r.Return)
	}
	for _, u := range list {
		if r.Units.Unit(u).Elastic && !r.Whole {
			r.shrink(t, u)
		}
	}
	r.Observe, r.ObservePart = observe, part
	return r.outcome(t, list, order, violating), proof
}

// move removes or returns the units of order that are not in out.
func (r *Runner) move(t domain.Trial, order, out []victims.UnitID, do func(domain.Trial, victims.UnitID)) {
	for _, u := range order {
		if _, in := r.parts[u]; in || !slices.Contains(out, u) {
			do(t, u)
		}
	}
}

// restore puts back those pods of unit u, which is out, that are not in part.
func (r *Runner) restore(t domain.Trial, u victims.UnitID, part []cluster.PodID) {
	for _, p := range r.Units.Unit(u).Pods {
		if !slices.Contains(part, p) {
			t.Return(p)
		}
	}
	r.parts[u] = part
	t.Fits()
}

// outcome is the Outcome of a list of units that stay out, and tells who observes of
// the attempt to return each unit of order.
func (r *Runner) outcome(t domain.Trial, list, order []victims.UnitID, violating []Charged) Outcome {
	r.out = append(r.out[:0], list...)
	slices.SortFunc(r.out, r.Units.Compare)
	o := Outcome{Victims: r.out, Violations: r.violations(violating)}
	if r.Observe == nil || list == nil {
		return o
	}
	for i, u := range order {
		if !slices.Contains(list, u) {
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
