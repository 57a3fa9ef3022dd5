package onepod

import (
	"slices"
	"sync"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

// exhaust evaluates every node that eviction might help on.
func (s *Search) exhaust() {
	all, chunks := s.share(), chunks(s.q)
	best := make([]Candidate, len(all))
	for i := range best {
		best[i].Node = cluster.NoNode
	}
	ranges.Take(len(chunks), len(all), func(i, k int) {
		w := all[i]
		w.evaluateAll(chunks[k])
		if c := w.Best; c.Node != cluster.NoNode && w.better(&c, &best[i]) {
			w.Best, best[i] = best[i], c
		}
	})
	s.Best.Node = cluster.NoNode
	for i, w := range all {
		if c := &best[i]; c.Node != cluster.NoNode && s.better(c, &s.Best) {
			s.Best = *c
		}
		if w != s {
			s.addUp(w)
		}
	}
}

// evaluateAll evaluates the nodes of a chunk that eviction might help on, and leaves the
// best of them.
func (s *Search) evaluateAll(nodes chunk) {
	s.Best.Node = cluster.NoNode
	s.Refill()
	for n := range s.inOrder(nodes) {
		if s.Status[n].Unresolvable {
			s.prune(n)
			continue
		}
		c, why := s.try(n)
		s.Status[n] = why
		if s.found != nil {
			s.found[n] = s.tried(&c, why)
		}
		if why.OK() && c.Victims != nil {
			s.consider(c)
		}
	}
	if s.found != nil && s.q.Effort != ask.Greedy {
		s.searched(nodes, func(n cluster.NodeID, at standing) { s.found[n] = at })
	}
}

// addUp adds up what w, a worker of s, came to.
func (s *Search) addUp(w *Search) {
	s.Found = append(s.Found, w.Found...)
	s.looks += w.Checks()
	s.Stats.Evaluated += w.Stats.Evaluated
	s.Stats.Pruned += w.Stats.Pruned
	s.Stats.Searched += w.Stats.Searched
	s.Stats.Exact = s.Stats.Exact && w.Stats.Exact
	if w.Open {
		s.open(w.Bound)
	}
}

// AtOnce is where what is known of a pod's shape says that the pod goes, which may preempt;
// ok is false where it does not say. Columns say it, or what [Search.Decide] has found. It
// allocates nothing, unless something has changed.
func AtOnce(q *ask.Question, pool *sync.Pool, shapes *Shapes, pod *cluster.Pod, request []int64, t ask.Traits) (p Plan, score victims.Score, ok bool) {
	var text [256]byte
	ranked := ask.ByScan.Leads(t) && q.Columns.Levels().NumOdd() == 0
	key, ok := ask.ShapeKey(text[:0], pod, request, q.Priority, q.Limits, q.Shows(t))
	if !ok {
		return p, score, false
	}
	known, warm := shapes.of(key, q.Index.NumNodes())
	if !warm {
		return p, score, false
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	switch {
	case !ranked && (known.standings == nil || known.standings.behind(q.Columns)), ranked && known.ranking == nil:
		return p, score, false
	case !ranked:
		return known.standings.best()
	case known.ranking.Behind(q.Columns):
		tools := Borrow(pool, q.Units, q.Budgets, q.Columns)
		tools.Sweep.Ask(known.ranking.Member(), known.ranking.Below())
		known.follow(tools.Sweep, q.Index)
		pool.Put(tools)
	}
	n, fits := known.ranking.Best()
	switch {
	case n == cluster.NoNode:
		return Plan{Verdict: ask.Infeasible, Node: n}, score, true
	case fits:
		return Plan{Verdict: ask.Fits, Node: n}, score, true
	}
	return Plan{Verdict: ask.Feasible, Node: n}, known.ranking.Score(), true
}

// sample is upstream's search, with one worker: from an offset on, until enough
// candidates are found and one of them violates no budget.
//
// Source: kube-scheduler v1.36, dry run of preemption.
func (s *Search) sample() {
	var potential []cluster.NodeID
	for n := range s.q.Index.Nodes() {
		if !s.Status[n].Unresolvable {
			potential = append(potential, n)
		} else {
			s.prune(n)
		}
	}
	wanted := s.q.Sampling.Wanted(len(potential))
	var harmless, violating []Candidate
	for i := range potential {
		n := potential[(i+int(s.q.Sampling.Offset))%len(potential)]
		c, why := s.try(n)
		if s.Status[n] = why; !why.OK() {
			continue
		}
		c.Victims = slices.Clone(c.Victims)
		list := &harmless
		if c.Score.Violations > 0 {
			list = &violating
		}
		if len(*list) < wanted {
			*list = append(*list, c)
		}
		if len(harmless) > 0 && len(harmless)+len(violating) >= wanted {
			for j := i + 1; j < len(potential); j++ {
				s.Status[potential[(j+int(s.q.Sampling.Offset))%len(potential)]] = domain.Reason{Check: ask.NotSampled}
			}
			break
		}
	}
	for _, c := range append(harmless, violating...) {
		s.consider(c)
	}
}
