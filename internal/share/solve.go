package share

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
)

// Solver looks for the cheapest sets of items that open seats. Not safe for concurrent use.
type Solver struct {
	allotment
	at     [][]spot  // by item: where it stands
	weight [][]int64 // likewise: what part of its price it had there last
	work   int       // that it takes to share out prices once
	looks  int       // and to bound them in places of which the ways are not known
}

// spot is a position in a place.
type spot struct{ place, position int }

// Problem asks for the cheapest set of items.
type Problem struct {
	Price  []int64 // by item, not below zero
	Barred []bool  // by item: it is in no set
	AtMost int64   // what a set may cost to be wanted

	// Steps bounds the branching: 16 are taken for each decision on an item or a place, and more each time that prices are shared out
	// where there are many seats, places and items. The first bound is had in any case.
	Steps int

	// Poll, if set, is called each time that prices are shared out. It may panic, which ends the
	// search.
	Poll func()
}

// Answer is what Solve came to.
type Answer struct {
	Set   []bool // by item: the cheapest set that was found, of those that are wanted; nil: none
	Least int64  // no wanted set costs less; [math.MaxInt64]: there is none at any price
	Steps int    // that were taken
}

// NewSolver returns the solver for so many seats among places, where items are numbered from 0
// to items-1. Poll, if set, is called for each place; it may panic. O(items + seats) for each place, and at most some
// million steps.
func NewSolver(seats, items int, places []Place, poll func()) *Solver {
	s := &Solver{work: 1, at: make([][]spot, items), weight: make([][]int64, items)}
	var list []place
	for _, from := range places {
		p := newPlace(from, seats)
		if len(p.Items) == 0 { // nobody is in the way
			seats -= min(seats, len(p.cost))
			continue
		}
		for k, item := range p.Items {
			s.at[item] = append(s.at[item], spot{len(list), k})
			s.weight[item] = append(s.weight[item], 1)
		}
		list = append(list, p)
		s.work += len(p.cost)*(seats+len(p.Items)) + 1
	}
	s.allotment = allotment{places: list, seats: seats, large: s.work > mostWork}
	s.findWays(poll)
	for i := range s.places {
		if p := &s.places[i]; p.ways == nil {
			s.looks += looksAtItem * len(p.Items)
		}
	}
	return s
}

// findWays finds the ways to open seats in places with few items.
func (s *Solver) findWays(poll func()) {
	var few []*place
	for i := range s.places {
		if p := &s.places[i]; len(p.Items) <= mostItems {
			few = append(few, p)
		}
	}
	slices.SortStableFunc(few, func(a, b *place) int { return cmp.Compare(len(a.Items), len(b.Items)) })
	left, sums := mostSets, []int64(nil)
	for _, p := range few {
		if left -= len(p.cost) << len(p.Items); left < 0 {
			return
		}
		if poll != nil {
			poll()
		}
		sums = p.findWays(sums)
	}
}

// Solve looks for the cheapest set, by branch and bound.
func (s *Solver) Solve(p *Problem) Answer {
	total, unit := int64(0), int64(0)
	for _, v := range p.Price {
		total, unit = checked.Add(total, v), checked.GCD(v, unit)
	}
	if total == math.MaxInt64 || p.AtMost < 0 {
		return Answer{}
	}
	unit = max(unit, 1) // no price lies between its multiples
	t := &search{Solver: s, Problem: p, atMost: min(p.AtMost, total) / unit}
	for _, v := range p.Price {
		t.full = append(t.full, v/unit)
	}
	for i := range s.places {
		s.places[i].shut = false
	}
	t.price, t.barred, t.forced = slices.Clone(t.full), slices.Clone(p.Barred), make([]bool, len(p.Price))
	t.scale = bits.LeadingZeros64(uint64(total/unit)) - 4
	if t.large { // then they are multiplied by seats
		t.scale -= bits.Len(uint(t.seats))
	}
	t.scale = min(max(t.scale, 0), 30)
	least := t.branch(firstRounds)
	if least < math.MaxInt64 {
		least = min(least, t.atMost+1)
	}
	return Answer{Set: t.best, Least: checked.Mul(least, unit), Steps: t.steps}
}

