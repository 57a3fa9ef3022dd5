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
	for lacks(g.missing) {
		i := s.cheapest()
		if i < 0 {
			return
		}
		s.put(i, 1)
	}
	for i := s.needless(); i >= 0; i = s.needless() {
		s.put(i, -1)
	}
	s.judge(g.set)
}

// guessed is the set that guess makes.
type guessed struct {
	set     []bool
	missing []int64 // by row
	left    []int64 // by side
	order   []int
}

// hasRoom reports whether item i keeps within the hard sides beside the set.
func (s *solver) hasRoom(i int) bool {
	for k := range s.Sides {
		if side := &s.Sides[k]; side.Fine == Hard && side.Weight[i] > s.guessed.left[k] {
			return false
		}
	}
	return true
}

// put puts item i into the set, with a sign below zero out of it.
func (s *solver) put(i int, sign int64) {
	g := &s.guessed
	g.set[i] = sign > 0
	for _, c := range s.cells[i] {
		g.missing[c.row] -= sign * c.amount
	}
	for k := range s.Sides {
		g.left[k] = checked.Sub(g.left[k], sign*s.Sides[k].Weight[i])
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

// cheapest is the free item outside of the set that costs least for what it frees of what is
// missing, -1 if none frees any.
func (s *solver) cheapest() int {
	set, missing := s.guessed.set, s.guessed.missing
	at, price, frees := -1, int64(0), int64(0)
	for i := s.n - 1; i >= 0; i-- {
		if set[i] || s.state[i] != free {
			continue
		}
		sum := int64(0)
		for _, c := range s.cells[i] {
			if missing[c.row] > 0 {
				sum += s.work.lines[c.row].shift.ceil(min(c.amount, missing[c.row]))
			}
		}
		if v := max(s.reduced[i], 0); sum > 0 && (at < 0 || less(v, sum, price, frees)) && s.hasRoom(i) {
			at, price, frees = i, v, sum
		}
	}
	return at
}

// less reports whether a/b < c/d. None is below zero.
func less(a, b, c, d int64) bool {
	return checked.CompareProducts(a, d, c, b) < 0
}

// needless is the dearest free item of the set that need not be in it, the first among
// equals; -1 if there is none.
func (s *solver) needless() int {
	set, missing := s.guessed.set, s.guessed.missing
	at, price := -1, int64(-1)
next:
	for i := range s.n {
		if !set[i] || s.state[i] != free || s.priceOf(i) <= price {
			continue
		}
		for _, c := range s.cells[i] {
			if missing[c.row]+c.amount > 0 {
				continue next
			}
		}
		at, price = i, s.priceOf(i)
	}
	return at
}
