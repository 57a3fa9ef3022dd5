package columns

import "math/bits"

// row is one word of a column, for the nodes of a block: free room, packed with guards.
type row = [BlockSize]uint64

// span bounds a row, lane by lane: no room in it is below least, and none above most.
// It may be wider than need be, as a room that changes only widens it.
type span struct{ least, most uint64 }

// empty is the span of a row without rooms.
func empty(guards uint64) span { return span{least: ^uint64(0), most: guards} }

// widen makes s bound room too.
func (s *span) widen(room, guards uint64) {
	if (s.most-room&^guards)&guards == guards && (room-s.least&^guards)&guards == guards {
		return
	}
	low := uint64(0) // the bits below the lane
	for left := guards; left != 0; left &= left - 1 {
		guard := left & -left
		lane := (guard - 1) &^ low
		if room&lane > s.most&lane {
			s.most = s.most&^lane | room&lane
		}
		if room&lane < s.least&lane {
			s.least = s.least&^lane | room&lane
		}
		low = guard<<1 - 1
	}
}

// fit returns those of set with enough room for ask in r, which s bounds: enough in
// all lanes of guards.
func (s span) fit(r *row, ask, guards, set uint64) uint64 {
	switch {
	case (s.least-ask)&guards == guards:
		return set
	case (s.most-ask)&guards != guards:
		return 0
	case bits.OnesCount64(set) < BlockSize/4: // cheaper one by one
		for left := set; left != 0; left &= left - 1 {
			if i := bits.TrailingZeros64(left); (r[i]-ask)&guards != guards {
				set &^= 1 << i
			}
		}
		return set
	}
	var fits uint64
	for i := BlockSize - 1; i >= 0; i-- {
		fits <<= 1
		if (r[i]-ask)&guards == guards {
			fits |= 1
		}
	}
	return fits & set
}
