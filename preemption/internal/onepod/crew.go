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
func Shares(q *ask.Question) bool { return len(chunks(q)) >= parallelChunks }

// chunks divides the nodes.
func chunks(q *ask.Question) []chunk {
	size, n := cluster.NodeID(cmp.Or(q.ChunkSize, chunkSize)), cluster.NodeID(q.Index.NumNodes())
	var list []chunk
	for from := cluster.NodeID(0); from < n; from += size {
		list = append(list, chunk{from, min(n, from+size)})
	}
	return list
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
	chunks := len(chunks(s.q))
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
