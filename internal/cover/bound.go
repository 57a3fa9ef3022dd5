package cover

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
)

// scale is how far prices are shifted to the left where they are bounded, below zero to the
// right, so that multipliers, which are whole, are fine enough and sums do not overflow.
type scale int

// down is a price as bounds count it, at most.
func (c scale) down(price int64) int64 {
	if c < 0 {
		return price >> -c
	}
	return checked.Mul(price, 1<<c)
}

// up is the least price that a bound says.
func (c scale) up(bound int64) int64 {
	if c < 0 {
		return checked.Mul(max(bound, 0), 1<<-c)
	}
	return (bound + 1<<c - 1) >> c
}

// beyond reports whether a bound says that no set costs atMost or less, or where nothing
// costs anything that there is none. Sums saturate at the largest int64.
func (s *solver) beyond(bound int64) bool {
	return s.atMost < s.Least || s.work.costless && bound > 0 || s.atMost < math.MaxInt64 && bound > s.scale.down(s.atMost)
}

// amountBits is how many bits the amounts of a row or a side have where they are bounded.
const amountBits = 20

// bounding is what the bounds work with: rows, then the sides that may matter, all scaled.
type bounding struct {
	price  []int64 // by item
	lines  []line
	values []int64 // by line: what is missing; below zero: left to be used up
	slope  []int64 // by line: of the bound, in its multiplier
	trying []int64 // by line: the multiplier that is tried
	top    int64   // multipliers are at most so large

	costless bool // nothing costs anything

	items  []int   // the free ones
	place  []int32 // by item: where in items it stands
	prices []int64 // of these
	sums   []int64 // and at the multipliers that are tried
	base   int64   // price of the chosen
	bids   []bid   // buffer of adjust
	asked  int     // how often items were asked what they are worth to a side

	amounts int // of lines, and prices, that the bound is of
}

// bid is what an item is worth that uses some of a side.
type bid struct{ worth, weight int64 }

// line is a row, or with side set a side, of which amounts are below zero.
type line struct {
	of     int
	side   bool
	shift  scale
	amount []Cell // by item
	packed []Cell // by position among the free items: what counts of it
	most   int64  // of its multiplier
}

// rescale makes the columns of bounds anew, for sets that cost at most atMost.
func (s *solver) rescale() {
	w := &s.work
	*w = bounding{
		price: sized(w.price, s.n), prices: sized(w.prices, s.n), sums: sized(w.sums, s.n), place: sized(w.place, s.n), items: w.items, bids: w.bids,
		lines: w.lines[:0], values: w.values, slope: w.slope, trying: w.trying,
	}
	total := int64(0)
	for i := range w.price {
		w.price[i] = min(s.priceOf(i), checked.Add(s.atMost, 1))
		total = checked.Add(total, w.price[i])
	}
	for r := range s.Need {
		w.addRow(s.Frees[r], r, s.Need[r])
	}
	for k := range s.Sides {
		side, sum := &s.Sides[k], int64(0)
		for _, c := range side.Weight {
			sum = checked.Add(sum, c.Amount)
		}
		if sum <= side.Room {
			continue
		}
		w.addSide(side, k)
		if side.Fine != Hard {
			total = checked.Add(total, checked.Mul(sum-side.Room, side.Fine))
		}
	}
	room := 60 - bits.Len(uint(s.n)) - bits.Len(uint(len(w.lines)))
	s.scale = scale(room - bits.Len64(uint64(total)))
	if w.costless = total == 0; w.costless {
		s.scale = 0
	}
	for i := range w.price {
		w.price[i] = s.scale.down(w.price[i])
	}
	w.top = 1 << (room - amountBits)
	for i := range w.lines {
		l := &w.lines[i]
		if l.most = w.top; l.side && s.Sides[l.of].Fine != Hard {
			l.most = min(l.most, l.shift.per(s.scale.down(s.Sides[l.of].Fine)))
		}
	}
	m := len(w.lines)
	w.values, w.slope, w.trying = sized(w.values, m), sized(w.slope, m), sized(w.trying, m)
	s.reduced = append(s.reduced[:0], w.price...)
	s.multiplier = [][]int64{make([]int64, m)}
}

// shiftTo is the shift that brings v to amountBits bits.
func shiftTo(v int64) scale { return scale(amountBits - bits.Len64(uint64(v))) }

// per is the price of a shifted unit where that of a unit is price.
func (c scale) per(price int64) int64 {
	if c < 0 {
		return checked.Mul(price, 1<<-c)
	}
	return price >> c
}

