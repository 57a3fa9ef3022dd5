package preemption

import (
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// exhaust evaluates every node that eviction might help on.
func (s *podSearch) exhaust() {
	crew, chunks := s.recruit(), s.chunks()
	best := make([]candidate, len(crew))
	for i := range best {
		best[i].node = cluster.NoNode
	}
	ranges.Take(len(chunks), len(crew), func(i, k int) {
		w := crew[i]
		w.best.node = cluster.NoNode
		w.evaluateAll(chunks[k])
		if c := w.best; c.node != cluster.NoNode && w.better(&c, &best[i]) {
			w.best, best[i] = best[i], c
		}
	})
	s.best.node = cluster.NoNode
	for i, w := range crew {
		if c := &best[i]; c.node != cluster.NoNode && s.better(c, &s.best) {
			s.best = *c
		}
		if w != s {
			s.adopt(w)
		}
	}
}

// evaluateAll evaluates the nodes of a chunk that eviction might help on.
func (s *podSearch) evaluateAll(nodes chunk) {
	for n := nodes.from; n < nodes.to; n++ {
		if s.status[n].Unresolvable {
			s.stats.Pruned++
			continue
		}
		c, why := s.try(n)
		if s.status[n] = why; why.OK() && c.victims != nil {
			s.consider(c)
		}
	}
}

// adopt adds up what w, of the crew of s, came to.
func (s *podSearch) adopt(w *podSearch) {
	s.found = append(s.found, w.found...)
	s.looks += w.checks()
	s.stats.Evaluated += w.stats.Evaluated
	s.stats.Pruned += w.stats.Pruned
	s.stats.Searched += w.stats.Searched
	s.stats.Exact = s.stats.Exact && w.stats.Exact
}
