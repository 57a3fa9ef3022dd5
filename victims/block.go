package victims

import (
	"math"
	"math/bits"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// BlockSize is how many nodes a Block has.
const BlockSize = 64

// Block is the part of the Levels for BlockSize nodes in a row.
type Block struct {
	owner *owner

	// Plain and Odd say which nodes the columns hold for and which are odd, Open which
	// admit every pod: bit i is for the i-th node of the block.
	Plain, Odd, Open uint64

	columns []uint64         // by column, word and node: free room
	offers  []uint64         // by word and node: what the node offers in all
	lowest  [BlockSize]int32 // by node: the lowest level of a unit
}

// close makes node i of the block odd, and returns 1 if it was plain.
func (b *Block) close(i int, open bool) int {
	bit := uint64(1) << i
	was := int(b.Plain >> i & 1)
	b.Plain, b.Odd, b.Open = b.Plain&^bit, b.Odd|bit, b.Open&^bit
	if open {
		b.Open |= bit
	}
	return was
}

// open makes node i of the block, which is odd, plain, with units of these levels. It
// returns 1.
func (b *Block) open(i int, levels []int32) int {
	bit := uint64(1) << i
	b.Plain, b.Odd = b.Plain|bit, b.Odd&^bit
	b.lowest[i] = math.MaxInt32
	if len(levels) > 0 {
		b.lowest[i] = levels[len(levels)-1]
	}
	return 1
}

// put writes column c of node i.
func (b *Block) put(c, i int, room []uint64) {
	at := c * len(room) * BlockSize
	for w, v := range room {
		b.columns[at+w*BlockSize+i] = v
	}
}

// offer writes what node i offers in all.
func (b *Block) offer(i int, room []uint64) {
	for w, v := range room {
		b.offers[w*BlockSize+i] = v
	}
}

// Fit returns those nodes of within where a fits into column c.
func (b *Block) Fit(a *Ask, c int, within uint64) uint64 {
	words := len(a.Words)
	column := b.columns[c*words*BlockSize:][:words*BlockSize]
	for w, guards := range a.Guards {
		if guards == 0 {
			continue
		}
		if within == 0 {
			return 0
		}
		if few(within) {
			within = fitFew(column[w*BlockSize:][:BlockSize], a.Words[w], guards, within)
			continue
		}
		within &= fit((*[BlockSize]uint64)(column[w*BlockSize:]), a.Words[w], guards)
	}
	return within
}

// few reports whether it is cheaper to look at the nodes of set one by one.
func few(set uint64) bool { return bits.OnesCount64(set) < BlockSize/4 }

// fitFew returns which of room have enough for ask, of those in set.
func fitFew(room []uint64, ask, guards, set uint64) uint64 {
	for left := set; left != 0; left &= left - 1 {
		if i := bits.TrailingZeros64(left); (room[i]-ask)&guards != guards {
			set &^= 1 << i
		}
	}
	return set
}

// fit returns which of room have enough for ask.
func fit(room *[BlockSize]uint64, ask, guards uint64) uint64 {
	var fits uint64
	for i := BlockSize - 1; i >= 0; i-- {
		fits <<= 1
		if (room[i]-ask)&guards == guards {
			fits |= 1
		}
	}
	return fits
}

// FitOne reports whether a fits into column c of node i.
func (b *Block) FitOne(a *Ask, c, i int) bool {
	words := len(a.Words)
	column := b.columns[c*words*BlockSize+i:]
	for w, ask := range a.Words {
		if (column[w*BlockSize]-ask)&a.Guards[w] != a.Guards[w] {
			return false
		}
	}
	return true
}

// TooSmall reports whether node i offers less than a asks for, the number of pods
// apart.
func (b *Block) TooSmall(a *Ask, i int) bool {
	for w, ask := range a.Words {
		if (b.offers[w*BlockSize+i]-ask)&a.need[w] != a.need[w] {
			return true
		}
	}
	return false
}

// Explain counts, for nodes of set that a does not fit into column c of, the first
// resource that is short: in tooSmall with nobody gone if the node offers too little
// in all, in short otherwise. Nodes without a unit below a priority are not in short;
// it returns their number.
func (b *Block) Explain(a *Ask, l *Lanes, c int, set uint64, below int32, short, tooSmall []int) (nobody int) {
	offered := set
	for w, need := range a.need {
		if need != 0 && offered != 0 {
			offered &= fit((*[BlockSize]uint64)(b.offers[w*BlockSize:]), a.Words[w], need)
		}
	}
	for small := set &^ offered; small != 0; small &= small - 1 {
		tooSmall[b.Short(a, l, 0, bits.TrailingZeros64(small))]++
	}
	for ; offered != 0; offered &= offered - 1 {
		i := bits.TrailingZeros64(offered)
		if b.lowest[i] >= below {
			nobody++
		} else {
			short[b.Short(a, l, c, i)]++
		}
	}
	return nobody
}

// Short returns the first resource that a lacks in column c of node i.
func (b *Block) Short(a *Ask, l *Lanes, c, i int) cluster.ResourceID {
	words := len(a.Words)
	column := b.columns[c*words*BlockSize+i:]
	for w, ask := range a.Words {
		if missing := ^(column[w*BlockSize] - ask) & a.Guards[w]; missing != 0 {
			return cluster.ResourceID(l.first[w][bits.TrailingZeros64(missing)])
		}
	}
	panic("victims: nothing is short")
}

// Shorts is how many resources a lacks in column c of node i.
func (b *Block) Shorts(a *Ask, c, i int) int {
	words := len(a.Words)
	column := b.columns[c*words*BlockSize+i:]
	shorts := 0
	for w, ask := range a.Words {
		shorts += bits.OnesCount64(^(column[w*BlockSize] - ask) & a.Guards[w])
	}
	return shorts
}

// FreeAtMost is a bound from above for what column c of node i has of resource r, by
// less than a grain if that is not below zero.
func (b *Block) FreeAtMost(l *Lanes, c, i int, r cluster.ResourceID) int64 {
	at := &l.lane[r]
	room := b.columns[(c*l.words+at.word)*BlockSize+i] >> at.shift & uint64(at.most)
	return (int64(room)+1)*at.grain - 1
}

// Lowest is the first column that a fits into on node i, of those up to c; c+1 if it
// fits into none of them. Higher columns have no less room.
func (b *Block) Lowest(a *Ask, c, i int) int {
	if !b.FitOne(a, c, i) {
		return c + 1
	}
	lo, hi := -1, c // it fits into hi, and not into lo
	for lo+1 < hi {
		if mid := (lo + hi) / 2; b.FitOne(a, mid, i) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
