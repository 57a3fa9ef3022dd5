package columns

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Cost is the [domain.Price] of units of one node in two words: a node has at most
// mostPositions units, so that everything finds a place. The zero Cost is that
// of nobody.
type Cost struct {
	worst uint64 // the violations, then the highest priority, from 1 on; 0 for nobody
	sum   uint64 // the sum of the raised priorities, then the number of pods
}

// The lanes of a Cost.
const (
	highestBits = 33
	podBits     = 9
	lowest      = -1<<31 - 1
)

// Price is c as a price.
func (c Cost) Price() domain.Price {
	p := domain.Free
	if p.Pods = int64(c.pods()); p.Pods > 0 {
		p.Highest = int64(c.worst&(1<<highestBits-1)) + lowest
		p.Violations, p.Sum = int64(c.worst>>highestBits), int64(c.sum>>podBits)
	}
	return p
}

func (c Cost) pods() uint64 { return c.sum & (1<<podBits - 1) }

// Compare is below zero if c is less than o, as [domain.Price.Compare] says.
func (c Cost) Compare(o Cost) int {
	if c.worst != o.worst {
		return cmp.Compare(c.worst, o.worst)
	}
	return cmp.Compare(c.sum, o.sum)
}

// Hash spreads costs that differ over 64 bits.
func (c Cost) Hash() uint64 { return (c.worst ^ c.sum>>podBits) * 0x9e3779b97f4a7c15 >> 32 }

// Adds is what c adds to what a plan costs in which somebody of a priority goes already; see [domain.SeatQueue.Adds].
func (c Cost) Adds(highest int64) Cost {
	if int64(c.worst&(1<<highestBits-1))+lowest <= highest {
		c.worst &^= 1<<highestBits - 1
	}
	return c
}

// raised is what the loss of a pod of a priority adds to the sum of a Cost.
func raised(own int32) uint64 { return uint64(priority.Raised(own))<<podBits + 1 }

// AtLeast is a bound from below for Cost of k members on node n, which has room for them with those gone whom column last stands for,
// where nobody's loss does harm, nor is anything held. It reads blocks alone.
func (s *Seats) AtLeast(n cluster.NodeID, k int64, last int) Cost {
	i := n % BlockSize
	return s.AtLeastIn(int(n/BlockSize), 1<<i, k, last)[i]
}

// AtLeastIn is AtLeast for each node of set, of a block. It is good until the next call.
func (s *Seats) AtLeastIn(block int, set uint64, k int64, last int) *[BlockSize]Cost {
	return s.atLeast(block, set, s.asking(k, nil), last)
}

// AtLeastFor is AtLeast for members who ask for row together, by the first column up to last with room for them, if there is one.
func (s *Seats) AtLeastFor(n cluster.NodeID, row []int64, last int) (c Cost, room bool) {
	b, i := s.columns.levels.blocks[n/BlockSize], int(n%BlockSize)
	if b.Plain>>i&1 == 0 {
		return c, false
	}
	s.columns.Lanes().Pack(&s.other, row)
	first := b.Lowest(&s.other, last, i)
	if first > last {
		return c, false
	}
	return s.atLeast(int(n/BlockSize), 1<<i, &s.other, first)[i], true
}

func (s *Seats) atLeast(block int, set uint64, ask *Ask, last int) *[BlockSize]Cost {
	v, above := s.columns.levels, int32(math.MinInt32)
	for left := set; left != 0; left &= left - 1 {
		s.least[bits.TrailingZeros64(left)] = Cost{}
	}
	for column := 0; column < last && set != 0; column++ {
		for left := set; left != 0; left &= left - 1 {
			s.units[bits.TrailingZeros64(left)] = 0
		}
		v.blocks[block].fewest(&s.units, ask, s.columns.lanes, column, last, set)
		before := above
		above = v.Above(column + 1)
		gap := uint64(int64(above)-int64(before)) << podBits
		if column == 0 {
			gap++ // and nothing for what is least
		}
		for left := set; left != 0; left &= left - 1 {
			i := bits.TrailingZeros64(left)
			if units := s.units[i]; units > 0 {
				s.least[i].worst, s.least[i].sum = uint64(int64(above)-lowest), s.least[i].sum+units*gap
			} else {
				set &^= 1 << i
			}
		}
	}
	return &s.least
}

