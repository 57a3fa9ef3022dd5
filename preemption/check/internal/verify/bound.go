package verify

import (
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
