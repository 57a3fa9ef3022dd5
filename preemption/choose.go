package preemption

import (
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// within is the choice among sets of these units.
func (q *question) within(units []victims.UnitID, r *reprieve.Runner) reprieve.Within {
	w := reprieve.Within{
		Choice: reprieve.Choice{Monotone: q.monotone(), Steps: q.options.SearchSteps},
		Keeps:  func(out []victims.UnitID) bool { return len(q.overruns(out, r.Parts())) == 0 },
	}
	if w.Steps == 0 {
		w.Steps = searchSteps
	}
	if q.probing {
		w.Steps = min(w.Steps, stepsLeft(w.Steps, r.Decided-q.decided))
	}
	for _, b := range q.bounds(units) {
		w.Caps = append(w.Caps, reprieve.Cap{
			Room:   b.room(),
			Weight: func(u victims.UnitID) int64 { return q.weight(b, u) },
			Part:   func(u victims.UnitID, pods []cluster.PodID) int64 { return q.weightOf(b, u, pods) },
			Once:   !b.adds(q.options),
		})
	}
	if q.objective() {
		w.Price, w.PricePart, w.PriceFree = q.price, q.priceOf, q.options.ownCost()
	}
	if len(q.states) == 0 {
		w.Instead, w.AlikePods = q.instead(), q.alikePods
	}
	return w
}

// objective reports whether the cheapest victims are wanted.
func (q *question) objective() bool { return q.options.Cost.Objective && !q.probing }

// adds reports whether what a part of a unit adds to a bound is at least the sum of
// what its pods do.
func (b bound) adds(o Options) bool {
	switch {
	case b.kind == RelaxBudget, strings.HasPrefix(b.name, "pods"):
		return true
	}
	return strings.HasPrefix(b.name, "cost") && !o.ownCost()
}

// ownCost reports whether prices are the user's, who may price several pods below
// what each of them costs.
func (o Options) ownCost() bool { return o.Hooks != nil && o.Hooks.Cost != nil }

// instead returns what reports whether units a and b are single pods of one node, and
// b frees at least what a does, of what the preemptor asks for.
func (q *question) instead() func(a, b victims.UnitID) bool {
	var asked []int
	for _, m := range q.members {
		for r, v := range m.Request() {
			if v > 0 && !slices.Contains(asked, r) {
				asked = append(asked, r)
			}
		}
	}
	return func(a, b victims.UnitID) bool {
		x, y := q.units.Unit(a), q.units.Unit(b)
		if len(x.Pods) != 1 || len(y.Pods) != 1 || q.ix.NodeOf(x.Pods[0]) != q.ix.NodeOf(y.Pods[0]) {
			return false
		}
		frees, instead := q.ix.Request(x.Pods[0]), q.ix.Request(y.Pods[0])
		for _, r := range asked {
			if instead[r] < frees[r] {
				return false
			}
		}
		return slices.Equal(q.ix.Pod(x.Pods[0]).Ports, q.ix.Pod(y.Pods[0]).Ports)
	}
}

// alikePods reports whether nothing tells two pods of one unit apart that decides
// whether the preemptor fits, nor budgets and price.
func (q *question) alikePods(p, o cluster.PodID) bool {
	u, _ := q.units.UnitOf(p)
	return q.priceOf(u, []cluster.PodID{p}) == q.priceOf(u, []cluster.PodID{o}) && !q.options.ownCost() &&
		q.ix.NodeOf(p) == q.ix.NodeOf(o) && slices.Equal(q.ix.Request(p), q.ix.Request(o)) &&
		slices.Equal(q.ix.Pod(p).Ports, q.ix.Pod(o).Ports) && slices.Equal(q.budgets.Of(p), q.budgets.Of(o))
}

// choose is reprieve for victims that have to keep within bounds, or are to be the
// cheapest: where the greedy ones do not, or may not be, it searches.
func (s *podSearch) choose(potential []victims.UnitID) (reprieve.Outcome, domain.Reason) {
	observe, part := s.runner.Observe, s.runner.ObservePart
	s.runner.Observe, s.runner.ObservePart = nil, nil
	out, why := s.reprieve(potential)
	s.runner.Observe, s.runner.ObservePart = observe, part
	if !why.OK() {
		return out, why
	}
	over := s.overruns(out.Victims, s.runner.Parts())
	within := len(over) == 0 && !s.options.Cost.Objective
	if within && observe == nil {
		return out, why
	}
	s.trial.Restart()
	if within {
		return s.reprieve(potential) // the same again, to be watched
	}
	s.stats.Searched++
	out, proof, why := s.runner.RunWithin(s.trial, potential, s.within(potential, s.runner))
	switch {
	case !why.OK() || proof == reprieve.Found:
		return out, why
	case proof == reprieve.FoundSome:
		s.stats.Exact = false
		return out, why
	}
	s.stats.Exact = s.stats.Exact && proof == reprieve.Refuted && s.monotone()
	return out, beyond(over, proof)
}

// beyond is why no set of victims will do although the preemptor fits with all of
// them gone; the greedy one overruns list.
func beyond(list []Relaxation, proof reprieve.Proof) domain.Reason {
	why := domain.Reason{Check: overLimit}
	if len(list) > 0 {
		if why.Detail = list[0].Name; list[0].Kind == RelaxBudget {
			why.Check = overBudget
		}
	}
	if proof == reprieve.Exhausted {
		why.Detail += notProved
	}
	return why
}

// notProved ends the detail of a refusal that was not looked into to the end.
const notProved = " (not found, not proved)"
