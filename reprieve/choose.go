package reprieve

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Cap bounds a sum over the victims: what they charge to a hard budget, or how many
// they are.
type Cap struct {
	Room   int64                      // the most that the sum may be
	Weight func(victims.UnitID) int64 // what a victim adds; not below zero

	// Part is what a victim adds of which only these pods go: the sum of what each of
	// them does or, with Once, the same for any of them. nil: Weight.
	Part func(u victims.UnitID, pods []cluster.PodID) int64
	Once bool
}

// Choice says which sets of victims will do, and which of them is wanted.
type Choice struct {
	Caps []Cap

	// Price makes the cheapest set the wanted one. nil: all are alike.
	Price func(victims.UnitID) int64

	// PricePart is the price of a victim of which only these pods go, at least that of
	// each of them added up unless PriceFree is set. nil: Price.
	PricePart func(u victims.UnitID, pods []cluster.PodID) int64
	PriceFree bool

	// Monotone says that more room never hurts, which lets the search leave early.
	Monotone bool

	// Instead, if set, says that the preemptor fits with b out wherever it fits with a
	// out instead, all else being as it is: b frees at least as much of everything.
	Instead func(a, b victims.UnitID) bool

	// AlikePods says that two pods of one elastic unit differ in nothing that the
	// trial, the caps or the price look at.
	AlikePods func(p, q cluster.PodID) bool

	// Steps is how many units may be decided on before the search gives up; looking at
	// 64 units for a decision counts as one as well.
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

// chooser is one search: branch and bound over the units, in order.
type chooser struct {
	*Choice
	r     *Runner
	trial domain.Trial
	order []victims.UnitID
	items []item
	parts bool // some of them are members

	price  []int64   // by item, as all below
	weight [][]int64 // by cap
	better [][]int   // those after it that are out whenever it is: or else keep it and evict them, which is better in the order
	used   []int64   // by cap
	most   []int64   // by cap: what an item adds to it at most
	forced []int     // how many are out that have it among better
	stuck  []bool    // it is not decided on and cannot be evicted any more: it is in place
	out    []bool
	cost   int64
	bounds *bounds // nil where the trial does not tell what is missing

	steps   int
	looked  int    // at so many items, which are not steps yet
	best    []bool // nil: none found yet
	atMost  int64  // what a set may cost to be wanted
	stopped bool   // out of steps
	done    bool   // nothing better can be found
}

// Choose finds the wanted set of victims among the units of order. All of them are
// out of t, and the preemptor fits. Of equal sets the one is wanted that keeps the
// first unit of order in which they differ, and of an elastic unit the first member:
// what giving back in that order comes to as well, where nothing else is asked for.
//
// It returns a new slice, in the order given, with the others back in t; if it finds
// none, all stay out. Parts tells of which victims only some pods are out. Only sets
// are looked for that cost atMost so much.
//
// Exponential in the worst case; see Choice.Steps.
func (r *Runner) Choose(t domain.Trial, c Choice, order []victims.UnitID, atMost int64) ([]victims.UnitID, Proof) {
	c.Caps = slices.DeleteFunc(slices.Clone(c.Caps), func(cap Cap) bool { return cap.Room == math.MaxInt64 }) // sums saturate
	s := &chooser{Choice: &c, r: r, trial: t, order: order, atMost: atMost, used: make([]int64, len(c.Caps))}
	s.itemize()
	n := len(s.items)
	s.price, s.better, s.forced = make([]int64, n), make([][]int, n), make([]int, n)
	s.stuck, s.out = make([]bool, n), make([]bool, n)
	for _, bound := range c.Caps {
		row := make([]int64, n)
		for i := range s.items {
			row[i] = s.weighs(bound, &s.items[i])
		}
		s.weight, s.most = append(s.weight, row), append(s.most, 0)
		for _, w := range row {
			s.most[len(s.most)-1] = max(s.most[len(s.most)-1], w)
		}
	}
	for i := range s.items {
		s.price[i] = s.costs(&s.items[i])
	}
	if gapped, ok := t.(domain.Gapped); ok && c.Monotone {
		s.bounds = newBounds(s, gapped)
	}
	stuck := s.stick(0)
	if s.promising(0, len(stuck) > 0) {
		s.compareItems()
		s.decide(0)
	}
	s.loosen(stuck)
	r.Decided += s.steps
	return s.settle()
}

// decide decides on the units from position i on; those before are decided, and
// these are out but for those that are stuck.
func (s *chooser) decide(i int) {
	for ; i < len(s.items) && s.stuck[i]; i++ {
		if s.forced[i] > 0 {
			return
		}
	}
	if s.stopped || s.done {
		return
	}
	if i == len(s.items) {
		s.look(i)
		if cost, ok := s.whole(); ok && cost <= s.atMost && (s.Monotone || s.fits()) {
			s.best, s.atMost = slices.Clone(s.out), cost-1
			s.done = s.Price == nil || cost == 0
		}
		return
	}
	if s.steps++; s.steps > s.Steps {
		s.stopped = true
		return
	}
	if s.forced[i] == 0 {
		s.put(i)
		if s.promising(i+1, true) {
			s.decide(i + 1)
		}
		s.take(i)
	}
	if s.stopped || s.done {
		return
	}
	if before := s.cost; s.evict(i) {
		stuck := s.stick(i + 1)
		if s.promising(i+1, len(stuck) > 0) {
			s.decide(i + 1)
		}
		s.loosen(stuck)
		s.spare(i, before)
	}
}

// look counts looks at so many items.
func (s *chooser) look(items int) {
	s.looked += items
	s.steps += s.looked / looksPerStep
	s.looked %= looksPerStep
}

// looksPerStep is how many looks at an item count as a step.
const looksPerStep = 64

// fits reports whether the preemptor fits, whatever was answered before.
func (s *chooser) fits() bool {
	if d, ok := s.trial.(domain.Doubter); ok {
		d.Doubt()
	}
	return s.trial.Fits().OK()
}

// evict books the eviction of unit i, if it keeps within the caps and is not too dear.
func (s *chooser) evict(i int) bool {
	cost := checked.Add(s.cost, s.price[i])
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
	for _, j := range s.better[i] {
		s.forced[j]++
	}
	if s.bounds != nil {
		s.bounds.evict(i)
	}
	return true
}

// spare takes evict back; it cost so much before.
func (s *chooser) spare(i int, before int64) {
	for c := range s.Caps {
		s.used[c] -= s.weight[c][i]
	}
	s.cost, s.out[i] = before, false
	for _, j := range s.better[i] {
		s.forced[j]--
	}
	if s.bounds != nil {
		s.bounds.spare(i)
	}
}

// stick puts the units from position i on back whose eviction alone would go beyond a
// cap. They stay until they are loosened.
func (s *chooser) stick(i int) (stuck []int) {
	for c := range s.Caps {
		left := s.Caps[c].Room - s.used[c]
		if s.most[c] <= left || i > 0 && s.weight[c][i-1] == 0 {
			continue // as it was before the last one was evicted
		}
		s.look(len(s.items) - i)
		for j := i; j < len(s.items); j++ {
			if s.weight[c][j] > left && !s.stuck[j] {
				s.put(j)
				s.stuck[j] = true
				stuck = append(stuck, j)
			}
		}
	}
	return stuck
}

func (s *chooser) loosen(stuck []int) {
	for _, j := range stuck {
		s.take(j)
		s.stuck[j] = false
	}
}

// promising reports whether the units from position i on may be decided on so that
// the preemptor fits, within the caps and cheaply enough. It says yes where it
// can't tell. returned says that somebody was put back since it was asked.
func (s *chooser) promising(i int, returned bool) bool {
	switch {
	case !s.Monotone:
		return true
	case returned && !s.trial.Fits().OK():
		return false
	}
	return s.bounds == nil || s.bounds.promising(i)
}