// Cost is what has to go on node n for k members, at most as many as there is room
// for with all potential victims gone. O(units).
func (s *Seats) Cost(n cluster.NodeID, k int64) Cost {
	var harm *PositionSet
	if s.harmed(n) {
		harm = s.harm(n)
	}
	if s.wide < 0 || harm != nil && !harm.Covers(s.Positions(n)) {
		return s.walk(n, k, harm)
	}
	a, at := s.asking(k, s.held(n)), s.columns.AtSimple(n)
	first, end := at.Below(s.below), victims.Position(len(at.Owns))
	if first == end {
		return Cost{}
	}
	words := len(a.Words)
	from := (end - 1) / stride
	for ; from > first/stride && !a.Fits(at.rooms[int(from)*words:][:words]); from-- {
	}
	room, asks, owns := at.rooms[int(from)*words:][:words], at.asks[int(from)*words*stride:], at.Owns[from*stride:]
	var c Cost
	if w := s.wide; s.narrow {
		c = back1(a, w, room[w], asks[w:], owns)
	} else {
		c = back2(a, room, asks, owns)
	}
	if harm != nil { // everybody's loss does harm
		c.worst |= c.pods() << highestBits
	}
	return c
}

// walk is Cost, unit by unit: first those of harm, which may be nil.
func (s *Seats) walk(n cluster.NodeID, k int64, harm *PositionSet) (c Cost) {
	s.ask(n, k)
	s.start()
	violations, highest := uint64(0), int64(lowest)
	for _, first := range []bool{true, false} {
		for w := s.first / 64; w*64 < s.end; w++ {
			set := between(w, s.first, s.end)
			switch {
			case harm != nil && first:
				set &= harm[w]
			case harm != nil:
				set &^= harm[w]
			case first:
				set = 0
			}
			for ; set != 0; set &= set - 1 {
				g := w*64 + victims.Position(bits.TrailingZeros64(set))
				if s.returns(g) {
					continue
				}
				c.sum += raised(s.at.Owns[g])
				highest = max(highest, int64(s.at.Owns[g]))
				if first {
					violations++
				}
			}
		}
	}
	c.worst = violations<<highestBits | uint64(highest-lowest)
	return c
}

// back1 gives units back where word w of a is all that members ask for: asks begins with
// that word of the first unit's.
func back1(a *Ask, w int, room uint64, asks []uint64, owns []int32) (c Cost) {
	mask, guards, words := a.masks[w], a.Guards[w], len(a.Words)
	free := room - a.Words[w] | a.Rest[w]
	for g, i := 0, 0; g < len(owns); g, i = g+1, i+words {
		left := free - asks[i]&mask
		if left&guards != guards {
			return Cost{uint64(int64(owns[g]) - lowest), lost1(free, mask, guards, asks[i:], owns[g:], words)}
		}
		free = left
	}
	return Cost{}
}

// lost1 is the sum of the Cost of those who find no room. There is no jump on that,
// which nobody could foretell.
func lost1(free, mask, guards uint64, asks []uint64, owns []int32, words int) (sum uint64) {
	i := 0
	for _, own := range owns {
		left, loss := free-asks[i]&mask, raised(own)
		short := guards &^ left
		if short == 0 {
			free = left
		}
		if short == 0 {
			loss = 0
		}
		sum += loss
		i += words
	}
	return sum
}

// back2 gives units back where asks are two words wide.
func back2(a *Ask, room, asks []uint64, owns []int32) Cost {
	mask0, guards0, mask1, guards1 := a.masks[0], a.Guards[0], a.masks[1], a.Guards[1]
	free0, free1 := room[0]-a.Words[0]|a.Rest[0], room[1]-a.Words[1]|a.Rest[1]
	asks = asks[:2*len(owns)]
	g := 0
	for ; g < len(owns); g++ {
		left0, left1 := free0-asks[2*g]&mask0, free1-asks[2*g+1]&mask1
		if left0&guards0 != guards0 || left1&guards1 != guards1 {
			break
		}
		free0, free1 = left0, left1
	}
	if g == len(owns) {
		return Cost{}
	}
	c := Cost{worst: uint64(int64(owns[g]) - lowest)}
	for ; g < len(owns); g++ {
		left0, left1, loss := free0-asks[2*g]&mask0, free1-asks[2*g+1]&mask1, raised(owns[g])
		short := guards0&^left0 | guards1&^left1
		if short == 0 {
			free0 = left0
		}
		if short == 0 {
			free1 = left1
		}
		if short == 0 {
			loss = 0
		}
		c.sum += loss
	}
	return c
}
