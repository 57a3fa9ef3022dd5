package preemption

import (
	"cmp"
	"runtime"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// crew are searches for the same pod, which share out the nodes: the first is the
// search that they are for, and each has tools and constraints of its own.
type crew []*podSearch

// chunk are some nodes in a row, which one search looks at in a go. What is found, and
// what is counted on the way, must not depend on how many searches there are: so a
// chunk is always as large, and no bound from another one holds in it.
type chunk struct{ from, to cluster.NodeID }

const chunkSize = 512

// chunks divides the nodes.
func (q *question) chunks() []chunk {
	size, n := cluster.NodeID(cmp.Or(q.chunkSize, chunkSize)), cluster.NodeID(q.ix.NumNodes())
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
func (s *podSearch) recruit() crew {
	if s.crew != nil {
		return s.crew
	}
	chunks := len(s.chunks())
	workers := s.goroutines
	if workers == 0 && chunks >= parallelChunks {
		workers = runtime.GOMAXPROCS(0)
	}
	if s.options.Hooks != nil || s.runner.Observe != nil || s.notes != nil {
		workers = 1
	}
	s.crew = crew{s}
	for len(s.crew) < min(workers, chunks) {
		s.crew = append(s.crew, s.mate())
	}
	return s.crew
}

// mate returns another search for the same pod, over the same nodes.
func (s *podSearch) mate() *podSearch {
	q := *s.question
	q.states = make([]domain.State, len(s.states))
	for i, state := range s.states {
		q.states[i] = state.Clone()
	}
	q.budgetNames, q.brokenGangs, q.mates = nil, nil, nil
	m := newPodSearch(&q)
	m.status = s.status
	s.mates = append(s.mates, &q)
	return m
}
