package columns

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// CostSettled is Cost of one member on node n, where nobody's loss does harm. It is followed by Span.
func (s *Seats) CostSettled(n cluster.NodeID) (c Cost) {
	s.ask(n, 1)
	if s.first == s.end {
		s.start()
		s.settle(s.end)
		return c
	}
	from, room := s.reach()
	s.take(room)
	s.settle(from)
	for i, g := range s.out {
		if i == 0 {
			c.worst = uint64(int64(s.at.Owns[g]) - lowest)
		}
		c.sum += raised(s.at.Owns[g])
	}
	return c
}

// settle is giveBack, and leaves in s.lack how much less would have to be asked for so that somebody
// would have returned.
func (s *Seats) settle(from victims.Position) {
	l, words := s.columns.Lanes(), len(s.free)
	s.lack = slices.Grow(s.lack[:0], len(l.lane))[:len(l.lane)]
	for r := range s.lack {
		s.lack[r] = math.MaxInt64
	}
	s.giveBack(from)
	for i, g := range s.out {
		ask, left := s.at.asks[int(g)*words:][:words], s.left[i*words:][:words]
		for w, guards := range s.now.Guards {
			if short := guards &^ (left[w] - ask[w]&s.now.masks[w]); short != 0 {
				r := l.first[w][bits.TrailingZeros64(short)]
				lane := &l.lane[r]
				most := uint64(lane.most)
				s.lack[r] = min(s.lack[r], int64(ask[w]>>lane.shift&most-left[w]>>lane.shift&most))
				break
			}
		}
	}
}

// Span sets span to between what asks, packed, the same units go on the node for which CostSettled or Out
// has told who goes, as far as that is known: from the first half of span to the second one. All that
// the member asks for has to be asked for, and nothing else.
func (s *Seats) Span(span []uint64) {
	clear(span)
	l := s.columns.Lanes()
	least, most := span[:l.words], span[l.words:]
	for r, v := range s.request {
		if v <= 0 {
			continue
		}
		at := &l.lane[r]
		ask := int64(s.one.Words[at.word] >> at.shift & uint64(at.most))
		left := int64(s.free[at.word] >> at.shift & uint64(at.most))
		least[at.word] |= uint64(max(1, ask-s.lack[r]+1)) << at.shift
		most[at.word] |= uint64(min(ask+left, at.most)) << at.shift
	}
}

// Only sets span to what one member asks for.
func (s *Seats) Only(span []uint64) {
	copy(span, s.one.Words)
	copy(span[len(s.one.Words):], s.one.Words)
}

// Void sets span to one in which nothing is.
func (s *Seats) Void(span []uint64) {
	clear(span)
	for w, guards := range s.columns.Lanes().guards {
		span[w] = ^guards
	}
}

// Within reports whether what one member asks for is in span.
func (s *Seats) Within(span []uint64) bool {
	words := len(s.one.Words)
	for w, guards := range s.columns.lanes.guards {
		ask := s.one.Words[w]
		if ((ask|guards)-span[w])&((span[words+w]|guards)-ask)&guards != guards {
			return false
		}
	}
	return true
}