// ceil is v shifted, rounded up.
func (c scale) ceil(v int64) int64 {
	if c < 0 {
		return (v >> -c) + b2i(v&(1<<-c-1) != 0)
	}
	return v << c
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// addRow adds a row: what items free is rounded up, so that whatever covers it covers it
// still.
func (w *bounding) addRow(frees Row, r int, need int64) {
	l := w.addLine(r, false, need)
	for _, c := range frees {
		l.amount = append(l.amount, Cell{c.Item, l.shift.ceil(min(c.Amount, need))})
	}
}

// addLine adds a line without amounts, in the memory of one that was there before. most is shifted to amountBits bits.
func (w *bounding) addLine(of int, side bool, most int64) *line {
	n := len(w.lines)
	w.lines = slices.Grow(w.lines, 1)[:n+1]
	l := &w.lines[n]
	*l = line{of: of, side: side, shift: shiftTo(most), amount: l.amount[:0], packed: l.packed[:0]}
	return l
}

// addSide adds a side: weights are rounded down.
func (w *bounding) addSide(side *Side, k int) {
	most := max(side.Room, 1)
	for _, c := range side.Weight {
		most = max(most, c.Amount)
	}
	l := w.addLine(k, true, most)
	l.amount = slices.Grow(l.amount, len(side.Weight))
	for _, c := range side.Weight {
		if l.shift < 0 {
			c.Amount >>= -l.shift
		} else {
			c.Amount <<= l.shift
		}
		if c.Amount > 0 {
			l.amount = append(l.amount, Cell{c.Item, -c.Amount})
		}
	}
}

// The rounds of an ascent at the root, and at any other decision.
const (
	rootRounds = 60
	rounds     = 6
)

// ascend bounds the price of the sets that agree with what is decided, and decides on what
// the bound tells. The bound is beyond atMost if nothing agrees.
func (s *solver) ascend(depth, rounds int) int64 {
	w := &s.work
	for len(s.multiplier) <= depth+1 {
		s.multiplier = append(s.multiplier, make([]int64, len(w.lines)))
	}
	best := s.multiplier[depth]
	if depth > 0 {
		copy(best, s.multiplier[depth-1])
	}
	copy(w.trying, best)
	s.pack()
	var bound int64
	if w.costless {
		bound = s.byRow(best)
	} else {
		bound = s.bySteps(best, rounds)
	}
	if s.beyond(bound) || s.fix(bound) {
		return bound
	}
	return math.MaxInt64
}

// bySteps is the bound at the best multipliers that so many steps lead to.
func (s *solver) bySteps(best []int64, rounds int) int64 {
	w, bound, still := &s.work, int64(math.MinInt64), 0
	for part, round := int64(1), 0; round < rounds; round++ {
		value, norm := w.value()
		if value > bound {
			bound, still = value, 0
			s.note(best)
		} else if still++; still == 3 {
			part, still = part*2, 0
		}
		if round%guessEach == 0 && !s.blind {
			s.guess()
		}
		if s.beyond(bound) || norm == 0 {
			break
		}
		s.step(value, norm, part)
	}
	return bound
}

// byRow is the bound where nothing costs anything: it is above zero if the free items cannot
// free what is missing of some row within the sides. A row by itself has a multiplier; those
// of the sides are adjusted to it one by one, which is exact where no item is in two of them.
func (s *solver) byRow(best []int64) int64 {
	w, bound := &s.work, int64(math.MinInt64)
	w.asked = 0
	defer func() { s.steps += w.asked / manyAsked }()
	all := 0
	for j := range w.lines {
		all += len(w.lines[j].packed)
	}
	for r := range s.Need {
		if w.values[r] == 0 && bound > math.MinInt64 {
			continue
		}
		clear(w.trying)
		w.trying[r] = w.top >> 1
		w.asked += 2 * all // by value
		w.value()
		for range passes {
			changed := false
			for j := len(s.Need); j < len(w.lines); j++ {
				changed = w.adjust(j) || changed
			}
			if !changed {
				break
			}
		}
		if value, _ := w.value(); value > bound {
			bound = value
			s.note(best)
		}
		if bound > 0 {
			return bound
		}
	}
	if !s.blind {
		s.guess()
	}
	return bound
}

// passes is how often the sides are adjusted for a row; manyAsked times an item is asked what it is worth to one for each step more.
const (
	passes    = 3
	manyAsked = 1024
)

// adjust sets the multiplier of side j to the best one while the others stay, and reports
// whether it is another one: those who are worth most for what they use of the side get what
// is left of it, and the first who gets none, or a part, says what it is worth.
func (w *bounding) adjust(j int) bool {
	l, before := &w.lines[j], w.trying[j]
	w.asked += len(l.packed)
	w.bids = w.bids[:0]
	for _, c := range l.packed {
		if worth := -w.sums[c.Item] - before*c.Amount; worth > 0 {
			w.bids = append(w.bids, bid{worth, -c.Amount})
		}
	}
	slices.SortFunc(w.bids, func(x, y bid) int {
		switch {
		case less(y.worth, y.weight, x.worth, x.weight):
			return -1
		case less(x.worth, x.weight, y.worth, y.weight):
			return 1
		}
		return 0
	})
	w.trying[j] = 0
	left := -w.values[j]
	for _, b := range w.bids {
		if b.weight > left {
			w.trying[j] = min(b.worth/b.weight, l.most)
			break
		}
		left -= b.weight
	}
	by := w.trying[j] - before
	for _, c := range l.packed {
		w.sums[c.Item] -= by * c.Amount
	}
	return by != 0
}

// less reports whether a/b < c/d. None is below zero.
func less(a, b, c, d int64) bool {
	return checked.CompareProducts(a, d, c, b) < 0
}

// note keeps the multipliers that are tried as the best, and prices at them.
func (s *solver) note(best []int64) {
	copy(best, s.work.trying)
	for k, i := range s.work.items {
		s.reduced[i] = s.work.sums[k]
	}
}

// guessEach is in how many rounds of an ascent a set is looked for once.
const guessEach = 16

// pack lines up what the bound reads of the free items.
func (s *solver) pack() {
	w := &s.work
	w.items, w.base = w.items[:0], 0
	for i, state := range s.state {
		switch state {
		case free:
			w.items = append(w.items, i)
		case chosen:
			w.base += w.price[i]
		}
	}
	w.sums, w.prices = w.sums[:len(w.items)], w.prices[:len(w.items)]
	for k, i := range w.items {
		w.prices[k], w.place[i] = w.price[i], int32(k)
	}
	w.amounts = len(w.items)
	for j := range w.lines {
		l := &w.lines[j]
		limit := int64(math.MaxInt64)
		if l.side {
			w.values[j] = -l.shift.ceil(s.left[l.of])
		} else {
			limit = max(l.shift.ceil(s.need[l.of]), 0)
			w.values[j] = limit
		}
		if l.packed = l.packed[:0]; limit == 0 {
			continue
		}
		l.packed = slices.Grow(l.packed, min(len(l.amount), len(w.items)))
		for _, c := range l.amount {
			if s.state[c.Item] == free {
				l.packed = append(l.packed, Cell{int(w.place[c.Item]), min(c.Amount, limit)})
			}
		}
		w.amounts += len(l.packed)
	}
}

// value is the bound at the multipliers that are tried, and the square of its slope.
func (w *bounding) value() (value, norm int64) {
	copy(w.slope, w.values)
	copy(w.sums, w.prices)
	value = w.base
	for j := range w.lines {
		m := w.trying[j]
		if m == 0 {
			continue
		}
		value += m * w.values[j]
		for _, c := range w.lines[j].packed {
			w.sums[c.Item] -= m * c.Amount
		}
	}
	for _, sum := range w.sums {
		value += min(sum, 0)
	}
	for j := range w.lines {
		for _, c := range w.lines[j].packed {
			if w.sums[c.Item] < 0 {
				w.slope[j] -= c.Amount
			}
		}
	}
	for j, g := range w.slope {
		if g < 0 && w.trying[j] == 0 || g > 0 && w.trying[j] == w.lines[j].most {
			w.slope[j] = 0
			continue
		}
		norm = checked.Add(norm, checked.Mul(abs(g), abs(g)))
	}
	return value, norm
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// step moves the multipliers along the slope, by a part of the way that would lead to the
// price that is to be ruled out if the slope stayed.
func (s *solver) step(value, norm, part int64) {
	w := &s.work
	target := s.scale.down(s.atMost) + 1
	if target > 1<<60 {
		target = max(value, 0) + w.top<<(amountBits/2)
	}
	gap := (target - value) / part
	for i, g := range w.slope {
		by, _ := checked.MulDiv(gap, abs(g), norm)
		if g < 0 {
			by = -by
		}
		w.trying[i] = min(max(checked.Add(w.trying[i], by), 0), w.lines[i].most)
	}
}

// fix decides on the items that would take the bound beyond atMost if they were decided on
// otherwise, and reports whether some set may still do.
func (s *solver) fix(bound int64) bool {
	before := len(s.trail)
	for i, v := range s.reduced {
		if s.state[i] != free {
			continue
		}
		switch {
		case v > 0 && s.beyond(bound+v):
			s.keep(i)
		case v < 0 && s.beyond(bound-v):
			s.choose(i)
		}
	}
	return len(s.trail) == before || s.settle()
}
