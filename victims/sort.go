package victims

import (
	"math/bits"
	"slices"
)

// Marked is a unit with a number that is of no account to [Sorter.Sort].
type Marked struct {
	Unit UnitID
	Mark int32
}

// Sorter sorts long lists of units. Its buffers are used again. Not safe for
// concurrent use.
type Sorter struct {
	list, spare []sortKey
}

// sortKey is what [Units.Compare] looks at first, smaller is more important.
type sortKey struct {
	key uint64
	Marked
}

// The digits of a radix sort.
const (
	digitBits = 11
	digits    = 1 << digitBits
)

// shortList is up to how many units comparing them is faster.
const shortList = 200

// Sort sorts list by importance, as [Units.Compare] does. O(k) for k units that
// differ in priority or start.
func (s *Sorter) Sort(us *Units, list []Marked) {
	if us.by.Order != nil || us.inside != nil || len(list) <= shortList || !s.pack(us, list) {
		slices.SortFunc(list, func(a, b Marked) int { return us.Compare(a.Unit, b.Unit) })
		return
	}
	s.radix()
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) && s.list[j].key == s.list[i].key {
			j++
		}
		if j > i+1 {
			slices.SortFunc(s.list[i:j], func(a, b sortKey) int { return us.Compare(a.Unit, b.Unit) })
		}
		i = j
	}
	for i := range list {
		list[i] = s.list[i].Marked
	}
}

// pack makes one key of worth and start, of the bits in which units of list differ;
// false if these are too many.
func (s *Sorter) pack(us *Units, list []Marked) bool {
	first := us.Unit(list[0].Unit)
	var worths, starts uint64
	for _, m := range list {
		u := us.Unit(m.Unit)
		worths |= u.worth() ^ first.worth()
		starts |= uint64(u.Started ^ first.Started)
	}
	// between the lowest and the highest bit that differ, all are taken
	low, high := bits.TrailingZeros64(worths|1<<63), bits.Len64(worths)
	from, to := bits.TrailingZeros64(starts|1<<63), bits.Len64(starts)
	width := max(to-from, 0)
	if max(high-low, 0)+width > 64 {
		return false
	}
	s.list = slices.Grow(s.list[:0], len(list))[:len(list)]
	for i, m := range list {
		u := us.Unit(m.Unit)
		key := uint64(u.Started) ^ 1<<63
		if to < 64 {
			key &= 1<<to - 1
		}
		key >>= from
		if high > low {
			key |= ^u.worth() << (64 - high) >> (64 - high + low) << width
		}
		s.list[i] = sortKey{key, m}
	}
	return true
}

// radix sorts s.list stably by key.
func (s *Sorter) radix() {
	s.spare = slices.Grow(s.spare[:0], len(s.list))[:len(s.list)]
	differ := uint64(0)
	for i := range s.list {
		differ |= s.list[i].key ^ s.list[0].key
	}
	for differ != 0 {
		shift := bits.TrailingZeros64(differ)
		var at [digits]int32
		for i := range s.list {
			at[s.list[i].key>>shift&(digits-1)]++
		}
		sum := int32(0)
		for d, n := range at {
			at[d], sum = sum, sum+n
		}
		for i := range s.list {
			d := s.list[i].key >> shift & (digits - 1)
			s.spare[at[d]] = s.list[i]
			at[d]++
		}
		s.list, s.spare = s.spare, s.list
		if shift+digitBits >= 64 {
			return
		}
		differ &^= 1<<(shift+digitBits) - 1
	}
}