// search is one of Solve.
type search struct {
	*Solver
	*Problem
	scale   int     // prices are shared out in parts of 1 in 2^scale
	full    []int64 // by item
	price   []int64 // by item; nothing where it is forced
	barred  []bool
	forced  []bool // by item: it is in the set
	sunk    int64  // what they cost
	atMost  int64  // what a set may cost to be better
	steps   int
	stopped bool
	best    []bool
}

// How often prices are shared out anew, at first and after each decision; less often where that
// is so much work that it comes to more than mostWork.
const (
	firstRounds = 120
	laterRounds = 16
	mostWork    = 1 << 24
)

// Each time that prices are shared out counts as a step for so much work; an item in a place is so much where they are bounded by parts.
const (
	workOfStep  = 1 << 13
	looksAtItem = 1 << 8
)

// branch looks for better sets among those that agree with what is decided, and returns what
// each of them costs at least.
func (s *search) branch(rounds int) (least int64) {
	value := s.bound(rounds)
	if value == math.MaxInt64 {
		return value
	}
	if least = s.sunk + value; least > s.atMost {
		return least
	}
	d := s.undecided()
	if len(d.items) == 0 {
		return least
	}
	if s.steps += 16; s.steps > s.Steps {
		s.stopped = true
		return least
	}
	found := int64(math.MaxInt64)
	for _, yes := range [2]bool{d.likely, !d.likely} {
		if s.stopped {
			return least
		}
		s.decide(d, yes)
		found = min(found, s.branch(laterRounds))
		s.undo(d, yes)
	}
	return max(least, found)
}

// decision is whether items go. If not, there is no seat in place or, where that is nil, the only
// item stays.
type decision struct {
	items  []int
	place  *place
	likely bool // they do
}

// decide settles d, until undo.
func (s *search) decide(d decision, yes bool) {
	if !yes {
		s.keepOff(d, true)
		return
	}
	for _, item := range d.items {
		s.forced[item], s.price[item] = true, 0
		s.sunk += s.full[item]
	}
}

// undo takes back what decide settled.
func (s *search) undo(d decision, yes bool) {
	if !yes {
		s.keepOff(d, false)
		return
	}
	for _, item := range d.items {
		s.forced[item], s.price[item] = false, s.full[item]
		s.sunk -= s.full[item]
	}
}

// keepOff says that d is settled with no, or no longer.
func (s *search) keepOff(d decision, settled bool) {
	if d.place != nil {
		d.place.shut = settled
		return
	}
	s.barred[d.items[0]] = settled
}

// going is in how many of its places an item goes.
func (s *search) going(item int) (n int) {
	for _, at := range s.at[item] {
		if s.places[at.place].goes[at.position] {
			n++
		}
	}
	return n
}

// undecided is the decision that tells most, by what has to be paid for it: on a place, else on
// one item that goes in some of its places only, else on one that may go in part. Without items,
// all is decided.
func (s *search) undecided() decision {
	for _, of := range []func() decision{s.placeInDoubt, s.itemInDoubt, s.itemInPart} {
		if d := of(); len(d.items) > 0 {
			return d
		}
	}
	return decision{}
}

// placeInDoubt is a place with seats in the allotment, of those where the same items go for any
// seat and some of them go in some of their places only.
func (s *search) placeInDoubt() (d decision) {
	most := int64(0)
	for i := range s.places {
		p := &s.places[i]
		if len(p.ways) == 0 || len(p.ways[0]) != 1 || len(p.ways[0][0]) == 0 || !p.goes[p.ways[0][0][0]] {
			continue
		}
		price, inDoubt := int64(0), false
		var items []int
		for _, k := range p.ways[0][0] {
			if item := p.Items[k]; !s.forced[item] {
				price, inDoubt = price+s.price[item], inDoubt || s.going(item) < len(s.at[item])
				items = append(items, item)
			}
		}
		if inDoubt && price > most {
			most, d = price, decision{items, p, true}
		}
	}
	return d
}

// itemInDoubt is an item that goes in some of its places only.
func (s *search) itemInDoubt() (d decision) {
	most := int64(0)
	for item, spots := range s.at {
		n := s.going(item)
		if s.forced[item] || n == 0 || n == len(spots) {
			continue
		}
		if v := checked.Add(checked.Mul(s.price[item], int64(min(n, len(spots)-n))), 1); v > most {
			most, d = v, decision{[]int{item}, nil, 2*n >= len(spots)}
		}
	}
	return d
}

