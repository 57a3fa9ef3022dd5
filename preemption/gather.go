package preemption

import (
	"cmp"
	"errors"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Gathering plans the pods of a gang one by one, for a scheduler that asks so: each
// pod sees the earlier ones in place and their victims gone. Nothing is evicted
// meanwhile, and if one pod fails, nothing is to be evicted at all.
//
// The pods count as lone pods: how many of them the gang needs is the caller's to
// know. Asking for the whole group at once finds better plans. Not safe for
// concurrent use.
//
// Source: KEP-5710, early text, "Delayed preemption".
type Gathering struct {
	fork   *Planner
	plan   Result
	failed bool
}

// ErrGangFailed is Plan's when a pod of the gathering has found no place.
var ErrGangFailed = errors.New("preemption: a pod of the gang has no place: nobody is to be evicted")

// Gather begins to plan a gang pod by pod, from the cluster as it is.
func (pl *Planner) Gather() *Gathering {
	fork := pl.Fork()
	fork.lone = true
	if fork.ready != nil && fork.ready.live {
		fork.ready.rules.membersWait = false
	} else {
		fork.ready = nil
	}
	return &Gathering{fork: fork, plan: Result{Verdict: Fits, Message: "nobody has asked"}}
}

// Preempt plans the next pod, which must be named: a pending pod of the planner's
// cluster. Its answer says whom it adds to the victims. After an answer that is
// neither Feasible nor Fits the gathering has failed.
func (g *Gathering) Preempt(p Preemptor) (*Result, error) {
	if p.Kind != cluster.KindPod {
		return nil, unknownPreemptor(p, "a pod: pods are gathered one by one")
	}
	r, err := g.fork.Preempt(p)
	if err != nil {
		return nil, err
	}
	if r.Verdict != Feasible && r.Verdict != Fits {
		g.failed = true
		return r, nil
	}
	if err := g.fork.Evict(r); err != nil {
		return nil, err
	}
	for _, n := range r.Nominations {
		if err := g.fork.Bind(n.Pod, n.Node); err != nil {
			return nil, err
		}
	}
	g.add(r)
	return r, nil
}

// add merges the answer for one pod into the plan.
func (g *Gathering) add(r *Result) {
	p := &g.plan
	p.Preemptor.Kind = r.Preemptor.Kind
	p.Preemptor.Gathered = append(p.Preemptor.Gathered, PodRef{r.Preemptor.Namespace, r.Preemptor.Name})
	p.Nominations = append(p.Nominations, r.Nominations...)
	sortNominations(p.Nominations)
	p.Victims = append(p.Victims, r.Victims...)
	slices.SortStableFunc(p.Victims, func(a, b Victim) int { return cmp.Compare(b.Priority, a.Priority) })
	p.Violations += r.Violations
	p.Cleared = append(p.Cleared, r.Cleared...)
	for _, room := range r.Budgets {
		seen := func(b BudgetRoom) bool { return b.Namespace == room.Namespace && b.Name == room.Name }
		if !slices.ContainsFunc(p.Budgets, seen) {
			p.Budgets = append(p.Budgets, room)
		}
	}
	if len(p.Victims) > 0 {
		p.Verdict = Feasible
	}
	p.Message = count(len(p.Nominations), "pod") + " planned one by one, " + count(numPods(p.Victims), "pod") + " to evict"
}

// Plan returns what the pods planned so far need together, for Apply on the planner
// that the gathering came from: every victim, every nomination. It fails with
// ErrGangFailed if a pod has found no place; there is nothing to undo then.
//
// Scores, reasons and budgets of the victims are those of the pod that needed them.
func (g *Gathering) Plan() (*Result, error) {
	if g.failed {
		return nil, ErrGangFailed
	}
	plan := g.plan
	return &plan, nil
}
