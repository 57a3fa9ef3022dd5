package cover

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
)

// guess looks for a better set around the one that the bound is about, those first who are
// worth most beyond their price: what is missing is added where it costs least, and what is
// not needed left out. Hard sides are kept to on the way.
func (s *solver) guess() {
	if s.Worked != nil && s.Worked() > s.Steps {
		return
	}
	g := &s.guessed
	g.set, g.missing, g.left = s.buffer, append(g.missing[:0], s.need...), append(g.left[:0], s.left...)
	g.order = g.order[:0]
	for i, state := range s.state {
		if g.set[i] = state == chosen; state == free && s.reduced[i] < 0 {
			g.order = append(g.order, i)
		}
	}
	slices.SortFunc(g.order, func(a, b int) int { return cmp.Or(cmp.Compare(s.reduced[a], s.reduced[b]), cmp.Compare(b, a)) })
	for _, i := range g.order {
		if s.hasRoom(i) {
			s.put(i, 1)
		}
	}
	if lacks(g.missing) && !s.fill() {
		return
	}
	s.spare()
	s.judge(g.set)
}

// guessed is the set that guess makes.
type guessed struct {
	set     []bool
	missing []int64 // by row
	left    []int64 // by side
	order   []int
	offers  []offer // a heap; see fill
}

// offer is a free item outside of the set, its price at the best multipliers, and what it frees of what was missing
// when that was looked at last.
type offer struct {
	item         int
	price, frees int64
}

// hasRoom reports whether item i keeps within the hard sides beside the set.
func (s *solver) hasRoom(i int) bool {
	for _, c := range s.weighs.of(i) {
		if s.Sides[c.row].Fine == Hard && c.amount > s.guessed.left[c.row] {
			return false
		}
	}
	return true
}

// put puts item i into the set, with a sign below zero out of it.
func (s *solver) put(i int, sign int64) {
	g := &s.guessed
	g.set[i] = sign > 0
	for _, c := range s.cells.of(i) {
		g.missing[c.row] -= sign * c.amount
	}
	for _, c := range s.weighs.of(i) {
		g.left[c.row] = checked.Sub(g.left[c.row], sign*c.amount)
	}
}

func lacks(missing []int64) bool {
	for _, v := range missing {
		if v > 0 {
			return true
		}
	}
	return false
}

// fill adds the free item that costs least for what it frees of what is missing, the last among equals, until nothing is
// missing. It reports whether there were enough. An item never frees more of what is missing than it did before, nor gets
// room again: only the first of the heap has to be looked at anew.
func (s *solver) fill() bool {
	g := &s.guessed
	g.offers = g.offers[:0]
	for i := range s.n {
		if g.set[i] || s.state[i] != free {
			continue
		}
		if frees := s.freed(i); frees > 0 {
			g.offers = append(g.offers, offer{i, max(s.reduced[i], 0), frees})
		}
	}
	s.steps += len(g.offers) / manyFree
	for at := len(g.offers)/2 - 1; at >= 0; at-- {
		g.sink(at)
	}
	for lacks(g.missing) {
		if len(g.offers) == 0 {
			return false
		}
		first := &g.offers[0]
		if frees := s.freed(first.item); frees > 0 && frees < first.frees {
			first.frees = frees
			g.sink(0)
			continue
		} else if frees > 0 && s.hasRoom(first.item) {
			s.put(first.item, 1)
		}
		last := len(g.offers) - 1
		*first, g.offers = g.offers[last], g.offers[:last]
		g.sink(0)
	}
	return true
}

// sink lets the offer at a place of the heap go down to where it belongs.
func (g *guessed) sink(at int) {
	for {
		first := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(g.offers); child++ {
			if g.offers[child].before(g.offers[first]) {
				first = child
			}
		}
		if first == at {
			return
		}
		g.offers[at], g.offers[first] = g.offers[first], g.offers[at]
		at = first
	}
}

func (a offer) before(b offer) bool {
	c := checked.CompareProducts(a.price, b.frees, b.price, a.frees)
	return c < 0 || c == 0 && a.item > b.item
}

// freed is how much item i frees of what is missing.
func (s *solver) freed(i int) (sum int64) {
	for _, c := range s.cells.of(i) {
		if missing := s.guessed.missing[c.row]; missing > 0 {
			sum += s.work.lines[c.row].shift.ceil(min(c.amount, missing))
		}
	}
	return sum
}

// spare takes free items out of the set that need not be in it, the dearest first, and the first among equals. Who is needed
// once is needed from then on.
func (s *solver) spare() {
	g := &s.guessed
	g.order = g.order[:0]
	for i := range s.n {
		if g.set[i] && s.state[i] == free && s.needless(i) {
			g.order = append(g.order, i)
		}
	}
	slices.SortStableFunc(g.order, func(a, b int) int { return cmp.Compare(s.priceOf(b), s.priceOf(a)) })
	for _, i := range g.order {
		if s.needless(i) {
			s.put(i, -1)
		}
	}
}

// needless reports whether enough is freed without item i.
func (s *solver) needless(i int) bool {
	for _, c := range s.cells.of(i) {
		if s.guessed.missing[c.row]+c.amount > 0 {
			return false
		}
	}
	return true
}
