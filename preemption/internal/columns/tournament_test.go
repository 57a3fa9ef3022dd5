package columns

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// tournamentsHaveTheBest: whatever is set, the root is the first of the best; a clone and
// what it was made of go their own ways, once that is not changed any more.
func tournamentsHaveTheBest(t *rapid.T) {
	const none = 9
	nodes := rapid.IntRange(0, 3*BlockSize).Draw(t, "nodes")
	at := slices.Repeat([]int{none}, nodes)
	of := NewTournament(func(x, y *int) bool { return *x < *y })
	of.Reset(nodes, none)
	of.PlayAll()
	best := func() {
		n, s := of.Root()
		if nodes == 0 {
			require.Equal(t, cluster.NoNode, n)
			return
		}
		require.Equal(t, slices.Min(at), *s)
		require.Equal(t, slices.Index(at, *s), int(n))
	}
	best()
	for range rapid.IntRange(0, 40).Draw(t, "steps") {
		if nodes == 0 {
			return
		}
		n, s := rapid.IntRange(0, nodes-1).Draw(t, "node"), rapid.IntRange(0, none).Draw(t, "stands")
		before := of
		if rapid.Bool().Draw(t, "clone") {
			was := slices.Clone(at)
			of = before.Clone()
			defer func() {
				for n, s := range was {
					require.Equal(t, s, *before.At(cluster.NodeID(n)))
				}
			}()
		}
		at[n], *of.Edit(cluster.NodeID(n)) = s, s
		of.Play(cluster.NodeID(n))
		best()
	}
}

func TestTournamentsHaveTheBest(t *testing.T) { rapid.Check(t, tournamentsHaveTheBest) }
