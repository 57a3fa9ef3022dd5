package bench_test

import (
	"errors"
	"fmt"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// errWrong is that an answer does not hold.
var errWrong = errors.New("wrong answer")

// scanCall is one that is made about a question. r is what pl answers.
type scanCall struct {
	name     string
	make     func(q *scanQuestion, pl *preemption.Planner, r *preemption.Result) error
	answered bool // the planner has answered before; r is nil otherwise
}

// scanCalls are the calls that are drawn.
var scanCalls = []scanCall{
	{"preempt", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		_, err := pl.Preempt(q.p)
		return err
	}, false},
	{"preempt-once", func(q *scanQuestion, _ *preemption.Planner, _ *preemption.Result) error {
		_, err := q.o.Preempt(q.p, &q.snap)
		return err
	}, false},
	{"decide-after-a-change", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		n := q.snap.Nodes[0]
		n.Unschedulable = !n.Unschedulable
		if err := pl.SetNode(n); err != nil {
			return err
		}
		_, err := pl.Decide(q.p)
		return err
	}, true},
	{"why-not-a-node", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		_, err := pl.WhyNot(q.p, preemption.NodeTarget(q.snap.Nodes[0].Name))
		return err
	}, false},
	{"why-not-a-unit", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		target := q.snap.Pods[0].Namespace + "/" + q.snap.Pods[0].Name
		if len(q.snap.PodGroups) > 0 {
			target = q.snap.PodGroups[0].Namespace + "/" + q.snap.PodGroups[0].Name
		}
		_, err := pl.WhyNot(q.p, preemption.UnitTarget(target))
		return err
	}, false},
	{"all", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		if q.p.Group != nil {
			_, err := pl.PreemptAll([]preemption.Preemptor{q.p})
			return err
		}
		var list []preemption.Preemptor
		for i := range 3 * min(len(q.p.Pods), 1) {
			pod := q.p.Pods[0]
			pod.Name = fmt.Sprint("one-of-many-", i)
			list = append(list, preemption.Preemptor{Pods: []preemption.Pod{pod}})
		}
		_, err := pl.PreemptAll(list)
		return err
	}, false},
	{"cycle", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		var heads []preemption.Preemptor
		for _, w := range q.snap.Workloads {
			if w.Admission == nil {
				heads = append(heads, preemption.Preemptor{Kind: cluster.KindWorkload, Namespace: w.Namespace, Name: w.Name})
			}
		}
		_, err := pl.Cycle(heads)
		return err
	}, false},
	{"still-valid", func(_ *scanQuestion, pl *preemption.Planner, r *preemption.Result) error {
		_, err := pl.StillValid(r)
		return err
	}, true},
	{"verify", func(q *scanQuestion, _ *preemption.Planner, r *preemption.Result) error {
		if found := check.Verify(&q.snap, q.o, q.p, r); len(found) > 0 {
			return fmt.Errorf("%w: %v", errWrong, found)
		}
		return nil
	}, true},
}
