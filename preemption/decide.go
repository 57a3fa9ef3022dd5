package preemption

import (
	"context"

	"github.com/preempt-go/preempt/preemption/internal/tell"
)

// Decide answers as [Planner.Preempt] does, in short: verdict, domain and size of
// the disruption are the same. Errors are the same too.
//
// About a large gang most of an answer's time is the telling of its victims, which a
// decision goes without. Members that nothing tells apart are counted, not placed,
// where nothing but resources and budgets decides: a pass over the columns of the nodes,
// and O(k) for each node of k pods where the highest priority that has to go is as low
// as anywhere. Units of several pods are counted where there are too many potential
// victims, 50,000 in all domains, to look for placements around the best.
//
// For a pod without constraints of its own, in a cluster where nobody has
// anti-affinity terms, it costs a lookup, which allocates nothing, once questions about the
// shape of the pod have looked at as many nodes as there are, and then the nodes that have
// changed since: those where a guard has ended or a price has grown, too, and where Search
// says so the 512 around each. That holds under all Options but Sampling, BrokenGroupsFree,
// Limits.OnlyMoves, an Objective that reads more than a node by itself (who finds no other place,
// who preempts in turn, pods by level, what is in use in the end), and Hooks other than a Filter, a [domain.Colocation] and constraints that do not concern the pod ([domain.Concerned]), and for pods without a
// node affinity or a nomination. Everything else is searched for as by Preempt, and not told.
func (pl *Planner) Decide(p Preemptor) (Decision, error) {
	return pl.DecideContext(context.Background(), p)
}

// DecideContext is Decide that is stopped as [Planner.PreemptContext] is.
func (pl *Planner) DecideContext(ctx context.Context, p Preemptor) (d Decision, err error) {
	defer caughtAnswer(&d, &err)
	a := pl.options.asks(ctx, "Decide", &p)
	if a != nil {
		defer func() { a.end(PhaseSearch, d.Verdict, d.Pods, 0, err) }()
	}
	if err := a.stopped(); err != nil {
		return Decision{}, err
	}
	now, err := pl.hold()
	if err != nil {
		return Decision{}, err
	}
	defer now.release()
	a.passed(PhaseCompile)
	if d, ok := tell.AtOnce(now.ready, &p); ok {
		return d, nil
	}
	return decideAt(now, p, a)
}

// decideAt is the way of every question that is not decided at once.
func decideAt(now *moment, p Preemptor, a *asking) (_ Decision, err error) {
	defer caught(&err)
	return tell.Decide(now.ready, p, now.quota, a.caller())
}
