package reprieve

import (
	"cmp"
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/cover"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Cap bounds a sum over the victims: what they charge to a budget, or how many they are.
type Cap struct {
	Room   int64                      // the most that the sum may be
	Fine   int64                      // what each beyond it costs; 0: no set may go beyond it
	Weight func(victims.UnitID) int64 // what a victim adds; not below zero

	// Part is what a victim adds of which only these pods go: the sum of what each of
	// them does or, with Once, the same for any of them. nil: Weight.
	Part func(u victims.UnitID, pods []cluster.PodID) int64
	Once bool

	Kin func(u victims.UnitID) int // see [Aim.Kin]; at most one function for all caps and the price

	// Few has every unit that adds something. nil: any may.
	Few []victims.UnitID

	row *cover.Row // of the weights of units, once they were asked for in this search for the least; nil: they are asked for each time
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
	PriceKin  func(u victims.UnitID) int // see [Aim.Kin]

	// Any says that of equal sets any will do.
	Any bool

	// Whether says that it is only asked whether there is a set.
	Whether bool

	// Monotone says that fewer pods beside the preemptor never hurt, which lets the search
	// leave early.
	Monotone bool

	// Instead, if set, says of single pods of one node that the preemptor fits with b out wherever
	// it fits with a out instead, all else being as it is: b frees at least as much of everything.
	Instead func(a, b victims.UnitID) bool

	// AlikePods says that two pods of one elastic unit differ in nothing that the
	// trial, the caps or the price look at.
	AlikePods func(p, q cluster.PodID) bool

	// Looks, if set, counts what the trial was asked so far about members on nodes: many of these are a step, too.
	Looks func() int

	// Last, if set, has the last word on whether victims will do whom no other is needed with, of whom parts go in part.
	// What it denies may still do: no proof rests on it.
	Last func(out []victims.UnitID, parts victims.Parts) bool

	// Steps is how many units may be decided on before the search gives up; a decision
	// among more than 64 units counts as several, and 256 pods that leave or come back, or Looks, are as
	// much as one. There is an eighth more to find any set that will do where the wanted one was not found. Below zero it does not begin.
	Steps int

	// Poll, if set, is called for each decision. It may panic, which ends the search.
	Poll func()

	known *known // by searches before this one in which the same units are out and matter; nil: there are none
}

// known is what such searches have in common.
type known struct {
	items []item
	parts bool
	need  []int64 // see cover.Problem
	frees []cover.Row
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

// chooser is one search. To the problem that it solves it is the trial.
type chooser struct {
	*Choice
	r       *Runner
	trial   domain.Trial
	items   []item
	first   map[victims.UnitID]int // where those of a unit begin; nil: not asked
	parts   bool                   // some of them are members
	kin     []kin                  // what some of them have in common; see kin.go
	list    []victims.UnitID       // buffers of out
	pods    []cluster.PodID
	some    victims.Parts
	used    []int64 // buffer of whole
	unasked []int64 // of a unit of which nothing is known; see priced

	moved  int   // pods, in and out of the trial
	looked int   // before
	beyond bool  // what has to leave goes beyond a cap
	denied bool  // Last said no,
	least  int64 // of sets that cost as much at least
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
// Exponential in the worst case; see Choice.Steps. Where they run out between the proof
// that a set is the cheapest and the end, it may be another one of the equal sets.
func (r *Runner) Choose(t domain.Trial, c Choice, order []victims.UnitID, atMost int64) ([]victims.UnitID, Proof) {
	if c.Steps < 0 {
		r.Bound = 0
		return nil, Exhausted
	}
	c.Caps = slices.DeleteFunc(slices.Clone(c.Caps), func(cap Cap) bool { return cap.Room == math.MaxInt64 }) // sums saturate
	s := &chooser{Choice: &c, r: r, trial: t}
	if c.Looks != nil {
		s.looked = c.Looks()
	}
	if c.known == nil {
		c.known = new(known)
	}
	if c.known.items == nil {
		s.itemize(order)
		c.known.items, c.known.parts = s.items, s.parts
	}
	s.items, s.parts = c.known.items, c.known.parts
	first := cover.ToBegin(len(s.items), len(c.Caps))
	if first > c.Steps {
		r.Bound = 0
		return nil, Exhausted
	}
	c.Steps -= first
	p := s.problem(atMost)
	if s.beyond {
		r.Decided += first
		r.Bound = checked.Add(atMost, 1)
		return nil, Refuted
	}
	a := cover.Solve(p)
	r.Decided += first + a.Steps
	ended := a.Proved
	if r.Bound = a.Bound; s.denied {
		r.Bound, a.Proved = min(a.Bound, s.least), a.Chosen != nil && a.Proved && s.least > a.Price
	}
	switch {
	case a.Chosen != nil && a.Proved:
		return s.settle(order, a.Chosen), Found
	case a.Chosen != nil:
		return s.settle(order, a.Chosen), FoundSome
	case a.Proved:
		return nil, Refuted
	case !c.Whether && !ended: // it may be easier to find any
		bound := r.Bound
		c.Whether, c.Any, c.Steps = true, true, c.Steps/sideSteps
		list, proof := r.Choose(t, c, order, atMost)
		if r.Bound = max(r.Bound, bound); list != nil {
			proof = FoundSome
		}
		return list, proof
	}
	return nil, Exhausted
}

// problem is what is to be solved, in numbers.
func (s *chooser) problem(atMost int64) *cover.Problem {
	n := len(s.items)
	p := &cover.Problem{Items: n, AtMost: atMost, Steps: s.Steps, Any: s.Any, Poll: s.Poll, Worked: s.worked, Trial: s, Kind: s.kind, Alike: s.alike, Price: make([]int64, n)}
	for i := range s.items {
		p.Price[i] = s.costs(&s.items[i])
	}
	if !s.parts && !slices.ContainsFunc(s.Caps, func(c Cap) bool { return c.Fine > 0 }) {
		for _, v := range p.Price {
			p.Unit = checked.GCD(v, p.Unit)
		}
	}
	for _, c := range s.Caps {
		p.Sides = append(p.Sides, cover.Side{Room: c.Room, Fine: cmp.Or(c.Fine, cover.Hard), Weight: s.row(c)})
	}
	s.relate(p)
	s.boundPrice(p)
	gapped, ok := s.trial.(gapped)
	if !ok {
		return p
	}
	if s.known.need == nil {
		s.known.need, s.known.frees = s.missing(gapped)
	}
	p.Need, p.Frees = append(p.Need, s.known.need...), append(p.Frees, s.known.frees...)
	if len(p.Need) == 0 && p.Least > 0 { // else nothing would say where to look
		p.Need, p.Frees = append(p.Need, p.Least), append(p.Frees, cover.RowOf(p.Price))
	}
	if decides := gapped.Decides() && !s.parts; decides && s.Last == nil {
		p.Trial = nil
	} else if decides {
		p.Never = func(chosen []bool) bool { return needless(p, chosen) }
	}
	return p
}

// row is that of the weights of c.
func (s *chooser) row(c Cap) cover.Row {
	if c.row == nil || s.parts {
		return cover.RowOf(s.weights(c))
	}
	if *c.row == nil {
		*c.row = append(cover.Row{}, cover.RowOf(s.weights(c))...)
	}
	return slices.Clip(*c.row)
}

// denseFew is of how many items one has to add something for all to be asked, which is faster than to look for those who do.
const denseFew = 4

// weights are what the items add to c.
func (s *chooser) weights(c Cap) []int64 {
	list := make([]int64, len(s.items))
	if c.Few == nil || len(c.Few) > len(s.items)/denseFew {
		for i := range s.items {
			list[i] = s.weighs(c, &s.items[i])
		}
		return list
	}
	if s.first == nil {
		s.first = make(map[victims.UnitID]int, len(s.items))
		for i := range slices.Backward(s.items) {
			s.first[s.items[i].unit] = i
		}
	}
	for _, u := range c.Few {
		i, is := s.first[u]
		for ; is && i < len(s.items) && s.items[i].unit == u; i++ {
			list[i] = s.weighs(c, &s.items[i])
		}
	}
	return list
}

// needless reports whether what is needed is freed without one of the chosen.
func needless(p *cover.Problem, chosen []bool) bool {
	spare, needed := slices.Clone(p.Need), make([]bool, p.Items)
	for r, row := range p.Frees {
		spare[r] = -spare[r]
		for _, c := range row {
			if chosen[c.Item] {
				spare[r] += c.Amount
			}
		}
		if spare[r] < 0 {
			return false
		}
	}
	for r, row := range p.Frees {
		for _, c := range row {
			needed[c.Item] = needed[c.Item] || c.Amount > spare[r]
		}
	}
	for i, in := range chosen {
		if in && !needed[i] {
			return true
		}
	}
	return false
}

// missing is how much is missing with everybody back, of each thing of which something is, and what the items free of it.
func (s *chooser) missing(gapped gapped) (need []int64, frees []cover.Row) {
	gap := gapped.Gap(nil)
	need = make([]int64, 0, len(gap))
	for r, row := range s.frees(gapped, len(gap)) {
		missing := gap[r]
		for _, c := range row {
			missing += c.Amount
		}
		if missing > 0 {
			need, frees = append(need, missing), append(frees, row)
		}
	}
	return need, frees
}

// frees is what the items free of each of so many things.
func (s *chooser) frees(gapped gapped, num int) []cover.Row {
	rows, all := make([]cover.Row, num), make([]int, num)
	for r := range all {
		all[r] = r
	}
	sparse, isSparse := gapped.(sparse)
	for i := range s.items {
		for _, pod := range s.items[i].pods {
			freed := all
			if isSparse {
				freed = sparse.FreedBy(pod)
			}
			for _, r := range freed {
				v, row := gapped.Frees(r, pod), rows[r]
				switch last := len(row) - 1; {
				case v == 0:
				case last >= 0 && row[last].Item == i:
					row[last].Amount += v // at most what runs on the node, which is an int64
				default:
					rows[r] = append(row, cover.Cell{Item: i, Amount: v})
				}
			}
		}
	}
	return rows
}

// boundPrice finds out what a set costs at least.
func (s *chooser) boundPrice(p *cover.Problem) {
	bounded, ok := s.trial.(bounded)
	if !ok {
		return
	}
	items, barred := make([][]cluster.PodID, len(p.Price)), make([]bool, len(p.Price))
	for i := range items {
		items[i] = s.podsOf(i)
	}
	for _, side := range p.Sides {
		for _, c := range side.Weight {
			barred[c.Item] = barred[c.Item] || side.Fine == cover.Hard && c.Amount > side.Room
		}
	}
	if len(p.Sides) == 1 && !slices.ContainsFunc(p.Price, func(v int64) bool { return v > 0 }) && s.boundSide(p, bounded, items, barred) {
		return
	}
	least, set, steps := bounded.Least(items, p.Price, barred, p.AtMost, p.Steps)
	p.Guess, p.Least, p.Steps = s.withKin(set), least, p.Steps-steps
	s.beyond = least > p.AtMost || least == math.MaxInt64 // the latter where AtMost is as large: no set at any price
	s.r.Decided += steps
}

// boundSide bounds what the items weigh that have to leave, where nothing costs anything and there is one cap. It reports whether that
// is all that it takes to know: they go beyond it, or a set within it will do if one is asked for.
func (s *chooser) boundSide(p *cover.Problem, bounded bounded, items [][]cluster.PodID, barred []bool) bool {
	side, steps := &p.Sides[0], 0 // for the first bound
	if side.Fine < cover.Hard {
		return false
	}
	if s.Whether {
		steps = p.Steps / sideSteps
	}
	weights := make([]int64, p.Items)
	for _, c := range side.Weight {
		weights[c.Item] = c.Amount
	}
	least, set, taken := bounded.Least(items, weights, barred, side.Room, steps)
	s.r.Decided += taken
	p.Steps -= taken
	if s.beyond = least > side.Room; !s.beyond && s.Whether {
		p.Guess = s.withKin(set)
	}
	return s.beyond || p.Guess != nil
}

// sideSteps is of how many parts of the steps one is for a set within a cap, or for any that will do where the others find none.
const sideSteps = 8

// worked is how many steps it is worth to move pods, and to ask about members, as they were.
func (s *chooser) worked() int {
	moved := s.moved
	if s.Looks != nil {
		moved += s.Looks() - s.looked
	}
	return moved / movesOfStep
}

// movesOfStep is how many pods may leave or come back in a step, or questions be asked about members: as many as that takes somewhat longer
// than its numbers.
const movesOfStep = 256

// Return puts the pods of item i back, Remove takes them out: at once, where they are a unit and the trial does so.
func (s *chooser) Return(i int) {
	s.moved += len(s.podsOf(i))
	if s.isUnit(i) {
		returnUnit(s.trial, s.items[i].unit, s.items[i].pods)
		return
	}
	for _, p := range s.podsOf(i) {
		s.trial.Return(p)
	}
}

func (s *chooser) Remove(i int) {
	s.moved += len(s.podsOf(i))
	if s.isUnit(i) {
		removeUnit(s.trial, s.items[i].unit, s.items[i].pods)
		return
	}
	for _, p := range s.podsOf(i) {
		s.trial.Remove(p)
	}
}

func (s *chooser) isUnit(i int) bool { return i < len(s.items) && !s.items[i].part }

// podsOf are those of item i; none of one that stands for something else.
func (s *chooser) podsOf(i int) []cluster.PodID {
	if i >= len(s.items) {
		return nil
	}
	return s.items[i].pods
}

// May reports whether the preemptor fits beside those who were returned, if fewer beside it
// never hurt.
func (s *chooser) May() bool { return !s.Monotone || s.trial.Fits().OK() }

// Will says whether the preemptor fits beside all who are not chosen, elastic units go on
// or go whole, and the caps hold.
func (s *chooser) Will(chosen, returned []bool, price int64) (all int64, ok bool) {
	if s.parts {
		if price, ok = s.whole(chosen); !ok {
			return 0, false
		}
	}
	for i := range chosen {
		if !chosen[i] && !returned[i] {
			s.Return(i)
		}
	}
	if d, doubts := s.trial.(domain.Doubter); doubts && !s.Monotone {
		d.Doubt()
	}
	ok = s.trial.Fits().OK()
	if ok && s.Last != nil {
		if ok = s.Last(s.out(chosen)) && !s.spares(chosen); !ok {
			s.least = min(s.least, price)
			if !s.denied {
				s.denied, s.least = true, price
			}
		}
	}
	for i := range chosen {
		if !chosen[i] && !returned[i] {
			s.Remove(i)
		}
	}
	return price, ok
}

// spares reports whether the preemptor fits with a unit back of which some are chosen, all others of whom are out.
func (s *chooser) spares(chosen []bool) (spares bool) {
	for i, end := 0, 0; i < len(s.items) && s.Monotone && !spares; i = end {
		var back []int
		for end = i; end < len(s.items) && s.items[end].unit == s.items[i].unit; end++ {
			if chosen[end] {
				back = append(back, end)
			}
		}
		for _, k := range back {
			s.Return(k)
		}
		spares = len(back) > 0 && s.trial.Fits().OK()
		for _, k := range back {
			s.Remove(k)
		}
	}
	s.trial.Fits() // yes; it wants to be asked
	return spares
}
