package checked

import (
	"cmp"
	"math"
	"math/bits"
)

// Add is a+b.
func Add(a, b int64) int64 {
	sum := a + b
	if (sum < a) != (b < 0) {
		return end(b < 0)
	}
	return sum
}

// Sub is a-b.
func Sub(a, b int64) int64 {
	diff := a - b
	if (diff > a) != (b < 0) {
		return end(b > 0)
	}
	return diff
}

// end is the end of int64 below zero, or above.
func end(below bool) int64 {
	if below {
		return math.MinInt64
	}
	return math.MaxInt64
}

// Mul is a*b. Neither is below zero.
func Mul(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// MulDiv is a*b/c, rounded down, and whether that leaves a rest. a and b are not below
// zero, c is above.
func MulDiv(a, b, c int64) (quotient int64, rest bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return math.MaxInt64, false
	}
	q, r := bits.Div64(hi, lo, uint64(c))
	if q > math.MaxInt64 {
		return math.MaxInt64, false
	}
	return int64(q), r > 0
}

// CompareProducts compares a*b with c*d; none is below zero.
func CompareProducts(a, b, c, d int64) int {
	high, low := bits.Mul64(uint64(a), uint64(b))
	otherHigh, otherLow := bits.Mul64(uint64(c), uint64(d))
	if high != otherHigh {
		return cmp.Compare(high, otherHigh)
	}
	return cmp.Compare(low, otherLow)
}

// GCD is the greatest common divisor of a and b, neither below zero; that of 0 and 0 is 0.
func GCD(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
