package columns

import (
	"math"
	"math/bits"

	"github.com/preempt-go/preempt/victims"
)

// violatingFirst tries the units that violate a budget first; false if more of them
// stay out than the bound has.
func (s *Sweep) violatingFirst(first, end victims.Position, l *loss) bool {
	s.fitsAt(first)
	limit := l.limit
	l.limit = math.MaxInt // of those that violate; others may stay out too
	var out PositionSet
	if len(s.free) == 1 && s.gate == nil {
		l.violations = s.violatingFirst1(first, end, limit, &out)
	} else {
		l.violations = s.violatingFirstN(first, end, limit, &out)
	}
	if l.violations > limit {
		return false
	}
	if l.bound != nil && l.violations < limit {
		l.bound = nil
	}
	for w, word := range out {
		for ; word != 0; word &= word - 1 {
			if !l.add(victims.Position(w*64 + bits.TrailingZeros64(word))) {
				return false
			}
		}
	}
	return true
}

// violatingFirst1 sets out to those who stay out where free room is one word wide,
// and returns how many of them violate a budget: if more than limit, those alone.
func (s *Sweep) violatingFirst1(first, end victims.Position, limit int, out *PositionSet) int {
	mask, guards, free := s.ask.masks[0], s.ask.Guards[0], s.free[0]
	asks, set := s.at.asks, s.violating.Of(s.node)
	violations := 0
	for w := first / 64; w <= (end-1)/64; w++ {
		for word := set[w]; word != 0; word &= word - 1 {
			g := w*64 + victims.Position(bits.TrailingZeros64(word))
			if left := free - asks[g]&mask; left&guards == guards {
				free = left
				continue
			}
			out[w] |= word & -word
			if violations++; violations > limit {
				return violations
			}
		}
	}
	for w := first / 64; w <= (end-1)/64; w++ {
		for word := between(w, first, end) &^ set[w]; word != 0; word &= word - 1 {
			g := w*64 + victims.Position(bits.TrailingZeros64(word))
			if left := free - asks[g]&mask; left&guards == guards {
				free = left
				continue
			}
			out[w] |= word & -word
		}
	}
	return violations
}

// violatingFirstN is violatingFirst1 for any number of words, through the gate.
func (s *Sweep) violatingFirstN(first, end victims.Position, limit int, out *PositionSet) int {
	set := s.violating.Of(s.node)
	violations := 0
	for g := first; g < end && violations <= limit; g++ {
		if set.Has(g) && !s.admits(g) {
			out[g/64] |= 1 << (g % 64)
			violations++
		}
	}
	for g := first; g < end && violations <= limit; g++ {
		if !set.Has(g) && !s.admits(g) {
			out[g/64] |= 1 << (g % 64)
		}
	}
	return violations
}
