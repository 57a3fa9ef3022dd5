package reprieve

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
)

// bounds tells how much the units that are not decided on can free at most within the
// caps and the price. Each resource is looked at by itself: it is missed by so much
// with everybody in place, and what may be freed of it is the linear relaxation of a
// knapsack with a side constraint for each measure, bounded by its Lagrangean dual: for
// any prices of the measures, what is left of them at these prices and what each unit
// frees beyond its own. Which prices are tried decides how tight that is, never whether
// it is true.
type bounds struct {
	s    *chooser
	rows []row
	uses [][]use // by item: what it uses up of which measures; these are the caps and then the price
	by   [][]int // by measure: the items that use some of it
	left []int64 // by measure: what may still be used up
	most []int64 // by measure: what an item uses of it at most

	frees   []int64 // buffer: by item
	bidders []bidder
}

// row is what bounds know of one resource, in units that leave room to divide.
type row struct {
	frees   []int64 // by item
	missing int64   // with the items that are not decided on, and those that stay, in place
	price   []int64 // by measure, not below zero
}

// use is what an item adds to a measure, more than zero.
type use struct {
	measure int
	weight  int64
}

// bidder is an item that wants to use some of a measure.
type bidder struct {
	worth  int64 // what it frees beyond the price of all else that it uses
	weight int64
}

// newBounds returns the bounds of s; all of its items are out of trial, and the
// preemptor fits.
func newBounds(s *chooser, trial domain.Gapped) *bounds {
	measures := len(s.Caps) + 1
	b := &bounds{
		s: s, uses: make([][]use, len(s.items)), by: make([][]int, measures),
		left: make([]int64, measures), most: make([]int64, measures), frees: make([]int64, len(s.items)),
	}
	for m := range measures {
		for i := range s.items {
			if w := b.weight(m, i); w > 0 {
				b.uses[i] = append(b.uses[i], use{m, w})
				b.by[m] = append(b.by[m], i)
				b.most[m] = max(b.most[m], w)
			}
		}
	}
	for r, gap := range trial.Gap(nil) {
		row := row{frees: make([]int64, len(s.items)), missing: gap, price: make([]int64, measures)}
		sum := int64(0) // at most what runs on the node, which is an int64
		for i := range s.items {
			for _, p := range s.items[i].pods {
				row.frees[i] += trial.Frees(r, p)
			}
			sum += row.frees[i]
		}
		if row.missing += sum; row.missing <= 0 {
			continue // gap is not above zero: it fits
		}
		if spare := min(bits.LeadingZeros64(uint64(sum))-2, maxSpare); spare > 0 {
			row.missing <<= spare
			for i := range row.frees {
				row.frees[i] <<= spare
			}
		}
		b.rows = append(b.rows, row)
	}
	return b
}

// maxSpare is how many bits amounts are shifted at most, so that prices, which are
// whole, are fine enough.
const maxSpare = 30

// weight is what item i adds to measure m.
func (b *bounds) weight(m, i int) int64 {
	if m < len(b.s.Caps) {
		return b.s.weight[m][i]
	}
	return b.s.price[i]
}

// evict books that item i is out for good, spare that it is not.
func (b *bounds) evict(i int) {
	for r := range b.rows {
		b.rows[r].missing -= b.rows[r].frees[i]
	}
}

func (b *bounds) spare(i int) {
	for r := range b.rows {
		b.rows[r].missing += b.rows[r].frees[i]
	}
}

// promising reports whether the items from position i on may free what is missing,
// within the caps and cheaply enough.
func (b *bounds) promising(i int) bool {
	for c := range b.s.Caps {
		b.left[c] = b.s.Caps[c].Room - b.s.used[c]
	}
	if b.left[len(b.s.Caps)] = math.MaxInt64; b.s.atMost < math.MaxInt64 { // or else any price will do: they saturate
		b.left[len(b.s.Caps)] = b.s.atMost - b.s.cost
	}
	if b.left[len(b.s.Caps)] < 0 {
		return false
	}
	for r := range b.rows {
		if row := &b.rows[r]; row.missing > 0 && !b.covers(row, i) {
			return false
		}
	}
	return true
}

// covers reports whether the items from position i on may free what is missing in a row.
func (b *bounds) covers(row *row, i int) bool {
	for j := i; j < len(b.frees); j++ {
		b.frees[j] = min(row.frees[j], row.missing)
		if b.s.stuck[j] {
			b.frees[j] = 0
		}
	}
	b.s.look(len(b.frees) - i)
	bound := b.bound(row, i)
	for range passes {
		if bound < row.missing {
			return false
		}
		before := bound
		for m := range row.price {
			b.adjust(row, m, i)
		}
		b.s.look(2 * (len(b.frees) - i))
		if bound = b.bound(row, i); bound >= before {
			break
		}
	}
	return bound >= row.missing
}

// passes is how often prices are adjusted before a bound is taken as it is.
const passes = 3

// bound is how much the items from position i on free at most, by the prices of a row.
func (b *bounds) bound(row *row, i int) int64 {
	sum := int64(0)
	for m, price := range row.price {
		if price > 0 {
			sum = checked.Add(sum, checked.Mul(price, b.left[m]))
		}
	}
	for j := i; j < len(b.frees); j++ {
		sum = checked.Add(sum, max(b.beyond(row, j, -1), 0))
	}
	return sum
}

// beyond is what item j frees beyond the price of what it uses of the measures but for
// one; at most 0 if that is nothing.
func (b *bounds) beyond(row *row, j, except int) int64 {
	worth := b.frees[j]
	for _, u := range b.uses[j] {
		if worth <= 0 {
			return 0
		}
		if price := row.price[u.measure]; price > 0 && u.measure != except {
			worth -= min(checked.Mul(price, u.weight), worth)
		}
	}
	return worth
}

// adjust sets the price of measure m to what makes the bound least while the others
// stay: the items that free most for what they use of it get all that is left, and the
// first one that gets none, or a part, says what it is worth.
func (b *bounds) adjust(row *row, m, i int) {
	row.price[m] = 0
	b.bidders = b.bidders[:0]
	for _, j := range b.by[m] {
		if j < i {
			continue
		}
		if worth := b.beyond(row, j, m); worth > 0 {
			b.bidders = append(b.bidders, bidder{worth, b.weight(m, j)})
		}
	}
	left := b.left[m]
	if checked.Mul(int64(len(b.bidders)), b.most[m]) <= left {
		return
	}
	slices.SortFunc(b.bidders, func(x, y bidder) int { return compareRatios(y.worth, y.weight, x.worth, x.weight) })
	for _, x := range b.bidders {
		if x.weight > left {
			row.price[m] = x.worth / x.weight
			return
		}
		left -= x.weight
	}
}

// compareRatios compares a/b and c/d, which are not below zero.
func compareRatios(a, b, c, d int64) int {
	hi, lo := bits.Mul64(uint64(a), uint64(d))
	hi2, lo2 := bits.Mul64(uint64(c), uint64(b))
	switch {
	case hi != hi2:
		if hi < hi2 {
			return -1
		}
		return 1
	case lo < lo2:
		return -1
	case lo > lo2:
		return 1
	}
	return 0
}
