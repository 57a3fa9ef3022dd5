package verify

import (
	"cmp"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
)

// budget is a disruption budget with its name as it is told.
type budget struct {
	*disruption.Budget
	name string
}

// budgets files each budget under one label that its pods must have, of these one that fewest budgets
// ask for, or under none.
type budgets struct {
	old   bool // as v1.36 reads them
	all   []*budget
	filed map[label][]*budget
}

type label struct{ namespace, key, value string }

func newBudgets(list []disruption.Budget, r rules) budgets {
	b := budgets{old: r.old, filed: map[label][]*budget{}}
	for i := range list {
		b.all = append(b.all, &budget{&list[i], list[i].Namespace + "/" + list[i].Name})
	}
	slices.SortFunc(b.all, compareBudgets)
	asked := map[label]int{}
	for _, of := range b.all {
		for _, l := range of.labels() {
			asked[l]++
		}
	}
	for _, of := range b.all {
		at := label{namespace: of.Namespace}
		for _, l := range of.labels() {
			if at.key == "" || asked[l] < asked[at] {
				at = l
			}
		}
		b.filed[at] = append(b.filed[at], of)
	}
	return b
}

// labels are those that the pods of b must have, in order of key.
func (b *budget) labels() (list []label) {
	if b.Selector == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(b.Selector.MatchLabels)) {
		list = append(list, label{b.Namespace, key, b.Selector.MatchLabels[key]})
	}
	return list
}

func compareBudgets(a, b *budget) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// covering are the budgets that the eviction of p charges, in order of name.
func (b *budgets) covering(p *pod) []*budget {
	if !p.sought {
		p.sought, p.budgets = true, b.seek(p)
	}
	return p.budgets
}

func (b *budgets) seek(p *pod) (list []*budget) {
	if len(b.all) == 0 || b.old && len(p.Labels) == 0 {
		return nil
	}
	take := func(at label) {
		for _, of := range b.filed[at] {
			if b.old && suits.Everything(of.Selector) || slices.Contains(of.Disrupted, p.Name) {
				continue
			}
			if suits.Selector(of.Selector, p.Labels) {
				list = append(list, of)
			}
		}
	}
	take(label{namespace: p.Namespace})
	for key, value := range p.Labels {
		take(label{p.Namespace, key, value})
	}
	slices.SortFunc(list, compareBudgets)
	return list
}

// left is what budgets have left; what is not in it is untouched.
type left map[*budget]int64

func (l left) charge(b *budget) int64 {
	if _, touched := l[b]; !touched {
		l[b] = int64(b.Allowed)
	}
	l[b]--
	return l[b]
}

// violations charges pods of one unit and returns what they add to upstream's count. A
// lone pod's preemption in v1.36 charges every budget of a pod; the others stop at the
// first that is overdrawn. A group's in v1.36 counts units, and stops at the unit's
// first pod that violates.
func (w *world) violations(l left, pods []*pod) (count int) {
	for _, p := range pods {
		violates := false
		for _, b := range w.budgets.covering(p) {
			if l.charge(b) < 0 {
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
	l := left{}
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
	l := left{}
	maps.Copy(l, u.before)
	return w.violations(l, ordered)
}

// charged is how many of pods each budget is charged for, whatever a rule says about
// stopping.
func (w *world) charged(pods []*pod) map[*budget]int64 {
	sums := map[*budget]int64{}
	for _, p := range pods {
		for _, b := range w.budgets.covering(p) {
			sums[b]++
		}
	}
	return sums
}

// room is what a budget allows; one that is overdrawn allows nothing.
func (b *budget) room() int64 { return max(0, int64(b.Allowed)) }

func overruns(charged map[*budget]int64) (sum int64) {
	for b, n := range charged {
		sum += max(0, n-b.room())
	}
	return sum
}
