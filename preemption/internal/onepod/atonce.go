package onepod

import (
	"sync"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

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
