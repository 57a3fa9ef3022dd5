package verify

import (
	"iter"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/preempt-go/preempt/preemption/check/internal/budgets"
	"github.com/preempt-go/preempt/preemption/check/internal/tariff"
)

// limit is a bound of what victims add up to.
type limit struct {
	name string
	room int64
	of   func(u *unit, pods []*pod) int64
}

// bounded: what evicting may add up to has bounds, or is to be the least.
func (q *question) bounded() bool {
	return len(q.limits()) > 0 || q.o.HardBudgets.All || len(q.o.HardBudgets.Names) > 0 || q.optimizes()
}

// stuck: the eviction of u alone goes beyond a bound.
func (q *question) stuck(u *unit) bool {
	return q.bounded() && !u.elastic && len(q.beyond([]victim{{unit: u, pods: u.pods}})) > 0
}

// limits are those of the options, less what earlier preemptions took in the window.
func (q *question) limits() (list []limit) {
	l, w := q.o.Limits, q.o.Limits.Window
	if q.spent == nil {
		counts := func(at time.Time) bool { ago, known := q.elapsed(at); return w.Seconds > 0 && known && ago < w.Seconds }
		q.spent = tariff.Sum(q.Disruptions, counts)
	}
	add := func(name string, most, inWindow, spent int64, of func(*unit, []*pod) int64) {
		if most > 0 {
			list = append(list, limit{name, most, of})
		}
		if inWindow > 0 {
			list = append(list, limit{name + " in the window", max(inWindow-spent, 0), of})
		}
	}
	add("the limit of victims", l.Victims, w.Victims, q.spent.Victims, func(*unit, []*pod) int64 { return 1 })
	add("the limit of pods", l.Pods, w.Pods, q.spent.Pods, func(_ *unit, pods []*pod) int64 { return int64(len(pods)) })
	if q.priced() {
		add("the limit of cost", l.Cost, w.Cost, q.spent.Cost, q.counted)
	}
	if l.OnlyMoves {
		list = append(list, limit{"the limit of pods without a place", 0, func(u *unit, pods []*pod) int64 {
			return u.whole(&u.homeless, pods, func() (n int64) {
				for _, p := range pods {
					if !q.moves(p, q.o.Chain) {
						n++
					}
				}
				return n
			})
		}})
	}
	return list
}

// beyond names the bounds that victims go beyond.
func (q *question) beyond(list []victim) (names []string) {
	if h := q.o.HardBudgets; h.All || len(h.Names) > 0 {
		sums := map[*budgets.Budget]int64{}
		for _, v := range list {
			for b, n := range q.chargedOf(v.unit, v.pods) {
				sums[b] += n
			}
		}
		for b, n := range sums {
			if (h.All || slices.Contains(h.Names, b.Told)) && n > b.Room() {
				names = append(names, "the hard budget "+b.Told)
			}
		}
	}
	for _, l := range q.limits() {
		sum := int64(0)
		for _, v := range list {
			sum = tariff.Add(sum, l.of(v.unit, v.pods))
		}
		if sum > l.room {
			names = append(names, l.name)
		}
	}
	slices.Sort(names)
	return names
}

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
		if len(u.pods) <= fewPods {
			u.charge = l.Violations(w.coverings(u.pods), w.rules.old, w.rules.group)
		} else {
			u.charge = u.memo.Charge(l, w.chargedOf(u, u.pods), w.coverings(u.pods), w.rules.old, w.rules.group)
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

// priced: evictions have a price that the options tell, not a hook.
func (w *world) priced() bool { return w.o.Hooks == nil || w.o.Hooks.Cost == nil }

// price is what it costs to evict pods of unit u: what each costs, and what the groups
// cost that are lost with them as a whole. Sums end at the largest int64.
func (w *world) price(u *unit, pods []*pod) int64 {
	if w.o.Cost.Tariff.Free() {
		return 0
	}
	return u.whole(&u.cost, pods, func() int64 {
		out, sum := make(map[*pod]bool, len(pods)), new(big.Int)
		for _, p := range pods {
			out[p] = true
			seconds, _ := w.elapsed(p.checkpoint())
			sum.Add(sum, tariff.Pod(&w.o.Cost.Tariff, p.Pod, seconds))
		}
		if u.group != nil {
			w.addGroups(sum, u, out)
		}
		return tariff.Capped(sum)
	})
}

// addGroups adds what the groups at or beneath that of u cost all of whose pods are out.
func (w *world) addGroups(sum *big.Int, u *unit, out map[*pod]bool) {
	gone := map[*group]int{}
	for p := range out {
		for g := p.group; g != nil && w.unitOf(p) == u; g = g.parent {
			if gone[g]++; g == u.group {
				break
			}
		}
	}
	whole := func(g *group) bool { return gone[g] == g.running() }
	if len(out) == len(u.pods) {
		w.addWhole(sum, u.group)
		return
	}
	for g := range gone {
		if whole(g) && (g == u.group || !whole(g.parent)) {
			w.addWhole(sum, g)
		}
	}
}

// running is how many pods at or beneath g run, of which there are some.
func (g *group) running() int {
	if g.beneath == 0 {
		g.beneath = len(slices.DeleteFunc(g.under(), func(p *pod) bool { return p.Node == "" }))
	}
	return g.beneath
}

// addWhole adds what g and all groups beneath it cost.
func (w *world) addWhole(sum *big.Int, g *group) {
	if g.Cost != nil {
		seconds, _ := w.elapsed(w.groupCheckpoint(g))
		sum.Add(sum, tariff.Loss(&w.o.Cost.Tariff, g.Cost, seconds, 0))
	}
	for _, c := range g.children {
		w.addWhole(sum, c)
	}
}

// free: u is all that is left of gangs that run below their minCount, which costs nothing.
func (w *world) free(u *unit) bool {
	return w.o.BrokenGroupsFree && !slices.ContainsFunc(u.pods, func(p *pod) bool {
		return p.group == nil || p.group.MinCount == nil || p.group.run >= int(*p.group.MinCount)
	})
}

// counted is the price of pods of unit u as bounds and victims count it.
func (w *world) counted(u *unit, pods []*pod) int64 {
	if w.free(u) {
		return 0
	}
	return w.price(u, pods)
}
