package quota

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Precision says how shares are compared.
type Precision int8

// The precisions. Kueue's is the one exception to "no floats": it is there to
// give its answers where two shares differ by less than a float64 can hold.
const (
	Exact      Precision = iota // as fractions
	KueueFloat                  // in float64, in Kueue's order of operations
)

// Share is how much a holder borrows of its dominant resource, in relation to
// what its cohort could lend and to its weight. The zero Share is that of a
// holder that borrows nothing.
type Share struct {
	borrowed, lendable uint64 // of the dominant resource; both 0 if the ratio is
	weight             cluster.Weight
	borrows            bool

	precision    Precision
	ratio, value float64 // under KueueFloat
}

// Share returns the share of h as things stand; of a root the zero Share.
// O(columns).
func (u *Usage) Share(h HolderID, precision Precision) Share {
	t := u.t
	p := t.parent[h]
	if p == NoHolder {
		return Share{weight: t.weight[h], precision: precision}
	}
	s := Share{weight: t.weight[h], precision: precision}
	row := int(h) * t.numColumns
	lendable := t.lendable[int(p)*t.numResources:][:t.numResources]
	for r := range t.numResources {
		borrowed := int64(0)
		for c := range t.numColumns {
			if at := row + c; int(t.resource[c]) == r && t.known[at] {
				borrowed = Add(borrowed, Above(u.used[at], t.subtree[at]))
			}
		}
		if borrowed > 0 {
			s.take(borrowed, lendable[r])
		}
	}
	if precision == KueueFloat && s.ratio > 0 {
		s.value = math.Inf(1)
		if s.weight != 0 {
			s.value = s.ratio / weightFloat(s.weight)
		}
	}
	return s
}

// take keeps the larger of two ratios.
func (s *Share) take(borrowed, lendable int64) {
	s.borrows = true
	if lendable <= 0 {
		return
	}
	s.ratio = max(s.ratio, float64(borrowed)*1000.0/float64(lendable))
	hi1, lo1 := bits.Mul64(uint64(borrowed), s.lendable)
	hi2, lo2 := bits.Mul64(s.borrowed, uint64(lendable))
	if s.lendable == 0 || cmp.Or(cmp.Compare(hi1, hi2), cmp.Compare(lo1, lo2)) > 0 {
		s.borrowed, s.lendable = uint64(borrowed), uint64(lendable)
	}
}

// Borrows reports whether the holder borrows of any resource, be there something
// to lend or not.
func (s *Share) Borrows() bool { return s.borrows }

// Infinite reports whether the holder borrows with weight 0: any borrowing is too much.
func (s *Share) Infinite() bool { return s.weight == 0 && s.borrowed > 0 }

// Compare orders shares: an infinite one is above all others, two of them go by
// what is borrowed alone. Both must have the same precision.
func (s *Share) Compare(o *Share) int {
	switch {
	case s.Infinite() && o.Infinite():
		if s.precision == KueueFloat {
			return cmp.Compare(s.ratio, o.ratio)
		}
		return product(s.borrowed, o.lendable, 1).compare(product(o.borrowed, s.lendable, 1))
	case s.Infinite():
		return 1
	case o.Infinite():
		return -1
	case s.precision == KueueFloat:
		return cmp.Compare(s.value, o.value)
	case s.borrowed == 0 || o.borrowed == 0 || s.lendable == o.lendable && s.weight == o.weight:
		return cmp.Compare(s.borrowed, o.borrowed)
	}
	return product(s.borrowed, o.lendable, uint64(o.weight)).compare(product(o.borrowed, s.lendable, uint64(s.weight)))
}

// PerMille is the share in thousandths, rounded up, as Kueue publishes it: the
// largest int64 for an infinite share.
func (s *Share) PerMille() int64 {
	switch {
	case s.borrowed == 0:
		return 0
	case s.Infinite():
		return math.MaxInt64
	}
	// borrowed/lendable × 1000 × 10⁹/weight
	num := product(s.borrowed, 1000, uint64(cluster.OneWeight))
	hi, lo := bits.Mul64(s.lendable, uint64(s.weight))
	return num.ceilDiv(hi, lo)
}

// weightFloat is w as Kueue reads it from a quantity: an integer and a power of
// ten, in steps of a thousand, as large as leaves it an integer.
func weightFloat(w cluster.Weight) float64 {
	exponent := -9
	for exponent < 0 && w%1000 == 0 {
		w /= 1000
		exponent += 3
	}
	if exponent == 0 {
		return float64(w)
	}
	return float64(w) * math.Pow10(exponent)
}
