package ranges_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/ranges"
)

func everyPositionIsVisitedOnce(t *rapid.T) {
	n, parts := rapid.IntRange(0, 100).Draw(t, "positions"), rapid.IntRange(1, 10).Draw(t, "parts")
	visits, partOf := make([]int, n), make([]int, n)
	ranges.Each(n, parts, func(part, first, end int) {
		for i := first; i < end; i++ {
			visits[i]++
			partOf[i] = part
		}
	})
	for i := range visits {
		require.Equal(t, 1, visits[i])
		require.True(t, i == 0 || partOf[i-1] <= partOf[i], "parts are in order")
	}
}

func TestEveryPositionIsVisitedOnce(t *testing.T) { rapid.Check(t, everyPositionIsVisitedOnce) }

func everyPositionIsTakenOnce(t *rapid.T) {
	n, workers := rapid.IntRange(0, 100).Draw(t, "positions"), rapid.IntRange(1, 10).Draw(t, "workers")
	visits, byWorker := make([]int, n), make([]int, workers)
	ranges.Take(n, workers, func(worker, i int) {
		visits[i]++
		byWorker[worker]++
	})
	sum := 0
	for _, k := range byWorker {
		sum += k
	}
	require.Equal(t, n, sum)
	for i := range visits {
		require.Equal(t, 1, visits[i])
	}
}

func TestEveryPositionIsTakenOnce(t *testing.T) { rapid.Check(t, everyPositionIsTakenOnce) }

func TestPartsAreNotTooSmall(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	require.Equal(t, 1, ranges.Parts(0, 100))
	require.Equal(t, 1, ranges.Parts(199, 100))
	require.Equal(t, 2, ranges.Parts(200, 100))
	require.Equal(t, 4, ranges.Parts(1_000_000, 100))
}
