package lists_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/lists"
)

func Example() {
	l := lists.New(1_000)
	l.Add(7, 1)
	l.Add(300, 1)
	l.Add(7, 2)
	fmt.Println(l.Of(7), l.Of(300), l.Of(0), l.Filled())
	// Output: [1 2] [1] [] [7 300]
}

// TestListsAreTheirOwn: what is added at one position is there and nowhere else, whoever shares the list.
func TestListsAreTheirOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lists.New(70)
		want, filled := map[int][]int32{}, []int(nil)
		for range rapid.IntRange(0, 60).Draw(t, "numbers") {
			k := rapid.SampledFrom([]int{0, 1, 63, 64, 69}).Draw(t, "position")
			number := rapid.Int32Range(0, 1).Draw(t, "number")
			if len(want[k]) == 0 {
				filled = append(filled, k)
			}
			l.Add(k, number)
			want[k] = append(want[k], number)
		}
		require.Equal(t, filled, l.Filled())
		for k := range 70 {
			require.Equal(t, want[k], l.Of(k), k)
		}
	})
}

// TestBlocksHaveTheirNumbers: all between two, and all but some of these.
func TestBlocksHaveTheirNumbers(t *testing.T) {
	for first := range int32(130) {
		for last := first; last < 200; last += 7 {
			for _, without := range []int32{-1, first + 1, last - 1} {
				var numbers []int32
				for n := first; n <= last; n++ {
					if n != without || n == first || n == last {
						numbers = append(numbers, n)
					}
				}
				blocks, from := lists.Blocks([]uint64{}, numbers)
				require.Equal(t, int(first/64), from)
				require.Len(t, blocks, int(last/64-first/64)+1)
				var got []int32
				for n := range int32(64 * len(blocks)) {
					if blocks[n/64]>>(n%64)&1 != 0 {
						got = append(got, n+int32(64*from))
					}
				}
				require.Equal(t, numbers, got)
			}
		}
	}
}
