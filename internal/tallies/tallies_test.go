package tallies_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/tallies"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func Example() {
	t := tallies.New([]int32{2, 1, 0}, []bool{true, true, false})
	t.Add(1, +1)
	fmt.Println(t.Least(), t.At(1))
	// Output: 2 2
}

// TestTheLeastIsExact: it is that of a scan, wherever one is added or taken off.
func TestTheLeastIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Int32Range(0, 5), 1, 6).Draw(t, "numbers")
		tally := tallies.New(slices.Clone(numbers), slices.Repeat([]bool{true}, len(numbers)))
		for range rapid.IntRange(0, 40).Draw(t, "moves") {
			v := rapid.IntRange(0, len(numbers)-1).Draw(t, "position")
			sign := rapid.SampledFrom([]int32{-1, -1, +1}).Draw(t, "sign")
			before := tally.Clone()
			numbers[v] += sign
			tally.Add(v, sign)
			require.Equal(t, slices.Min(numbers), tally.Least())
			require.Equal(t, numbers[v], tally.At(v))
			require.Equal(t, numbers[v]-sign, before.At(v), "a copy stays as it was")
		}
	})
}

// TestEvenIsWhatRaisingTheLeastComesTo: one at a time, as long as it may rise.
func TestEvenIsWhatRaisingTheLeastComesTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Int32Range(0, 5), 1, 6).Draw(t, "numbers")
		counts := rapid.SliceOfN(rapid.Bool(), len(numbers), len(numbers)).Draw(t, "counts")
		rooms := rapid.SliceOfN(rapid.Int64Range(0, 4), len(numbers), len(numbers)).Draw(t, "rooms")
		skew := rapid.Int32Range(1, 3).Draw(t, "skew")
		tally, left, raised := tallies.New(slices.Clone(numbers), counts), slices.Clone(rooms), int64(0)
		before, positions := tally.Clone(), []int{0, 1, 2, 3, 4, 5}[:len(numbers)]
		mayRise := func(v int) bool { return counts[v] && left[v] > 0 && tally.At(v) < tally.Least()+skew }
		for {
			v := slices.IndexFunc(positions, mayRise)
			if v < 0 {
				break
			}
			tally.Add(v, +1)
			left[v], raised = left[v]-1, raised+1
		}
		require.Equal(t, raised, before.Even(counts, rooms, int64(skew)))
	})
}

// TestACrowdIsWhereItIs: whoever of it comes, goes, and comes elsewhere, each tally that is read counts those whom it counts, where they are.
func TestACrowdIsWhereItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const nodes = 4
		guests := rapid.SampledFrom([]int{123, 3, 64, 65, 1}).Draw(t, "guests")
		home := func(k int32) cluster.NodeID { return cluster.NodeID(k % nodes) }
		valueOf := slices.Repeat([][]cluster.ValueID{{0, 1, 2, 3}, {1, cluster.NoValue, 0, 0}}, rapid.SampledFrom([]int{1, 10}).Draw(t, "tallies"))
		residents := len(valueOf) / 20 * 70
		at := slices.Repeat([]cluster.NodeID{cluster.NoNode}, guests+residents)
		ground, counts := make([][nodes]int32, len(valueOf)), func(i, m int) bool { return i%2 == 0 || m > 1 && m < 99 }
		crowd := tallies.NewCrowd(valueOf, guests)
		number := func(i, v int) (number int32) {
			for m, n := range at {
				if n != cluster.NoNode && valueOf[i][n] == cluster.ValueID(v) && counts(i, m) {
					number++
				}
			}
			return number + ground[i][v]
		}
		for k := range residents {
			m := guests + k
			at[m] = home(int32(k))
			var by []int32
			for i := range valueOf {
				if counts(i, m) {
					by = append(by, int32(i))
				}
			}
			require.Equal(t, int32(k), crowd.Resident(at[m], by))
		}
		for i := range valueOf {
			var list []int32
			for m := range guests {
				if counts(i, m) {
					list = append(list, int32(m))
				}
			}
			crowd.Begin(i, tallies.New([]int32{number(i, 0), number(i, 1), number(i, 2), number(i, 3)}, slices.Repeat([]bool{true}, nodes)), list)
		}
		for range rapid.IntRange(0, 12).Draw(t, "turns") {
			for range rapid.SampledFrom([]int{1, 2, 3, 0, 33, 99, 300}).Draw(t, "changes") {
				m, n := rapid.SampledFrom([]int{64, 1, 122, 63, 0, 97, 98, 66, 192}).Draw(t, "who")%len(at), cluster.NodeID(rapid.IntRange(0, nodes-1).Draw(t, "node"))
				switch gone := at[m] == cluster.NoNode; {
				case m >= guests:
					n = home(int32(m - guests))
					crowd.Move(int32(m - guests))
				case gone:
					crowd.Come(int32(m), n)
				default:
					crowd.Go(int32(m))
				}
				if at[m] == cluster.NoNode {
					at[m] = n
				} else {
					at[m] = cluster.NoNode
				}
			}
			i, n := rapid.IntRange(0, len(valueOf)-1).Draw(t, "tally"), cluster.NodeID(rapid.IntRange(0, nodes-1).Draw(t, "node"))
			original := crowd
			crowd = crowd.Clone()
			if residents > 0 {
				original.Move(0)
			}
			original.Add(int32(i), n, +1)
			original.Tally(int32(i))
			crowd.Add(int32(i), n, -1)
			if v := valueOf[i][n]; v != cluster.NoValue {
				ground[i][v]--
			}
			least := int32(math.MaxInt32)
			for v := range nodes {
				require.Equal(t, number(i, v), crowd.Tally(int32(i)).At(v))
				least = min(least, number(i, v))
			}
			require.Equal(t, least, crowd.Tally(int32(i)).Least())
		}
	})
}