// itemInPart is an item that goes where the ways of its place are not known: there it may go for
// a part of its price.
func (s *search) itemInPart() (d decision) {
	most := int64(0)
	for i := range s.places {
		p := &s.places[i]
		if p.ways != nil {
			continue
		}
		for k, item := range p.Items {
			if p.goes[k] && !s.forced[item] && s.price[item]+1 > most {
				most, d = s.price[item]+1, decision{[]int{item}, nil, true}
			}
		}
	}
	return d
}

// bound shares prices out so that the cheapest allotment is dear, looks at the sets that
// allotments come to, and returns what sets cost at least beside what is sunk.
func (s *search) bound(rounds int) (best int64) {
	s.shareOut()
	part := int64(1) << 19 // of 2^20: how much of a price moves
	for range max(1, min(rounds, mostWork/s.work)) {
		if s.Poll != nil {
			s.Poll()
		}
		s.steps += (s.work + s.looks) / workOfStep
		value := s.find(s.barred)
		if value == math.MaxInt64 {
			return value
		}
		best = max(best, (value+1<<s.scale-1)>>s.scale)
		s.look()
		if s.sunk+best > s.atMost || !s.move(part) {
			break
		}
		part -= part / 16
	}
	for item, spots := range s.at {
		for i, at := range spots {
			s.weight[item][i] = s.places[at.place].shares[at.position] >> max(0, s.scale-10)
		}
	}
	return best
}

// shareOut shares out prices by the latest weights.
func (s *search) shareOut() {
	for item, spots := range s.at {
		sum := int64(0)
		for _, w := range s.weight[item] {
			sum = checked.Add(sum, w)
		}
		price := s.price[item] << s.scale
		left := price
		for i, at := range spots {
			v := left
			switch {
			case i == len(spots)-1:
			case sum == 0 || sum == math.MaxInt64:
				v = price / int64(len(spots))
			default:
				v, _ = checked.MulDiv(price, s.weight[item][i], sum)
			}
			s.places[at.place].shares[at.position] = v
			left -= v
		}
	}
}

// move moves shares of prices to places where the allotment has an item go from those where it
// has not. It reports whether there are such.
func (s *search) move(part int64) (moved bool) {
	for item, spots := range s.at {
		n := s.going(item)
		if n == 0 || n == len(spots) || s.price[item] == 0 {
			continue
		}
		moved = true
		step, _ := checked.MulDiv(s.price[item]<<s.scale, part, 1<<20)
		step /= int64(len(spots) - n)
		taken := int64(0)
		for _, at := range spots {
			if p := &s.places[at.place]; !p.goes[at.position] {
				v := min(p.shares[at.position], step)
				p.shares[at.position] -= v
				taken += v
			}
		}
		each, rest := taken/int64(n), taken%int64(n)
		for _, at := range spots {
			if p := &s.places[at.place]; p.goes[at.position] {
				p.shares[at.position] += each + rest
				rest = 0
			}
		}
	}
	return moved
}

// look keeps the set that the allotment comes to, without those whom it can spare, dearest
// first, if it is the cheapest so far.
func (s *search) look() {
	set := slices.Clone(s.forced)
	var list []int
	for item := range s.at {
		if set[item] = set[item] || s.going(item) > 0; set[item] {
			list = append(list, item)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(s.full[b], s.full[a]) })
	open, seats, cost := make([]int, len(s.places)), 0, int64(0)
	for i := range s.places {
		open[i] = s.places[i].open(set)
		seats += open[i]
	}
	for _, item := range list {
		set[item] = false
		fewer := 0
		for _, at := range s.at[item] {
			fewer += open[at.place] - s.places[at.place].back(at.position, set, false)
		}
		if seats-fewer < s.seats {
			set[item] = true
			cost += s.full[item]
			continue
		}
		for _, at := range s.at[item] {
			open[at.place] = s.places[at.place].back(at.position, set, true)
		}
		seats -= fewer
	}
	if seats >= s.seats && cost <= s.atMost {
		s.best, s.atMost = set, cost-1
	}
}
