package allot

import (
	"cmp"
	"math/bits"
)

// Price is several numbers, compared from the front.
type Price [5]int64

// Compare is below zero if p is less than o.
func (p *Price) Compare(o *Price) int {
	for j, v := range p {
		if c := cmp.Compare(v, o[j]); c != 0 {
			return c
		}
	}
	return 0
}

// Add is p+o.
func (p Price) Add(o Price) Price {
	for j, v := range o {
		p[j] += v
	}
	return p
}

// minus is p-o.
func (p Price) minus(o Price) Price {
	for j, v := range o {
		p[j] -= v
	}
	return p
}

// times is f*p.
func (p Price) times(f int64) Price {
	for j := range p {
		p[j] *= f
	}
	return p
}

// perSeat is the least whole price p for which f*p is not below this one; f is above zero.
func (p Price) perSeat(f int64) (whole Price) {
	for j, v := range p {
		if whole[j] = v / f; v%f != 0 {
			if v > 0 {
				whole[j]++
			}
			break // whatever the others are
		}
	}
	return whole
}

// fit reports whether prices up to most can be multiplied by factor, and added and compared
// afterwards; factor is above zero. Nothing below zero fits: as an uint64 it is too large.
func (p *Price) fit(factor int64) bool {
	for _, v := range p {
		if hi, lo := bits.Mul64(uint64(v), uint64(factor)); hi > 0 || lo >= 1<<61 {
			return false
		}
	}
	return true
}
