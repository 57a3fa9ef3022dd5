package allot

import "math/bits"

// Price is several numbers, compared from the front.
type Price [5]int64

// Compare is below zero if p is less than o.
func (p *Price) Compare(o *Price) int {
	for j, v := range p {
		if v != o[j] {
			if v < o[j] {
				return -1
			}
			return 1
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
// afterwards.
func (p *Price) fit(factor int64) bool {
	for _, v := range p {
		if hi, lo := bits.Mul64(uint64(v), uint64(factor)); v < 0 || hi > 0 || lo >= 1<<61 {
			return false
		}
	}
	return true
}
