package verify

import (
	"iter"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/preemption/check/internal/budgets"
)

// covering are the budgets that the eviction of p charges, in order of name.
func (w *world) covering(p *pod) []*budgets.Budget {
	if !p.sought {
		p.sought, p.budgets = true, w.budgets.Covering(p.Pod)
	}
	return p.budgets
}

// coverings yields those of pods.
func (w *world) coverings(pods []*pod) iter.Seq[[]*budgets.Budget] {
	return func(yield func([]*budgets.Budget) bool) {
		for i := 0; i < len(pods) && yield(w.covering(pods[i])); i++ {
		}
	}
}

// charge charges units, most important first, and notes what each adds to the violations.
func (w *world) charge(units []*unit) {
	l := budgets.Left{}
	for _, u := range units {
		if u.elastic {
			u.before = maps.Clone(l)
		}
		violations := func() int { return l.Violations(w.coverings(u.pods), w.rules.old, w.rules.group) }
		if len(u.pods) <= fewPods {
			u.charge = violations()
		} else {
			u.charge = u.memo.Charge(l, w.chargedOf(u, u.pods), violations)
		}
	}
}

// chargeOf is what u adds to the violations if those of its pods are out.
func (w *world) chargeOf(u *unit, pods []*pod) int {
	if len(pods) == len(u.pods) || u.charge == 0 {
		return u.charge
	}
	l := budgets.Left{}
	maps.Copy(l, u.before)
	return l.Violations(w.coverings(slices.SortedFunc(slices.Values(pods), inUnits)), w.rules.old, w.rules.group)
}

// chargedOf is how many of pods of u each budget is charged for. It is remembered of a large unit.
func (w *world) chargedOf(u *unit, pods []*pod) map[*budgets.Budget]int64 {
	if len(pods) <= fewPods || len(pods) < len(u.pods) {
		return budgets.Charged(w.coverings(pods))
	}
	if u.charged == nil {
		u.charged = budgets.Charged(w.coverings(pods))
	}
	return u.charged
}
