package verify

import (
	"math/big"
	"slices"

	"github.com/preempt-go/preempt/preemption/check/internal/tariff"
)

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
			w.addGroups(sum, u.group, u, out)
		}
		return tariff.Capped(sum)
	})
}

// addGroups adds what the groups at or beneath g cost all of whose pods are out.
func (w *world) addGroups(sum *big.Int, g *group, u *unit, out map[*pod]bool) {
	whole, any := true, false
	for _, p := range g.under() {
		if p.Node != "" {
			whole, any = whole && out[p], any || out[p]
		}
	}
	switch {
	case len(out) == len(u.pods) || whole && any:
		w.addWhole(sum, g)
	case any:
		for _, c := range g.children {
			w.addGroups(sum, c, u, out)
		}
	}
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
