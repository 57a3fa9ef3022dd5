package victims

import (
	"cmp"
	"math/bits"
	"slices"
)

// Marked is a unit with a number that is of no account to [Sorter.Sort].
type Marked struct {
	Unit UnitID
	Mark int32
}

// Sorter sorts lists of units. Its buffers are reused. Not safe for concurrent
// use.
type Sorter struct {
	list, spare []sortKey
	short       []uint64
	units       []Marked
}

// sortKey is what [Units.Compare] looks at first, smaller is more important.
type sortKey struct {
	key uint64
	Marked
}

const keyBits = 64

// The digits of a radix sort.
const (
	digitBits = 11
	digits    = 1 << digitBits
)

// shortList is up to how many units a sort that compares keys is faster. The place of
// a unit has shortBits.
const (
	shortList = 200
	shortBits = 8
)

// Sort sorts list by importance, as [Units.Compare] does. O(k) for k units that
// differ in priority or start.
func (s *Sorter) Sort(us *Units, list []Marked) {
	if len(list) < 2 {
		return
	}
	width := keyBits + 1
	if us.by.Order == nil && !us.ranked() {
		width = s.pack(us, list)
	}
	switch {
	case width > keyBits:
		slices.SortFunc(list, func(a, b Marked) int { return us.Compare(a.Unit, b.Unit) })
		return
	case len(list) > shortList:
		s.radix()
	case width+shortBits <= keyBits:
		s.compare()
	default:
		slices.SortFunc(s.list, func(a, b sortKey) int { return cmp.Compare(a.key, b.key) })
	}
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

// sort is Sort for units without numbers.
func (s *Sorter) sort(us *Units, list []UnitID) {
	s.units = s.units[:0]
	for _, u := range list {
		s.units = append(s.units, Marked{Unit: u})
	}
	s.Sort(us, s.units)
	for i := range list {
		list[i] = s.units[i].Unit
	}
}

// compare sorts s.list by key, of which the highest shortBits are zero, and place:
// both in one number.
func (s *Sorter) compare() {
	s.short = s.short[:0]
	for i := range s.list {
		s.short = append(s.short, s.list[i].key<<shortBits|uint64(i))
	}
	slices.Sort(s.short)
	s.spare = slices.Grow(s.spare[:0], len(s.list))[:len(s.list)]
	for i, key := range s.short {
		s.spare[i] = s.list[key&(1<<shortBits-1)]
	}
	s.list, s.spare = s.spare, s.list
}

// pack makes one key of worth and start, of the bits in which units of list differ;
// and returns how many these are; none if they are more than keyBits.
func (s *Sorter) pack(us *Units, list []Marked) (width int) {
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
	starting := max(to-from, 0)
	if width = max(high-low, 0) + starting; width > keyBits {
		return width
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
			key |= ^u.worth() << (64 - high) >> (64 - high + low) << starting
		}
		s.list[i] = sortKey{key, m}
	}
	return width
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
