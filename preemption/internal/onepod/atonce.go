package onepod

import (
	"sync"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// AtOnce is where the ranking of a pod's shape says that the pod goes; ok is false
// where it does not say. It allocates nothing, unless something has changed.
func AtOnce(ix *cluster.Index, units *victims.Units, budgets *victims.Budgets, packed *columns.NodeColumns,
	pool *sync.Pool, shapes *Shapes, pod *cluster.Pod, request []int64, below int32, filtered bool,
) (p Plan, score victims.Score, ok bool) {
	var text [256]byte
	key, ok := shapeKey(text[:0], pod, request, below, filtered)
	if !ok {
		return p, score, false
	}
	known, warm := shapes.of(key, ix.NumNodes())
	if !warm {
		return p, score, false
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.ranking == nil {
		return p, score, false
	}
	if known.ranking.Behind(packed) {
		tools := Borrow(pool, units, budgets, packed)
		tools.Sweep.Ask(known.ranking.Member(), known.ranking.Below())
		known.follow(tools.Sweep, ix)
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
