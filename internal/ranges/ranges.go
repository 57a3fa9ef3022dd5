package ranges

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// most is how many parts there are at most: beyond that memory is what decides.
const most = 8

// Parts is into how many parts n positions should be divided: one for each processor,
// but none of fewer than least positions, for which a goroutine costs what it saves. It
// is at least 1.
func Parts(n, least int) int {
	return max(1, min(n/least, runtime.GOMAXPROCS(0), most))
}

// Each calls do once for each of so many equal parts of the positions from 0 to n-1, at
// once: part is the number of the part, first to end, not included, are its positions.
// It returns when all are done.
func Each(n, parts int, do func(part, first, end int)) {
	together(parts, func(part int, at *int) {
		*at = part
		do(part, part*n/parts, (part+1)*n/parts)
	})
}

// Take calls do once for each of the positions from 0 to n-1, by so many workers at
// once: each takes the next position as soon as it is done with the one before, so
// that positions may differ in what they cost. worker is from 0 to workers-1. It returns
// when all are done.
func Take(n, workers int, do func(worker, i int)) {
	var next atomic.Int64
	together(workers, func(worker int, at *int) {
		for *at = int(next.Add(1)) - 1; *at < n; *at = int(next.Add(1)) - 1 {
			do(worker, *at)
		}
	})
}

// Stop is what work may panic with in whatever goroutine it is: once all of them have ended,
// the caller of Each or Take panics with it, of several with that of the first part or
// position. Where work calls [runtime.Goexit] the caller does, too. Other panics are not taken
// out of their goroutine: they are a broken invariant.
type Stop struct{ Err error }

// together calls work once for each number below workers, at once. Work notes where it is in
// the order in which positions begin.
func together(workers int, work func(worker int, at *int)) {
	if workers < 2 {
		work(0, new(int))
		return
	}
	type end struct {
		at   int
		stop *Stop
		done bool
	}
	ends := make([]end, workers)
	try := func(worker int) {
		e := &ends[worker]
		defer func() {
			switch s := recover().(type) {
			case nil:
			case *Stop:
				e.stop, e.done = s, true
			default:
				panic(s)
			}
		}()
		work(worker, &e.at)
		e.done = true
	}
	var wg sync.WaitGroup
	for worker := 1; worker < workers; worker++ {
		wg.Go(func() { try(worker) })
	}
	func() {
		defer wg.Wait() // whatever becomes of it
		try(0)
	}()
	var first *end
	for i := range ends {
		e := &ends[i]
		if !e.done {
			runtime.Goexit()
		}
		if e.stop != nil && (first == nil || e.at < first.at) {
			first = e
		}
	}
	if first != nil {
		panic(first.stop)
	}
}
