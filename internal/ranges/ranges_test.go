package ranges_test

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
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

// TestAStopEndsTheWork in whatever goroutine it comes up, once all of them have ended.
func TestAStopEndsTheWork(t *testing.T) {
	stop := &ranges.Stop{Err: errors.New("enough")}
	for at := range 20 {
		var running atomic.Int64
		do := func(i int) {
			running.Add(1)
			defer running.Add(-1)
			if i >= at {
				panic(stop)
			}
		}
		require.PanicsWithValue(t, stop, func() { ranges.Take(20, 4, func(_, i int) { do(i) }) })
		require.Zero(t, running.Load())
		require.PanicsWithValue(t, stop, func() { ranges.Each(20, 4, func(_, first, end int) { do(end - 1) }) })
		require.Zero(t, running.Load())
	}
}

func TestPartsAreNotTooSmall(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	require.Equal(t, 1, ranges.Parts(0, 100))
	require.Equal(t, 1, ranges.Parts(199, 100))
	require.Equal(t, 2, ranges.Parts(200, 100))
	require.Equal(t, 4, ranges.Parts(1_000_000, 100))
}

// TestTheFirstStopCounts: of several, whichever goroutine is the fastest.
func TestTheFirstStopCounts(t *testing.T) {
	var stops [16]*ranges.Stop
	for i := range stops {
		stops[i] = &ranges.Stop{Err: errors.New(strconv.Itoa(i))}
	}
	stopAt := func(i, from int) {
		if i >= from {
			panic(stops[i])
		}
	}
	for range 100 {
		for from, want := range stops {
			require.PanicsWithValue(t, want, func() { ranges.Take(16, 4, func(_, i int) { stopAt(i, from) }) })
			require.PanicsWithValue(t, want, func() {
				ranges.Each(16, 4, func(_, first, end int) {
					for i := first; i < end; i++ {
						stopAt(i, from)
					}
				})
			})
		}
	}
}

// TestAnExitEndsTheCaller, too, once all of the work has ended.
func TestAnExitEndsTheCaller(t *testing.T) {
	for at := range 8 {
		var running atomic.Int64
		returned, done := false, make(chan bool)
		go func() {
			defer close(done)
			defer func() { require.Zero(t, running.Load()) }()
			ranges.Take(100, 4, func(_, i int) {
				running.Add(1)
				defer running.Add(-1)
				if i%8 == at {
					runtime.Goexit()
				}
				runtime.Gosched()
			})
			returned = true
		}()
		<-done
		require.False(t, returned)
	}
}

func Example() {
	squares := make([]int, 10)
	ranges.Each(len(squares), 3, func(_, first, end int) {
		for i := first; i < end; i++ {
			squares[i] = i * i
		}
	})
	fmt.Println(squares)
	// Output: [0 1 4 9 16 25 36 49 64 81]
}
