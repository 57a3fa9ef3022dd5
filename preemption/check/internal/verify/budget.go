package verify

import (
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

// violations charges pods of one unit and returns what they add to upstream's count. A
// lone pod's preemption in v1.36 charges every budget of a pod; the others stop at the
// first that is overdrawn. A group's in v1.36 counts units, and stops at the unit's
// first pod that violates.
func (w *world) violations(l budgets.Left, pods []*pod) (count int) {
	for _, p := range pods {
		violates := false
		for _, b := range w.covering(p) {
			if l.Charge(b) < 0 {
				violates = true
				if !w.rules.old || w.rules.group {
					break
				}
			}
		}
		if violates {
			if count++; w.rules.old && w.rules.group {
				break
			}
		}
	}
	return count
}

// charge charges units, most important first, and notes what each adds to the violations.
func (w *world) charge(units []*unit) {
	l := budgets.Left{}
	for _, u := range units {
		if u.elastic {
			u.before = maps.Clone(l)
		}
		u.charge = w.violations(l, u.pods)
	}
}

// chargeOf is what u adds to the violations if those of its pods are out.
func (w *world) chargeOf(u *unit, pods []*pod) int {
	if len(pods) == len(u.pods) || u.charge == 0 {
		return u.charge
	}
	ordered := slices.DeleteFunc(slices.Clone(u.pods), func(p *pod) bool { return !slices.Contains(pods, p) })
	l := budgets.Left{}
	maps.Copy(l, u.before)
	return w.violations(l, ordered)
}

// charged is how many of pods each budget is charged for, whatever a rule says about
// stopping.
func (w *world) charged(pods []*pod) map[*budgets.Budget]int64 {
	sums := map[*budgets.Budget]int64{}
	for _, p := range pods {
		for _, b := range w.covering(p) {
			sums[b]++
		}
	}
	return sums
}
