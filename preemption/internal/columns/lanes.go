package columns

import (
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Lanes says how a row of amounts is packed into few words, so that whether all of
// an ask fits is a subtraction and a test a word. Each resource has a lane: some
// bits for a multiple of its grain, and a guard bit above them, which a subtraction
// borrows if the lane is short. The resources stand in their order from the lowest
// lane of the first word on.
//
// It is exact: every pod asks for multiples of the grain and every node offers some, so
// that free room is one too, and only the ask of a pod to come is rounded, up.
type Lanes struct {
	words  int
	lane   []lane // by resource
	guards []uint64
	first  [][64]int16 // by word and bit of a guard: the resource
}

type lane struct {
	word  int
	shift uint
	most  int64 // what it can hold, in grains: more than any node offers
	grain int64
}

// grains is v in grains, rounded down. Most grains are 1, and a division costs as much
// as all the rest.
func (l *lane) grains(v int64) int64 {
	if l.grain == 1 {
		return v
	}
	return v / l.grain
}

// openEnded is how many pods a node can have that does not say.
const openEnded = 1<<31 - 1

// mostLanes is for how many resources there are lanes: the layout takes the square of
// that, and their numbers are kept in 16 bits.
const mostLanes = 1 << 10

// newLanes lays out the resources of ix; nil if an amount is too large for a lane, or if
// there are too many of them.
func newLanes(ix *cluster.Index) *Lanes {
	if ix.NumResources() > mostLanes {
		return nil
	}
	grains, largest := grainsOf(ix)
	widest := make([]int, len(grains)) // bits, with the guard
	for r := range grains {
		if largest[r] >= 1<<62 {
			return nil
		}
		widest[r] = bits.Len64(uint64(largest[r]/grains[r]+1)) + 1
	}
	words := numWords(widest)
	for r, g := range grains { // finer where that takes no further word: more pods to come will suit
		for _, finer := range []int64{1, 1 << 10, 1 << 20} {
			if g%finer != 0 {
				continue
			}
			coarse := widest[r]
			if widest[r] = bits.Len64(uint64(largest[r]/finer+1)) + 1; numWords(widest) <= words {
				grains[r] = finer
				break
			}
			widest[r] = coarse
		}
	}
	return layOut(grains, widest)
}

// grainsOf returns, for each resource, the largest number that every request and what
// every node offers are multiples of, and the largest amount that a node offers.
func grainsOf(ix *cluster.Index) (grains, largest []int64) {
	grains, largest = make([]int64, ix.NumResources()), make([]int64, ix.NumResources())
	parts := make([][]int64, parts(ix))
	ranges.Each(ix.NumPods(), len(parts), func(part, first, end int) {
		of := make([]int64, len(grains))
		for p := first; p < end; p++ {
			for r, v := range ix.Request(cluster.PodID(p)) {
				of[r] = grain(of[r], v)
			}
		}
		parts[part] = of
	})
	for _, of := range parts {
		for r, g := range of {
			grains[r] = grain(grains[r], g)
		}
	}
	for n := range cluster.NodeID(ix.NumNodes()) {
		for r, v := range ix.Allocatable(n) {
			if r == int(cluster.PodsColumn) && v > openEnded {
				v = openEnded
			}
			largest[r] = max(largest[r], v)
			grains[r] = grain(grains[r], v)
		}
	}
	for r := range grains {
		grains[r] = max(grains[r], 1)
	}
	return grains, largest
}

// grain is the largest number that g and v are multiples of; mostly that is g.
func grain(g, v int64) int64 {
	if g == 1 || v == 0 || g != 0 && v%g == 0 {
		return g
	}
	return checked.GCD(g, v)
}

// numWords is how many words lanes of these widths take.
func numWords(widths []int) int {
	words, used := 1, 0
	for _, w := range widths {
		if used+w > 64 {
			words, used = words+1, 0
		}
		used += w
	}
	return words
}

func layOut(grains []int64, widths []int) *Lanes {
	l := &Lanes{words: numWords(widths), lane: make([]lane, len(grains))}
	l.guards, l.first = make([]uint64, l.words), make([][64]int16, l.words)
	word, used := 0, 0
	for r, w := range widths {
		if used+w > 64 {
			word, used = word+1, 0
		}
		l.lane[r] = lane{word, uint(used), 1<<(w-1) - 1, grains[r]}
		used += w
		l.guards[word] |= 1 << (used - 1)
		l.first[word][used-1] = int16(r)
	}
	return l
}

// packRequest packs what a running pod asks for; false if a lane cannot hold it.
func (l *Lanes) packRequest(dst []uint64, row []int64) bool {
	clear(dst)
	for r, v := range row {
		if v == 0 {
			continue
		}
		at := &l.lane[r]
		grains := at.grains(v)
		if v < 0 || grains*at.grain != v || grains > at.most {
			return false
		}
		dst[at.word] |= uint64(grains) << at.shift
	}
	return true
}

// divides reports whether the amounts of row are multiples of the grains.
func (l *Lanes) divides(row []int64) bool {
	for r, v := range row {
		if v%l.lane[r].grain != 0 {
			return false
		}
	}
	return true
}

// packRoom packs free room, with every guard set: below zero counts as nothing. False
// if a lane cannot hold it, or only rounded. The most that a lane holds is no room: it
// stands for asks beyond what any node offers, and would let them fit.
func (l *Lanes) packRoom(dst []uint64, row []int64) bool {
	copy(dst, l.guards)
	for r, v := range row {
		if v <= 0 {
			continue
		}
		at := &l.lane[r]
		grains := at.grains(v)
		if grains*at.grain != v || grains >= at.most {
			return false
		}
		dst[at.word] |= uint64(grains) << at.shift
	}
	return true
}

// Ask is what a pod that wants in asks for, packed.
type Ask struct {
	Words  []uint64 // what it asks for
	masks  []uint64 // the lanes of what it asks for, without guards
	Guards []uint64 // the guards of what it asks for
	Rest   []uint64 // everything else
	need   []uint64 // guards of what a node has to offer in all: pods apart
}

// Pack packs row, a row of the index, into a. Amounts beyond what a lane can hold
// become the most that it holds, which no node offers either: see packRoom.
func (l *Lanes) Pack(a *Ask, row []int64) {
	for _, s := range []*[]uint64{&a.Words, &a.masks, &a.Guards, &a.Rest, &a.need} {
		*s = slices.Grow((*s)[:0], l.words)[:l.words]
		clear(*s)
	}
	for r, v := range row {
		if v <= 0 {
			continue
		}
		at := &l.lane[r]
		grains := v / at.grain
		if v%at.grain != 0 {
			grains++
		}
		a.Words[at.word] |= uint64(min(grains, at.most)) << at.shift
		a.masks[at.word] |= uint64(at.most) << at.shift
		guard := uint64(at.most+1) << at.shift
		a.Guards[at.word] |= guard
		if r != int(cluster.PodsColumn) {
			a.need[at.word] |= guard
		}
	}
	for w := range a.Rest {
		a.Rest[w] = ^(a.masks[w] | a.Guards[w])
	}
}

// Fits reports whether a fits into room, packed with its guards.
func (a *Ask) Fits(room []uint64) bool {
	for w, ask := range a.Words {
		if (room[w]-ask)&a.Guards[w] != a.Guards[w] {
			return false
		}
	}
	return true
}

// Lack is the first resource whose guard is in lack, of word w of an ask that does not
// fit into free, and how much more there would have to be of it.
func (l *Lanes) Lack(w int, lack, free, ask uint64) (cluster.ResourceID, int64) {
	r := l.first[w][bits.TrailingZeros64(lack)]
	at := &l.lane[r]
	most := uint64(at.most)
	return cluster.ResourceID(r), int64(ask>>at.shift&most-free>>at.shift&most) * at.grain
}
