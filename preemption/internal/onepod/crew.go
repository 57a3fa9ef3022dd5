package onepod

import (
	"cmp"
	"runtime"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// crew are searches for the same pod, which share out the nodes: the first is the
// search that they are for, and each has tools and constraints of its own.
type crew []*Search

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

// parallelChunks is from how many chunks on a crew pays: below a millisecond there is
// little to share.
const parallelChunks = 4

// recruit returns the crew of s, as many searches as pay. Hooks are the caller's, who
// need not expect several calls at once from one question.
func (s *Search) recruit() crew {
	if s.crew != nil {
		return s.crew
	}
	chunks := numChunks(s.q)
	workers := s.q.Goroutines
	if workers == 0 && chunks >= parallelChunks {
		workers = runtime.GOMAXPROCS(0)
	}
	if s.q.Hooks || s.Runner.Observe != nil || s.ObserveLevel != nil {
		workers = 1
	}
	s.crew = crew{s}
	for len(s.crew) < min(workers, chunks) {
		s.crew = append(s.crew, s.mate())
	}
	return s.crew
}

// mate returns another search for the same pod, over the same nodes.
func (s *Search) mate() *Search {
	m := New(s.q.Clone(), s.pool, s.shapes)
	m.Status = s.Status
	return m
}
