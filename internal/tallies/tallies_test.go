package tallies_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/tallies"
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
