package tallies

import (
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Crowd are tallies by number which count who is where: guests, who come to any node and go, and residents, who go from where they live and
// come back. Where more than [Few] tallies count somebody, a tally follows him only once it is read: most who left are back by then.
type Crowd struct {
	of      []Tallies
	valueOf [][]cluster.ValueID // of each: of each node the position
	by      [][]int32           // of each guest: the tallies that count it
	at      []cluster.NodeID    // of each guest, and behind them of each resident: where it is, or was when it left
	*late                       // nil where no more than Few tallies are
}

// late are those who are counted once a tally is read.
type late struct {
	here            []uint64   // bit by bit: who is there now
	stirred         []int64    // of each word of here: the changes when it changed last
	counts, counted [][]uint64 // of each tally: whom it counts, whom it has counted
	read            []int64    // likewise: the changes that it knows of
	changes         int64
	latest          [32]int32 // who came or went at change k: number k modulo 32
}

// Few is by how many tallies one may be counted who is counted in all of them at once.
const Few = 8

// NewCrowd returns a tally for each of these, which say of each node what its position is, and a crowd of whom no guest has come. Begin sets
// where a tally begins.
func NewCrowd(valueOf [][]cluster.ValueID, guests int) Crowd {
	n := len(valueOf)
	c := Crowd{of: make([]Tallies, n), valueOf: valueOf, by: make([][]int32, guests), at: slices.Repeat([]cluster.NodeID{cluster.NoNode}, guests)}
	if n > Few {
		c.late = &late{counts: make([][]uint64, n), counted: make([][]uint64, n), read: make([]int64, n)}
		c.widen((guests + 63) / 64)
	}
	return c
}

// widen makes room for so many words of the crowd.
func (l *late) widen(words int) {
	more := func(old []uint64) []uint64 { return append(old, make([]uint64, words-len(old))...) }
	l.here, l.stirred = more(l.here), make([]int64, words)
	for i := range l.counts {
		l.counts[i], l.counted[i] = more(l.counts[i]), more(l.counted[i])
	}
}

// Begin lets tally i begin as t, and count these guests from then on.
func (c *Crowd) Begin(i int, t Tallies, guests []int32) {
	c.of[i] = t
	for _, m := range guests {
		if c.late != nil {
			c.counts[i][m/64] |= 1 << (m % 64)
		}
		c.by[m] = append(c.by[m], int32(i))
	}
}

// Resident lets another one live on node n, whom these tallies, more than [Few], have counted when they begin, and returns its number for [Crowd.Move].
//
// Amortized O(t) for t tallies.
func (c *Crowd) Resident(n cluster.NodeID, by []int32) (k int32) {
	m := int32(len(c.at))
	if int(m/64) == len(c.here) {
		c.widen(2*len(c.here) + 1)
	}
	c.at, c.here[m/64] = append(c.at, n), c.here[m/64]|1<<(m%64)
	for _, i := range by {
		c.counts[i][m/64] |= 1 << (m % 64)
		c.counted[i][m/64] |= 1 << (m % 64)
	}
	return m - int32(len(c.by))
}

// Add adds sign to tally i where n is.
func (c *Crowd) Add(i int32, n cluster.NodeID, sign int32) {
	if v := c.valueOf[i][n]; v != cluster.NoValue {
		c.of[i].Add(int(v), sign)
	}
}

// Come lets guest m, who is not there, come to node n.
//
// O(t) for the t tallies that count m; for many O(1) where it was on n before. Reading costs as much as there were changes since, or the
// size of the crowd divided by 64.
func (c *Crowd) Come(m int32, n cluster.NodeID) {
	was := c.at[m]
	c.at[m] = n
	if c.soon(m, +1) {
		return
	}
	for i := 0; was != n && i < len(c.by[m]); i++ {
		if t := c.by[m][i]; c.has(t, m) {
			c.turn(t, m, was)
		}
	}
	c.change(m)
}

// Go lets guest m, who is there, go again.
func (c *Crowd) Go(m int32) {
	if !c.soon(m, -1) {
		c.change(m)
	}
}

// Move lets resident k go, or come home.
func (c *Crowd) Move(k int32) { c.change(int32(len(c.by)) + k) }

// soon counts guest m at once, if few do.
func (c *Crowd) soon(m, sign int32) bool {
	by := c.by[m]
	if len(by) > Few {
		return false
	}
	for _, i := range by {
		c.Add(i, c.at[m], sign)
	}
	return true
}

// change notes that m came or went.
func (l *late) change(m int32) {
	l.here[m/64] ^= 1 << (m % 64)
	l.latest[l.changes%int64(len(l.latest))] = m
	l.changes++
	l.stirred[m/64] = l.changes
}

// has tells whether tally i has counted m.
func (l *late) has(i, m int32) bool { return l.counted[i][m/64]>>(m%64)&1 != 0 }

// turn counts m in tally i, at n, or no longer.
func (c *Crowd) turn(i, m int32, n cluster.NodeID) {
	c.counted[i][m/64] ^= 1 << (m % 64)
	sign := int32(-1)
	if c.has(i, m) {
		sign = +1
	}
	c.Add(i, n, sign)
}

// Tally is tally i as it is now, until something changes.
func (c *Crowd) Tally(i int32) *Tallies {
	if c.late != nil && c.read[i] != c.changes {
		c.catchUp(i)
	}
	return &c.of[i]
}

func (c *Crowd) catchUp(i int32) {
	k := c.read[i]
	c.read[i] = c.changes
	if c.changes-k > int64(min(len(c.here), len(c.latest))) {
		for w, at := range c.stirred {
			if at > k {
				c.settle(i, w, ^uint64(0))
			}
		}
		return
	}
	for ; k < c.changes; k++ {
		m := c.latest[k%int64(len(c.latest))]
		c.settle(i, int(m/64), 1<<(m%64))
	}
}

// settle counts those of word w and of these who have come, and no longer those who have gone.
func (c *Crowd) settle(i int32, w int, these uint64) {
	for left := (c.here[w] ^ c.counted[i][w]) & c.counts[i][w] & these; left != 0; left &= left - 1 {
		m := int32(w*64 + bits.TrailingZeros64(left))
		c.turn(i, m, c.at[m])
	}
}

// Clone returns an independent copy.
func (c *Crowd) Clone() Crowd {
	k := *c
	k.of, k.at = slices.Clone(c.of), slices.Clone(c.at)
	for i := range k.of {
		k.of[i] = k.of[i].Clone()
	}
	if c.late != nil {
		l := *c.late
		l.here, l.stirred, l.counted, l.read = slices.Clone(l.here), slices.Clone(l.stirred), slices.Clone(l.counted), slices.Clone(l.read)
		for i := range l.counted {
			l.counted[i] = slices.Clone(l.counted[i])
		}
		k.late = &l
	}
	return k
}
