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
	worth, started uint64
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
	if us.by.Order != nil || us.inside || len(list) <= shortList {
		slices.SortFunc(list, func(a, b Marked) int { return us.Compare(a.Unit, b.Unit) })
		return
	}
	s.list = s.list[:0]
	var worths, starts uint64 // bits in which some differ from the first
	for _, m := range list {
		u := &us.units[m.Unit]
		key := sortKey{^u.worth, uint64(u.Started) ^ 1<<63, m}
		s.list = append(s.list, key)
		worths |= key.worth ^ s.list[0].worth
		starts |= key.started ^ s.list[0].started
	}
	s.spare = slices.Grow(s.spare[:0], len(list))[:len(list)]
	s.radix(starts, func(k *sortKey) uint64 { return k.started })
	s.radix(worths, func(k *sortKey) uint64 { return k.worth })
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) && s.list[j].worth == s.list[i].worth && s.list[j].started == s.list[i].started {
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

// radix sorts s.list stably by a key of which only the bits of differ differ.
func (s *Sorter) radix(differ uint64, key func(*sortKey) uint64) {
	for differ != 0 {
		shift := bits.TrailingZeros64(differ)
		var at [digits]int32
		for i := range s.list {
			at[key(&s.list[i])>>shift&(digits-1)]++
		}
		sum := int32(0)
		for d, n := range at {
			at[d], sum = sum, sum+n
		}
		for i := range s.list {
			d := key(&s.list[i]) >> shift & (digits - 1)
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
