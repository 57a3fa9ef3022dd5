package columns

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Price is what has to go on node n, where there is nobody else, for one member. It comes to
// Cost, and is followed by Span.
func (s *Seats) Price(n cluster.NodeID) domain.Price {
	s.ask(n, 1)
	if s.first == s.end {
		s.start()
		s.settle(s.end, nil)
		return domain.Free
	}
	from, room := s.reach()
	s.take(room)
	s.settle(from, nil)
	price := domain.Free
	for _, g := range s.out {
		s.charge(&price, g)
	}
	return price
}

// settle gives the units of a node from a position on back, in order, into the free room, but those who
// are gone anyhow; nil: nobody is. It leaves in s.out who does not return, and in s.lack how much less
// would have to be asked for.
func (s *Seats) settle(from victims.Position, gone func(victims.Position) bool) {
	l, words := s.columns.Lanes(), len(s.free)
	s.out = s.out[:0]
	s.lack = slices.Grow(s.lack[:0], len(l.lane))[:len(l.lane)]
	for r := range s.lack {
		s.lack[r] = math.MaxInt64
	}
	for g := from; g < s.end; g++ {
		ask := s.at.asks[int(g)*words:][:words]
		short, at := uint64(0), 0
		for w := range ask {
			if short = s.now.Guards[w] &^ (s.free[w] - ask[w]&s.now.masks[w]); short != 0 {
				at = w
				break
			}
		}
		switch {
		case gone != nil && gone(g):
			s.out = append(s.out, g)
		case short == 0:
			for w, v := range ask {
				s.free[w] -= v & s.now.masks[w]
			}
		default:
			s.out = append(s.out, g)
			r := l.first[at][bits.TrailingZeros64(short)]
			lane := &l.lane[r]
			most := uint64(lane.most)
			s.lack[r] = min(s.lack[r], int64(ask[at]>>lane.shift&most-s.free[at]>>lane.shift&most))
		}
	}
}

// Span sets span to between what asks, packed, the same units go on the node for which Price or Out
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
