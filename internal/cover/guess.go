package cover

import "math/bits"

// guess looks for a better set around the one that the bound is about: what is missing is
// added where it costs least, and what is not needed left out.
func (s *solver) guess() {
	set := s.buffer
	missing := append(s.guessed[:0], s.need...)
	s.guessed = missing
	for i := range set {
		set[i] = s.state[i] == chosen || s.state[i] == free && s.reduced[i] < 0
		if set[i] && s.state[i] == free {
			for r, row := range s.Frees {
				missing[r] -= row[i]
			}
		}
	}
	for lacks(missing) {
		i := s.cheapest(set, missing)
		if i < 0 {
			return
		}
		set[i] = true
		for r, row := range s.Frees {
			missing[r] -= row[i]
		}
	}
	for {
		i := s.needless(set, missing)
		if i < 0 {
			break
		}
		set[i] = false
		for r, row := range s.Frees {
			missing[r] += row[i]
		}
	}
	s.judge(set)
}

func lacks(missing []int64) bool {
	for _, v := range missing {
		if v > 0 {
			return true
		}
	}
	return false
}

// cheapest is the free item outside of set that costs least for what it frees of what is
// missing, -1 if none frees any.
func (s *solver) cheapest(set []bool, missing []int64) int {
	at, price, frees := -1, int64(0), int64(0)
	for i := s.n - 1; i >= 0; i-- {
		if set[i] || s.state[i] != free {
			continue
		}
		sum := int64(0)
		for r, row := range s.Frees {
			if missing[r] > 0 {
				sum += shiftTo(s.Need[r]).ceil(min(row[i], missing[r]))
			}
		}
		if v := max(s.reduced[i], 0); sum > 0 && (at < 0 || less(v, sum, price, frees)) {
			at, price, frees = i, v, sum
		}
	}
	return at
}

// less reports whether a/b < c/d. None is below zero.
func less(a, b, c, d int64) bool {
	hi, lo := bits.Mul64(uint64(a), uint64(d))
	hi2, lo2 := bits.Mul64(uint64(c), uint64(b))
	return hi < hi2 || hi == hi2 && lo < lo2
}

// needless is the dearest free item of set that need not be in it, the first among equals;
// -1 if there is none.
func (s *solver) needless(set []bool, missing []int64) int {
	at, price := -1, int64(-1)
next:
	for i := range s.n {
		if !set[i] || s.state[i] != free || s.priceOf(i) <= price {
			continue
		}
		for r, row := range s.Frees {
			if missing[r]+row[i] > 0 {
				continue next
			}
		}
		at, price = i, s.priceOf(i)
	}
	return at
}
