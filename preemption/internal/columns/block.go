package columns

import (
	"math"
	"math/bits"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// BlockSize is how many nodes a Block has.
const BlockSize = 64

// Block is the part of the Levels for BlockSize nodes in a row.
type Block struct {
	owner *owner

	// Plain and Odd say which nodes the columns hold for and which are odd, Open which
	// admit every pod: bit i is for the i-th node of the block. A hole is neither.
	Plain, Odd, Open uint64

	measured uint64 // those odd and open ones without nominated pods of which column 0 holds

	columns   []row                // by column and word: free room
	spans     []span               // of the columns
	offers    []row                // by word: what the nodes offer in all
	offered   []span               // of the offers
	largest   []row                // by column and word: the most that one of those who are gone asks for, of each resource
	changes   int                  // since the spans were as narrow as can be
	lowest    [BlockSize]int32     // by node: the lowest level of a unit
	latest    [BlockSize]int64     // by node: the latest start of a unit of that level
	positions [BlockSize]positions // by node
}

// newBlock returns a block of holes.
func newBlock(o *owner, columns int, guards []uint64) *Block {
	words := len(guards)
	b := &Block{
		owner:   o,
		columns: make([]row, columns*words), spans: make([]span, columns*words),
		offers: make([]row, words), offered: make([]span, words), largest: make([]row, columns*words),
	}
	for i := range b.spans {
		b.spans[i] = empty(guards[i%words])
	}
	for w := range b.offered {
		b.offered[w] = empty(guards[w])
	}
	return b
}

// close makes node i of the block odd, and returns 1 if it was not.
func (b *Block) close(i int, open bool) int {
	more := 1 - b.vacate(i)
	b.Odd |= 1 << i
	if open {
		b.Open |= 1 << i
	}
	return more
}

// vacate makes node i of the block a hole, and returns 1 if it was odd.
func (b *Block) vacate(i int) int {
	bit := uint64(1) << i
	was := int(b.Odd >> i & 1)
	b.Plain, b.Odd, b.Open, b.measured = b.Plain&^bit, b.Odd&^bit, b.Open&^bit, b.measured&^bit
	return was
}

// open makes node i of the block, which is odd, plain, with units of these levels, asks and
// starts; bounds are the levels of the columns. It returns 1.
func (b *Block) open(i int, levels, bounds []int32, asks, started, guards []uint64) int {
	bit, words := uint64(1)<<i, len(guards)
	for w, guards := range guards {
		largest, g := empty(guards), len(levels)-1
		for c, bound := range bounds {
			for ; g >= 0 && levels[g] <= bound; g-- {
				if ask := asks[g*words+w]; (largest.most-ask)&guards != guards {
					largest.widen(ask, guards)
				}
			}
			b.largest[(c+1)*words+w][i] = largest.most &^ guards
		}
	}
	b.Plain, b.Odd = b.Plain|bit, b.Odd&^bit
	b.lowest[i], b.latest[i] = math.MaxInt32, math.MinInt64
	for g := len(levels) - 1; g >= 0 && levels[g] <= b.lowest[i]; g-- {
		b.lowest[i], b.latest[i] = levels[g], max(b.latest[i], int64(started[g]))
	}
	return 1
}

// Beats reports whether node i, which is plain, may be better than a node where one pod
// has to go, with that score, or as good where it wins ties. It says yes where it can't tell.
func (b *Block) Beats(s *victims.Score, i int, ties bool) bool {
	return b.lowest[i] < s.Highest || b.lowest[i] == s.Highest && (b.latest[i] > s.Started || ties && b.latest[i] == s.Started)
}

// put writes column c of node i.
func (b *Block) put(c, i int, room, guards []uint64) {
	at := c * len(room)
	for w, v := range room {
		b.columns[at+w][i] = v
		b.spans[at+w].widen(v, guards[w])
	}
}

// offer writes what node i offers in all.
func (b *Block) offer(i int, room, guards []uint64) {
	for w, v := range room {
		b.offers[w][i] = v
		b.offered[w].widen(v, guards[w])
	}
}

// mostChanges is after how many changes of nodes the spans of a block are made anew.
const mostChanges = 4 * BlockSize

// changed notes a change, and narrows the spans once in a while.
func (b *Block) changed(guards []uint64) {
	if b.changes++; b.changes < mostChanges {
		return
	}
	b.changes = 0
	for i := range b.columns {
		set := b.Plain
		if i < len(guards) {
			set |= b.measured
		}
		b.spans[i] = narrow(&b.columns[i], guards[i%len(guards)], set)
	}
	for w := range b.offers {
		b.offered[w] = narrow(&b.offers[w], guards[w], b.Plain)
	}
}

// narrow is the span of r, for the nodes of set, as narrow as can be.
func narrow(r *row, guards, set uint64) span {
	s := empty(guards)
	for ; set != 0; set &= set - 1 {
		s.widen(r[bits.TrailingZeros64(set)], guards)
	}
	return s
}

// Fit returns those nodes of within, of which column c holds, where a fits into it.
func (b *Block) Fit(a *Ask, c int, within uint64) uint64 {
	at := c * len(a.Words)
	for w, guards := range a.Guards {
		if within == 0 {
			break
		}
		within = b.spans[at+w].fit(&b.columns[at+w], a.Words[w], guards, within)
	}
	return within
}

// fitOne reports whether a fits into column c of node i.
func (b *Block) fitOne(a *Ask, c, i int) bool {
	at := c * len(a.Words)
	for w, ask := range a.Words {
		if (b.columns[at+w][i]-ask)&a.Guards[w] != a.Guards[w] {
			return false
		}
	}
	return true
}

// fewest raises units, by node of set, to a bound from below for how many units have to go from there, so that a fits beside those who
// are gone from column c: as if each freed as much as the largest of those who are gone from column last. With all of those gone a has to fit.
func (b *Block) fewest(units *[BlockSize]uint64, a *Ask, l *Lanes, c, last int, set uint64) {
	at, largest := c*len(a.Words), last*len(a.Words)
	for w, ask := range a.Words {
		rooms, gone := &b.columns[at+w], &b.largest[largest+w]
		for missing := a.Guards[w] &^ (b.spans[at+w].least - ask); missing != 0; missing &= missing - 1 { // from some node
			lane := &l.lane[l.first[w][bits.TrailingZeros64(missing)]]
			shift, most := lane.shift&63, uint64(lane.most)
			asks := ask >> shift & most
			for left := set; left != 0; left &= left - 1 {
				i := bits.TrailingZeros64(left) % BlockSize
				frees := max(gone[i]>>shift&most, 1)
				lacks := uint64(max(int64(asks-rooms[i]>>shift&most), 0))
				units[i] = max(units[i], (lacks+frees-1)/frees)
			}
		}
	}
}

// TooSmall reports whether node i offers less than a asks for, the number of pods
// apart.
func (b *Block) TooSmall(a *Ask, i int) bool {
	for w, ask := range a.Words {
		if (b.offers[w][i]-ask)&a.need[w] != a.need[w] {
			return true
		}
	}
	return false
}

// Explain counts, for nodes of set, which are plain, that a does not fit into column c
// of, the first resource that is short: in tooSmall with nobody gone if the node offers
// too little in all, in short otherwise. Nodes without a unit below a priority are not
// in short; it returns their number.
func (b *Block) Explain(a *Ask, l *Lanes, c int, set uint64, below int32, short, tooSmall []int) (nobody int) {
	offered := set
	for w, need := range a.need {
		offered = b.offered[w].fit(&b.offers[w], a.Words[w], need, offered)
	}
	b.countShort(a, l, 0, set&^offered, tooSmall)
	var empty uint64
	for left := offered; left != 0; left &= left - 1 {
		if i := bits.TrailingZeros64(left); b.lowest[i] >= below {
			empty |= 1 << i
		}
	}
	b.countShort(a, l, c, offered&^empty, short)
	return bits.OnesCount64(empty)
}

// countShort counts the first resource that a lacks in column c, for each node of set,
// which are plain.
func (b *Block) countShort(a *Ask, l *Lanes, c int, set uint64, counts []int) {
	at := c * len(a.Words)
	for w, ask := range a.Words {
		for guards := a.Guards[w]; guards != 0 && set != 0; guards &= guards - 1 {
			fits := b.spans[at+w].fit(&b.columns[at+w], ask, guards&-guards, set)
			if lack := bits.OnesCount64(set &^ fits); lack > 0 {
				counts[l.first[w][bits.TrailingZeros64(guards)]] += lack
			}
			set = fits
		}
	}
	if set != 0 {
		panic("victims: nothing is short")
	}
}

// Short returns the first resource that a lacks in column c of node i.
func (b *Block) Short(a *Ask, l *Lanes, c, i int) cluster.ResourceID {
	at := c * len(a.Words)
	for w, ask := range a.Words {
		if missing := ^(b.columns[at+w][i] - ask) & a.Guards[w]; missing != 0 {
			return cluster.ResourceID(l.first[w][bits.TrailingZeros64(missing)])
		}
	}
	panic("victims: nothing is short")
}

// Shorts is how many resources a lacks in column c of node i.
func (b *Block) Shorts(a *Ask, c, i int) int {
	at, shorts := c*len(a.Words), 0
	for w, ask := range a.Words {
		shorts += bits.OnesCount64(^(b.columns[at+w][i] - ask) & a.Guards[w])
	}
	return shorts
}

// FreeAtMost is a bound from above for what column c of node i has of resource r, by
// less than a grain if that is not below zero.
func (b *Block) FreeAtMost(l *Lanes, c, i int, r cluster.ResourceID) int64 {
	at := &l.lane[r]
	room := b.columns[c*l.words+at.word][i] >> at.shift & uint64(at.most)
	return (int64(room)+1)*at.grain - 1
}

// Lowest is the first column that a fits into on node i, of those up to c; c+1 if it
// fits into none of them. Higher columns have no less room.
func (b *Block) Lowest(a *Ask, c, i int) int {
	if !b.fitOne(a, c, i) {
		return c + 1
	}
	lo, hi := -1, c // it fits into hi, and not into lo
	for lo+1 < hi {
		if mid := (lo + hi) / 2; b.fitOne(a, mid, i) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
