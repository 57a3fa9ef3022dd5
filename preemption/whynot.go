package preemption

import (
	"context"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/tell"
)

// NodeTarget asks why the preemptor does not go to that node.
func NodeTarget(name string) Target { return Target{Node: name} }

// UnitTarget asks why that unit, namespace/name, is not a victim.
func UnitTarget(name string) Target { return Target{Unit: name} }

// WhyNot forces the branch of the decision that leads to target, and tells the
// first thing that speaks against it. For a workload a unit is another one that holds
// quota. Errors are those of [Planner.Preempt] and a [*cluster.FieldError] for a target
// that the snapshot does not have, for one that is not either a node or a unit, and for
// a node where a workload asks.
func (pl *Planner) WhyNot(p Preemptor, target Target) (*Why, error) {
	return pl.WhyNotContext(context.Background(), p, target)
}

// WhyNotContext is WhyNot that is stopped as [Planner.PreemptContext] is.
func (pl *Planner) WhyNotContext(ctx context.Context, p Preemptor, target Target) (why *Why, err error) {
	defer caughtAnswer(&why, &err)
	a := pl.options.asks(ctx, "WhyNot", &p)
	defer func() {
		if why != nil || err != nil {
			a.end(PhaseTell, "", 0, 0, err)
		}
	}()
	defer caught(&err)
	if (target.Node == "") == (target.Unit == "") {
		return nil, &cluster.FieldError{
			Kind: "Target", Field: "Unit", Value: words.Quoted(target.Unit), Want: "set where Node is not, and only there",
		}
	}
	if err := a.stopped(); err != nil {
		return nil, err
	}
	now, err := pl.hold()
	if err != nil {
		return nil, err
	}
	defer now.release()
	a.passed(PhaseCompile)
	return tell.WhyNot(now.ready, p, now.quota, target, a.caller())
}
