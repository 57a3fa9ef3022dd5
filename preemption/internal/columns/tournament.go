package columns

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Tournament keeps how each node stands, an S, and the best of them at its root: nodes
// compete within their block, the first of the blocks against each other. The first of
// equal ones wins. Not safe for concurrent use.
type Tournament[S any] struct {
	before func(x, y *S) bool // x is better than y
	owner  *owner
	blocks []*rounds[S]
	winner []int32 // 1 is the root, leaves+i is block i; noBlock where there is none
	leaves int
}

const noBlock = -1

// rounds are the nodes of a block and their matches: 1 is the root, the matches of pairs of
// nodes are the second half.
type rounds[S any] struct {
	owner  *owner
	at     [BlockSize]S
	winner [BlockSize]uint8
}

// NewTournament returns one without nodes, in which before says who is better.
func NewTournament[S any](before func(x, y *S) bool) Tournament[S] {
	return Tournament[S]{before: before, owner: new(owner)}
}

// Reset lets all of so many nodes stand as s does, until they are set; PlayAll comes after that.
func (t *Tournament[S]) Reset(nodes int, s S) {
	if n := (nodes + BlockSize - 1) / BlockSize; n != len(t.blocks) {
		all := make([]rounds[S], n)
		t.blocks = make([]*rounds[S], n)
		for i := range all {
			all[i].owner, t.blocks[i] = t.owner, &all[i]
		}
		for t.leaves = 1; t.leaves < n; t.leaves *= 2 {
		}
		t.winner = make([]int32, 2*t.leaves)
	}
	for i := range t.winner {
		t.winner[i] = noBlock
	}
	for i := range t.blocks {
		b := t.own(i)
		for k := range b.at {
			b.at[k] = s
		}
		t.winner[t.leaves+i] = int32(i)
	}
}

// Clone returns an independent copy. Both share the blocks that neither changes, if t
// is not changed any more itself.
func (t *Tournament[S]) Clone() Tournament[S] {
	c := *t
	c.owner, c.blocks, c.winner = new(owner), slices.Clone(t.blocks), slices.Clone(t.winner)
	return c
}

// At is how node n stands. It must not be changed.
func (t *Tournament[S]) At(n cluster.NodeID) *S { return &t.blocks[n/BlockSize].at[n%BlockSize] }

// Edit is At for a change, after which Play has to be called, or PlayAll after several.
func (t *Tournament[S]) Edit(n cluster.NodeID) *S {
	return &t.own(int(n / BlockSize)).at[n%BlockSize]
}

// own returns a block for a change.
func (t *Tournament[S]) own(block int) *rounds[S] {
	b := t.blocks[block]
	if b.owner != t.owner {
		mine := *b
		mine.owner = t.owner
		b = &mine
		t.blocks[block] = b
	}
	return b
}

// Play settles the matches of node n.
func (t *Tournament[S]) Play(n cluster.NodeID) {
	block, i := int(n/BlockSize), int(n%BlockSize)
	b := t.blocks[block]
	b.match(t.before, (BlockSize+i)/2, uint8(i&^1), uint8(i|1))
	for m := (BlockSize + i) / 4; m > 0; m /= 2 {
		b.match(t.before, m, b.winner[2*m], b.winner[2*m+1])
	}
	for i := (t.leaves + block) / 2; i > 0; i /= 2 {
		t.winner[i] = t.better(t.winner[2*i], t.winner[2*i+1])
	}
}

// PlayAll settles all matches.
func (t *Tournament[S]) PlayAll() {
	for i := range t.blocks {
		b := t.own(i)
		for m := BlockSize - 1; m >= BlockSize/2; m-- {
			b.match(t.before, m, uint8(2*m-BlockSize), uint8(2*m+1-BlockSize))
		}
		for m := BlockSize/2 - 1; m > 0; m-- {
			b.match(t.before, m, b.winner[2*m], b.winner[2*m+1])
		}
	}
	for i := t.leaves - 1; i > 0; i-- {
		t.winner[i] = t.better(t.winner[2*i], t.winner[2*i+1])
	}
}

func (b *rounds[S]) match(before func(x, y *S) bool, m int, x, y uint8) {
	if before(&b.at[y], &b.at[x]) {
		x = y
	}
	b.winner[m] = x
}

// better is the block of a and b in which the best node is; a, the first in order, if
// they tie.
func (t *Tournament[S]) better(a, b int32) int32 {
	if b == noBlock || !t.before(t.blocks[b].best(), t.blocks[a].best()) {
		return a
	}
	return b
}

func (b *rounds[S]) best() *S { return &b.at[b.winner[1]] }

// Root is the best node and how it stands; NoNode if there are none.
func (t *Tournament[S]) Root() (cluster.NodeID, *S) {
	if len(t.blocks) == 0 {
		return cluster.NoNode, nil
	}
	i := t.winner[1]
	b := t.blocks[i]
	return cluster.NodeID(int(i)*BlockSize + int(b.winner[1])), b.best()
}
