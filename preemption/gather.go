package preemption

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/tell"
)

// Gathering plans the pods of a gang one by one, for a scheduler that asks so: each
// pod sees the earlier ones in place, their victims gone, and budgets and limits spent by
// them. Nothing is evicted meanwhile, and if one pod fails, nothing is to be evicted at all.
//
// The pods count as lone pods: how many of them the gang needs is the caller's to
// know. Asking for the whole group at once finds better plans. Pods that need quota
// cannot be gathered. Not safe for concurrent use.
//
// Source: KEP-5710, early text, "Delayed preemption".
type Gathering struct {
	base   *Planner // the cluster as it was
	fork   *Planner // with the pods planned so far in place
	plan   Result
	failed bool
}

// ErrGangFailed is Plan's when a pod of the gathering has found no place.
var ErrGangFailed = errors.New("preemption: a pod of the gang has no place: nobody is to be evicted")

// Gather begins to plan a gang pod by pod, from the cluster as it is.
func (pl *Planner) Gather() *Gathering {
	base := pl.Fork()
	fork := base.Fork()
	fork.lone = true
	if c := fork.held.Ready; c != nil {
		c.Ask.MembersWait, c.Ask.OneByOne = false, true
	}
	return &Gathering{base: base, fork: fork, plan: Result{Verdict: Fits, Message: "nobody has asked"}}
}

// Preempt plans the next pod, which must be named: a pending pod of the planner's
// cluster. Its answer says whom it adds to the victims. After an answer that is
// neither Feasible nor Fits the gathering has failed; so it has, with an error that matches
// ErrGangFailed, where the plan of all pods together does not hold any more, as this one
// evicts an earlier one. After any other error it is as it was.
func (g *Gathering) Preempt(p Preemptor) (*Result, error) {
	if p.Kind != cluster.KindPod {
		return nil, tell.Unknown(p, "a pod: pods are gathered one by one")
	}
	r, err := g.fork.Preempt(p)
	switch {
	case err != nil:
		return nil, err
	case r.Quota != nil:
		return nil, &cluster.FieldError{
			Kind: string(p.Kind), Namespace: p.Namespace, Name: p.Name,
			Field: "Queue", Value: "set", Want: "empty: pods that need quota are not gathered",
		}
	case !r.Verdict.IsPlan():
		g.failed = true
		return r, nil
	}
	plan := g.with(r)
	why, err := g.wrong(plan, r)
	if err != nil {
		return nil, err
	}
	if why != "" {
		g.failed = true
		return nil, fmt.Errorf("%w: %s: %s", ErrGangFailed, words.Key(p.Namespace, p.Name), why)
	}
	next := g.fork.Fork()
	if err := next.carryOut(r); err != nil {
		return nil, err
	}
	g.fork, g.plan = next, *plan
	return r, nil
}

// carryOut lets the victims of r leave, charges the budgets that cover them, and binds whom r
// nominates, and who moves.
func (pl *Planner) carryOut(r *Result) error {
	charged, err := pl.charged(r)
	if err != nil {
		return err
	}
	leave := pl.Evict
	if len(r.Moves) > 0 {
		leave = pl.Apply
	}
	if err := leave(r); err != nil {
		return err
	}
	for _, m := range r.Moves {
		if err := pl.Requeue(m.Pod); err != nil {
			return err
		}
	}
	for _, b := range charged {
		if err := pl.SetBudget(b); err != nil {
			return err
		}
	}
	for _, n := range slices.Concat(r.Nominations, r.Moves) {
		if err := pl.Bind(n.Pod, n.Node); err != nil {
			return err
		}
	}
	return nil
}

// charged lists the budgets that cover victims of r as they are once these have left.
func (pl *Planner) charged(r *Result) ([]Budget, error) {
	now, err := pl.hold()
	if err != nil {
		return nil, err
	}
	defer now.release()
	c := now.ready
	left := map[cluster.BudgetID]int32{}
	for _, v := range r.Victims {
		for _, ref := range v.Pods {
			for _, b := range c.PodUnits().Budgets.Of(c.Index.PodByName(ref.Namespace, ref.Name)) {
				left[b]++
			}
		}
	}
	var list []Budget
	for _, b := range slices.Sorted(maps.Keys(left)) {
		budget := *c.Index.Budget(b)
		budget.Allowed = int32(max(int64(budget.Allowed)-int64(left[b]), math.MinInt32))
		list = append(list, budget)
	}
	return list, nil
}

// wrong says why plan, to which r was added, is none; empty if it holds. The error is that of a
// hook.
func (g *Gathering) wrong(plan, r *Result) (why string, err error) {
	for _, v := range r.Victims {
		for _, ref := range v.Pods {
			if slices.Contains(g.plan.Preemptor.Gathered, ref.PodRef) {
				return "it evicts " + words.Key(ref.Namespace, ref.Name) + ", which was planned before it", nil
			}
		}
	}
	v, err := g.base.StillValid(plan)
	var hook *HookError
	switch {
	case errors.As(err, &hook):
		return "", err
	case err != nil:
		return err.Error(), nil
	case v.Advice != Keep:
		return v.Reason, nil
	}
	return "", nil
}

// with returns the plan with the answer for one more pod.
func (g *Gathering) with(r *Result) *Result {
	p := g.plan
	r = cloneOf(r)
	p.Preemptor.Kind = r.Preemptor.Kind
	p.Preemptor.Gathered = append(slices.Clone(p.Preemptor.Gathered), PodRef{Namespace: r.Preemptor.Namespace, Name: r.Preemptor.Name})
	p.Nominations = slices.Concat(p.Nominations, r.Nominations)
	tell.SortNominations(p.Nominations)
	p.Victims, p.Moves = slices.Concat(p.Victims, r.Victims), slices.Concat(p.Moves, r.Moves)
	slices.SortStableFunc(p.Victims, func(a, b Victim) int { return cmp.Compare(b.Priority, a.Priority) })
	p.Violations += r.Violations
	p.Overruns, p.Cost = checked.Add(p.Overruns, r.Overruns), checked.Add(p.Cost, r.Cost)
	p.Cleared = slices.Concat(p.Cleared, r.Cleared)
	p.Budgets = slices.Clone(p.Budgets)
	for _, room := range r.Budgets {
		seen := func(b BudgetRoom) bool { return b.Namespace == room.Namespace && b.Name == room.Name }
		if !slices.ContainsFunc(p.Budgets, seen) {
			p.Budgets = append(p.Budgets, room)
		}
	}
	if len(p.Victims) > 0 {
		p.Verdict = Feasible
	}
	p.Message = words.Count(len(p.Nominations), "pod") + " planned one by one, " + words.Count(numPods(p.Victims), "pod") + " to evict"
	return &p
}

// cloneOf is a copy of what a gathering makes of r: its lists are the caller's.
func cloneOf(r *Result) *Result {
	c := *r
	c.Preemptor.Gathered = slices.Clone(r.Preemptor.Gathered)
	c.Nominations, c.Budgets, c.Cleared = slices.Clone(r.Nominations), slices.Clone(r.Budgets), slices.Clone(r.Cleared)
	c.Victims, c.Moves = slices.Clone(r.Victims), slices.Clone(r.Moves)
	for i := range c.Victims {
		v := &c.Victims[i]
		v.Pods, v.Budgets = slices.Clone(v.Pods), slices.Clone(v.Budgets)
	}
	return &c
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
	return cloneOf(&g.plan), nil
}

// numPods is how many pods the victims of list have.
func numPods(list []Victim) int {
	n := 0
	for _, v := range list {
		n += len(v.Pods)
	}
	return n
}
