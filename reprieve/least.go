package reprieve

import (
	"maps"
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/cover"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Aim is a number that the victims are to make small. One of Sum, Beyond and Most is set.
type Aim struct {
	// Sum is what a victim of which these pods go adds, not below zero.
	Sum func(u victims.UnitID, pods []cluster.PodID) int64

	// Beyond are caps: it counts how far the victims go beyond their rooms, added up. One aim of a search has them.
	Beyond []Cap

	// Most is a number of each victim, of which the largest counts.
	Most func(u victims.UnitID) int64

	// Among lets Most count for those victims alone who have the largest number of the
	// latest Most before it, which comes somewhere before it.
	Among bool

	// Kin says which units have what they add in common: as much as one of them adds, they add
	// together. A number for each kind of unit, below zero for those by themselves; nil: all are.
	Kin func(u victims.UnitID) int

	// Base is what no victims have already, beside a Sum.
	Base int64

	// Loose says that Sum of some pods may be less than that of each of them added up.
	Loose bool
}

// Least is what [Runner.Least] came to.
type Least struct {
	Victims []victims.UnitID // in the order given; nil: none were found, or none that are as good as asked
	Parts   victims.Parts    // of those that go in part

	Violations int // upstream's count

	// Bound is what sets have at least, aim by aim in order of the first that differs;
	// aims behind the end may have anything. It has all aims where Proved is Found.
	Bound []int64

	// Beaten says that there are sets within the caps, none of them as good as asked.
	Beaten bool

	// Proof is Refuted where there is no set within the caps, Found where Victims is the best
	// one, or it is proved that none is as good as asked.
	Proof Proof
}

// RunLeast takes the potential victims, with all of whom gone the preemptor fits, out of t and
// looks for the least who have to go; see [Runner.Least]. aims is told who violates a budget.
func (r *Runner) RunLeast(t domain.Trial, potential []victims.UnitID, from Least, w Within, aims func([]Charged) []Aim, beat []int64) Least {
	r.empty(t, potential)
	t.Fits() // yes; a gang's trial wants to be asked
	r.split(potential)
	return r.Least(t, slices.Clone(r.violating), slices.Clone(r.rest), from, w, aims(r.violating), beat)
}

// Watch tells who observes what giving back comes to where these stay out of the potential
// victims, with parts.
func (r *Runner) Watch(t domain.Trial, potential, out []victims.UnitID, parts victims.Parts) Outcome {
	parts, out = maps.Clone(parts), slices.Clone(out)
	r.Forget()
	for _, u := range out {
		r.Remove(t, u)
	}
	for u, pods := range parts {
		r.restore(t, u, pods)
	}
	r.split(potential)
	return r.Told(t, out, slices.Clone(r.violating), slices.Clone(r.rest))
}

// inOrder lists units in the order in which they are given back.
func inOrder(violating []Charged, rest []victims.UnitID) []victims.UnitID {
	order := make([]victims.UnitID, 0, len(violating)+len(rest))
	for _, c := range violating {
		order = append(order, c.Unit)
	}
	return append(order, rest...)
}

// leaster is one search of Least.
type leaster struct {
	*Runner
	trial  domain.Trial
	order  []victims.UnitID
	choice Choice
	top    int64 // the largest number of the latest Most, and whom it was about
	most   func(u victims.UnitID) int64
	fined  []Cap // what counts beyond room, and has been counted before
	fines  int64
	best   *Least
	among  map[victims.UnitID]bool // see gone
	bound  int64                   // of the latest aim
	spare  int                     // steps; see take
}

// fewestSpare is how many steps the first bounds of searches may take in any case once there are none left.
const fewestSpare = 4096

// Least looks among units, all of which are out of t so that the preemptor fits, for the
// victims whose first aim is least, of those whose second is, and so on. w.Caps bound every
// set. from is a set within them to begin with; its Victims may be nil. Only sets are looked
// for that are not worse than beat, as far as that goes.
//
// With Found and FoundSome, the others are back in t; else all stay out.
func (r *Runner) Least(t domain.Trial, violating []Charged, rest []victims.UnitID, from Least, w Within, aims []Aim, beat []int64) Least {
	observe, part := r.Observe, r.ObservePart
	r.Observe, r.ObservePart = nil, nil
	defer func() { r.Observe, r.ObservePart = observe, part }()
	s := &leaster{Runner: r, trial: t, order: inOrder(violating, rest), choice: w.Choice, best: &Least{Proof: Found}, spare: math.MaxInt}
	s.best.Victims, s.best.Parts = from.Victims, from.Parts
	s.choice.Caps, s.choice.Any, s.choice.known = slices.Clone(w.Caps), true, new(known)
	for i := range s.choice.Caps {
		s.choice.Caps[i].row = new(cover.Row)
	}
	if from.Victims == nil || !s.fits() {
		if proof := s.search(math.MaxInt64); proof == Refuted || proof == Exhausted {
			s.best.Victims, s.best.Proof = nil, proof
			return *s.best
		}
	}
	s.choice.Steps, s.spare = min(s.choice.Steps, w.AimSteps), max(w.AimSteps, fewestSpare)
	tied := true // with beat, so far
	for k := range aims {
		limit := int64(math.MaxInt64)
		if tied = tied && k < len(beat); tied {
			limit = beat[k]
		}
		value, proof := s.reach(&aims[k], limit)
		if s.best.Proof == Found { // so far
			s.best.Bound = append(s.best.Bound, s.bound)
		}
		if proof == Refuted || proof == Exhausted {
			s.best.Victims, s.best.Beaten = nil, true
			if proof == Exhausted {
				s.best.Proof = FoundSome
			}
			return *s.best
		}
		s.best.Proof = max(s.best.Proof, proof)
		tied = tied && value == beat[k]
	}
	s.restoreAll()
	t.Fits() // yes; a gang's trial wants to be asked
	s.spareNeedless()
	s.best.Violations = s.violationsOf(violating, s.best.Victims)
	return *s.best
}

// mostSpared is how many Looks that may take.
const mostSpared = 1 << 23

// spareNeedless gives back whom it can, in order: victims that cost nothing by any aim.
func (s *leaster) spareNeedless() {
	gone := s.gone()
	still := func() []victims.UnitID {
		return slices.DeleteFunc(slices.Clone(s.best.Victims), func(u victims.UnitID) bool { return !gone[u] })
	}
	looks := func() int { return 0 }
	if s.choice.Looks != nil {
		looks = s.choice.Looks
	}
	before := looks()
	for _, u := range s.order {
		if !gone[u] || looks()-before > mostSpared {
			continue
		}
		part, in := s.best.Parts[u]
		s.Return(s.trial, u)
		gone[u] = false
		if s.trial.Fits().OK() && (s.choice.Last == nil || s.choice.Last(still(), s.best.Parts)) {
			delete(s.best.Parts, u)
			continue
		}
		gone[u] = true
		s.Remove(s.trial, u)
		if in {
			s.restore(s.trial, u, part)
		}
	}
	s.best.Victims = still()
	s.trial.Fits() // yes
}

// gone is whom the best set has, until the next call.
func (s *leaster) gone() map[victims.UnitID]bool {
	if s.among == nil {
		s.among = make(map[victims.UnitID]bool, len(s.best.Victims))
	}
	clear(s.among)
	for _, u := range s.best.Victims {
		s.among[u] = true
	}
	return s.among
}

// fits reports whether the set to begin with will do: it may be that of another placement.
func (s *leaster) fits() bool {
	s.restoreAll()
	defer s.removeAll()
	if d, ok := s.trial.(domain.Doubter); ok { // its latest answer is of what was on the way
		d.Doubt()
	}
	return s.trial.Fits().OK() && (s.choice.Last == nil || s.choice.Last(s.best.Victims, s.best.Parts))
}

// restoreAll puts everybody back who is no victim, removeAll takes them out again.
func (s *leaster) restoreAll() {
	s.put(s.Return)
	for u, out := range s.best.Parts {
		s.restore(s.trial, u, out)
	}
}

func (s *leaster) removeAll() {
	s.Forget()
	for u, out := range s.best.Parts {
		except(s.here(u), out, s.trial.Remove)
	}
	s.put(s.Remove)
}

// put moves the units that are no victims.
func (s *leaster) put(do func(domain.Trial, victims.UnitID)) {
	gone := s.gone()
	for _, u := range s.order {
		if !gone[u] {
			do(s.trial, u)
		}
	}
}

// reach makes aim a as small as can be beside those before it, at most limit, and keeps it
// there. The set so far stays unless another one is better. Found: value is the least.
func (s *leaster) reach(a *Aim, limit int64) (value int64, proof Proof) {
	value, proof = s.value(a), Refuted
	s.bound = value
	if value > a.least() {
		proof = s.better(a, min(limit, value-1))
	}
	switch {
	case proof == Found || proof == FoundSome:
		value = s.value(a)
	case value > limit:
		return value, proof
	case proof == Refuted:
		s.bound, proof = value, Found
	default:
		proof = FoundSome
	}
	s.hold(a, value)
	return value, proof
}

// better looks for a set that has at most limit of a.
func (s *leaster) better(a *Aim, limit int64) (proof Proof) {
	switch {
	case a.Most != nil:
		return s.lower(a, limit)
	case a.Sum != nil:
		s.choice.Price = func(u victims.UnitID) int64 { return a.Sum(u, s.Units.Unit(u).Pods) }
		s.choice.PricePart, s.choice.PriceFree, s.choice.PriceKin = a.Sum, a.Loose, a.Kin
		proof = s.search(checked.Sub(limit, a.Base))
		s.Bound = checked.Add(s.Bound, a.Base)
	default:
		s.choice.Price, s.choice.PricePart, s.choice.PriceKin = nil, nil, nil
		caps := len(s.choice.Caps)
		for _, c := range a.Beyond {
			c.Fine = 1
			s.choice.Caps = append(s.choice.Caps, c)
		}
		proof = s.search(limit)
		s.choice.Caps = s.choice.Caps[:caps]
	}
	s.bound = s.Bound
	return proof
}

// least is what no victims have.
func (a *Aim) least() int64 {
	if a.Most != nil {
		return math.MinInt64
	}
	return a.Base
}

// value is that of the best set so far.
func (s *leaster) value(a *Aim) int64 {
	value := a.least()
	switch {
	case a.Most != nil:
		for _, u := range s.best.Victims {
			value = max(value, s.number(a, u))
		}
	case a.Sum != nil:
		seen := kinds{of: a.Kin}
		for _, u := range s.best.Victims {
			if seen.first(u) {
				value = checked.Add(value, a.Sum(u, s.best.Parts.Of(s.Units, u)))
			}
		}
	default:
		for _, c := range a.Beyond {
			used := int64(0)
			for _, u := range s.best.Victims {
				used = checked.Add(used, c.Part(u, s.best.Parts.Of(s.Units, u)))
			}
			value = checked.Add(value, max(used-c.Room, 0))
		}
	}
	return value
}

// number is that of unit u in an aim for the largest one.
func (s *leaster) number(a *Aim, u victims.UnitID) int64 {
	if a.Among && s.most(u) != s.top {
		return math.MinInt64
	}
	return a.Most(u)
}

// hold lets no later aim spoil a.
func (s *leaster) hold(a *Aim, value int64) {
	switch {
	case a.Most != nil:
		s.choice.Caps = append(s.choice.Caps, s.atMost(a, value))
		if !a.Among {
			s.most, s.top = a.Most, value
		}
	case a.Sum != nil:
		s.choice.Caps = append(s.choice.Caps, Cap{
			Room: checked.Sub(value, a.Base), Part: a.Sum, Once: a.Loose, Kin: a.Kin,
			Weight: func(u victims.UnitID) int64 { return a.Sum(u, s.Units.Unit(u).Pods) }, row: new(cover.Row),
		})
	case value == 0:
		s.choice.Caps = append(s.choice.Caps, a.Beyond...)
	default:
		s.fined, s.fines = a.Beyond, value
	}
}

// atMost keeps everybody whose number is larger than value.
func (s *leaster) atMost(a *Aim, value int64) Cap {
	most, top := s.most, s.top
	over := func(u victims.UnitID, _ []cluster.PodID) int64 {
		if a.Among && most(u) != top || a.Most(u) <= value {
			return 0
		}
		return 1
	}
	return Cap{Weight: func(u victims.UnitID) int64 { return over(u, nil) }, Part: over, row: new(cover.Row)}
}

// search takes the set that the choice is for, if it is one of those that are looked for.
// What goes beyond room costs so much that it comes before all else.
func (s *leaster) search(limit int64) Proof {
	c := s.choice
	fine := int64(0)
	if s.fined != nil {
		total := int64(0)
		for _, u := range s.order {
			if c.Price != nil {
				total = checked.Add(total, min(c.Price(u), limit)) // dearer ones are never chosen
			}
		}
		if fine = checked.Add(total, 1); checked.Mul(fine, checked.Add(s.fines, 1)) == math.MaxInt64 {
			s.Bound = 0
			return Exhausted // too dear to be told apart
		}
		for _, over := range s.fined {
			over.Fine = fine
			c.Caps = append(c.Caps[:len(c.Caps):len(c.Caps)], over)
		}
		limit = checked.Add(min(limit, total), fine*s.fines)
	}
	before := s.Decided
	list, proof := s.Choose(s.trial, c, s.order, limit)
	s.take(s.Decided - before)
	s.Bound = max(checked.Sub(s.Bound, fine*s.fines), 0)
	if proof == Refuted || proof == Exhausted {
		return proof
	}
	s.best.Victims = append(make([]victims.UnitID, 0, len(list)), list...)
	s.best.Parts = maps.Clone(s.Parts())
	s.removeAll()
	return proof
}

// take takes steps. Where none are left, later searches still have their first bounds, until these have taken what is to spare.
func (s *leaster) take(steps int) {
	if s.choice.Steps < 0 {
		return
	}
	left := s.choice.Steps - steps
	s.choice.Steps, s.spare = max(left, 0), s.spare+min(left, 0)
	if s.spare < 0 {
		s.choice.Steps = -1
	}
}

// lower finds the least number that the victims can do with, at most limit.
func (s *leaster) lower(a *Aim, limit int64) Proof {
	var levels []int64
	for _, u := range s.order {
		if n := s.number(a, u); n <= limit {
			levels = append(levels, n)
		}
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	c := s.choice
	defer func() { c.Steps, s.choice = s.choice.Steps, c }()
	s.choice.Price, s.choice.PricePart, s.choice.PriceKin = nil, nil, nil
	proof := Found
	low, high, refuted := 0, len(levels), 0 // none below levels[low] was found, below levels[refuted] there is none
	for low < high {
		mid := (low + high) / 2
		s.choice.Caps = append(c.Caps[:len(c.Caps):len(c.Caps)], s.atMost(a, levels[mid]))
		switch s.search(math.MaxInt64) {
		case Found, FoundSome:
			high = mid
		case Refuted:
			low, refuted = mid+1, mid+1
		default:
			low, proof = mid+1, FoundSome
		}
	}
	if s.bound = checked.Add(limit, 1); refuted < len(levels) {
		s.bound = levels[refuted]
	}
	switch {
	case low < len(levels):
		return proof
	case proof == Found:
		return Refuted
	}
	return Exhausted
}
