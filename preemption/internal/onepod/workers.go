package onepod

import (
	"cmp"
	"runtime"
	"sync"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// workers are searches for the same pod, which share out the nodes: the first is the
// search that they are for, and each has tools and constraints of its own.
type workers []*Search

// chunk are some nodes in a row, which one search looks at in a go. What is found, and
// what is counted on the way, must not depend on how many searches there are: so a
// chunk is always as large, and no bound from another one holds in it.
type chunk struct{ from, to cluster.NodeID }

const chunkSize = 512

// Shares reports whether there are enough nodes for several goroutines.
func Shares(q *ask.Question) bool { return numChunks(q) >= parallelChunks }

// nodesPerChunk is how many nodes a chunk has, but for the last one.
func nodesPerChunk(q *ask.Question) int { return cmp.Or(q.ChunkSize, chunkSize) }

func numChunks(q *ask.Question) int {
	return (q.Index.CountNodes() + nodesPerChunk(q) - 1) / nodesPerChunk(q)
}

// chunks divides the nodes. Holes count for nothing.
func chunks(q *ask.Question) []chunk {
	list, size, end := make([]chunk, 0, numChunks(q)), nodesPerChunk(q), cluster.NodeID(q.Index.NumNodes())
	if q.Index.CountNodes() == q.Index.NumNodes() {
		for from := cluster.NodeID(0); from < end; from += cluster.NodeID(size) {
			list = append(list, chunk{from, min(end, from+cluster.NodeID(size))})
		}
		return list
	}
	from, count := cluster.NodeID(0), 0
	for n := range q.Index.Nodes() {
		if count == size {
			list = append(list, chunk{from, n})
			from, count = n, 0
		}
		count++
	}
	return append(list, chunk{from, end})
}

// parallelChunks is from how many chunks on several workers pay: below a millisecond there is
// little to share.
const parallelChunks = 4

// share returns the workers of s, as many as pay. Hooks are the caller's, who
// need not expect several calls at once from one question.
func (s *Search) share() workers {
	if s.workers != nil {
		return s.workers
	}
	parts, most := numChunks(s.q), s.q.Goroutines
	if most == 0 && parts >= parallelChunks {
		most = runtime.GOMAXPROCS(0)
	}
	if s.q.Hooks || s.Runner.Observe != nil || s.ObserveLevel != nil {
		most = 1
	}
	s.workers = workers{s}
	for len(s.workers) < min(most, parts) {
		s.workers = append(s.workers, s.another())
	}
	return s.workers
}

// another returns another search for the same pod, over the same nodes.
func (s *Search) another() *Search {
	m := New(s.q.Clone(), s.pool, s.shapes)
	m.Status, m.found = s.Status, s.found
	return m
}

// Tools are what a search needs beyond its question. They are reused, since making them
// costs as much as a search.
type Tools struct {
	Trial  *Trial
	Runner *reprieve.Runner
	Tally  *disruption.Ledger // for Overruns
	Sweep  *columns.Sweep     // nil if there are no plain nodes
	scan   *columns.Scan      // likewise
	barred []uint64           // by block of nodes
	short  []uint64           // likewise; see listOdd
	status *[]domain.Reason   // by node; nil until somebody needed it
	key    []byte             // buffer of ask.ShapeKey
	search Search
}

// Borrow returns tools that nobody else uses, for units as they are. They are to be put
// back into pool.
func Borrow(pool *sync.Pool, units *victims.Units, budgets *victims.Budgets, packed *columns.NodeColumns) *Tools {
	if t, ok := pool.Get().(*Tools); ok {
		return t
	}
	t := &Tools{Trial: new(Trial), Runner: reprieve.NewRunner(units, budgets), Tally: budgets.NewLedger()}
	t.Runner.Here = t.search.here
	if levels := packed.Levels(); levels != nil {
		t.Sweep = columns.NewSweep(packed)
		t.scan = columns.NewScan(t.Sweep)
		t.barred, t.short = make([]uint64, len(levels.Blocks())), make([]uint64, len(levels.Blocks()))
	}
	return t
}
