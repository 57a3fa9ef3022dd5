package preemption

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// HardBudgets names the disruption budgets that a preemption must not overrun, be it
// for one node or many: what the final victims charge a hard budget is at most what
// it allows; below zero it allows none. The others only say who comes back first.
//
// Source: asked for in kubernetes #91492 and KEP-3280.
type HardBudgets struct {
	All   bool     `json:"all,omitempty"`   // every budget of the snapshot
	Names []string `json:"names,omitempty"` // or these, as namespace/name
}

// Limits bound what one preemption evicts, and what all of them do within a window
// of time, by the earlier ones that [cluster.Snapshot] lists. 0: no limit.
type Limits struct {
	Victims int64 `json:"victims,omitempty"` // units
	Pods    int64 `json:"pods,omitempty"`
	Cost    int64 `json:"cost,omitempty"` // by Options.Cost; with a tariff of work alone, wasted work

	Window Window `json:"window,omitzero"`
}

// Window bounds what preemptions evict within the last Seconds, this one included.
type Window struct {
	Seconds int64 `json:"seconds,omitempty"` // 0: no window, and then no limits
	Victims int64 `json:"victims,omitempty"` // likewise 0: no limit
	Pods    int64 `json:"pods,omitempty"`
	Cost    int64 `json:"cost,omitempty"`
}

// searchSteps is the default of Options.SearchSteps.
const searchSteps = 20_000

// The checks that say that no set of victims keeps within the bounds.
const (
	overBudget domain.Check = "hard budget" // Detail names one that is too small
	overLimit  domain.Check = "limit"
)

// bound is a cap with its name.
type bound struct {
	kind RelaxationKind
	name string
	left int64            // what may still be used up, below zero where more has been than was allowed
	hard cluster.BudgetID // of RelaxBudget

	window bool // it counts earlier preemptions too
}

// room is the most that victims may add up to.
func (b bound) room() int64 { return max(b.left, 0) }

// bounded reports whether the final set of victims is bounded or priced.
func (q *question) bounded() bool {
	return q.hard != nil || q.limits != nil || q.options.Cost.Objective
}

// hardBudgets says which budgets are hard; nil if none is. unknown lists the names
// that no budget has.
func (o Options) hardBudgets(ix *cluster.Index) (hard []bool, unknown []string) {
	h := o.HardBudgets
	if !h.All && len(h.Names) == 0 {
		return nil, nil
	}
	hard = make([]bool, ix.NumBudgets())
	known := map[string]bool{}
	for b := range hard {
		budget := ix.Budget(cluster.BudgetID(b))
		name := budget.Namespace + "/" + budget.Name
		known[name] = true
		hard[b] = h.All || slices.Contains(h.Names, name)
	}
	for _, name := range h.Names {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	return hard, unknown
}

// limits lists the limits with the room that earlier preemptions leave, and what this one,
// made in several steps, has spent by now.
func (o Options) limits(ix *cluster.Index, now cluster.Disruption) []bound {
	l, w := o.Limits, o.Limits.Window
	spent := now
	for _, d := range ix.Disruptions() {
		if ago, known := ix.Elapsed(d.Time); w.Seconds > 0 && known && ago < w.Seconds {
			spent = sum(spent, d)
		}
	}
	var list []bound
	limit := func(name string, most, perWindow, now, spent int64) {
		if most > 0 {
			list = append(list, bound{kind: RelaxLimit, name: name, left: most - now})
		}
		if perWindow > 0 {
			list = append(list, bound{kind: RelaxLimit, name: name + " in the window", left: perWindow - spent, window: true})
		}
	}
	limit("victims", l.Victims, w.Victims, now.Victims, spent.Victims)
	limit("pods", l.Pods, w.Pods, now.Pods, spent.Pods)
	limit("cost", l.Cost, w.Cost, now.Cost, spent.Cost)
	return list
}

// sum adds up what two preemptions took.
func sum(a, b cluster.Disruption) cluster.Disruption {
	return cluster.Disruption{Victims: add(a.Victims, b.Victims), Pods: add(a.Pods, b.Pods), Cost: add(a.Cost, b.Cost)}
}

// lack is how much more than left has to be for a sum, at most the largest int64.
func lack(sum, left int64) int64 {
	if left < 0 {
		return add(sum, -max(left, -math.MaxInt64))
	}
	return sum - left
}

// raise is a+b for b that is not below zero, at most the largest int64.
func raise(a, b int64) int64 {
	if a > 0 {
		return add(a, b)
	}
	return a + b
}

// add is a+b, at most the largest int64. Neither is below zero.
func add(a, b int64) int64 { return min(a, math.MaxInt64-b) + b }

// weight is what unit u adds to bound b, weightOf what those of its pods do.
func (q *question) weight(b bound, u victims.UnitID) int64 {
	return q.weightOf(b, u, q.units.Unit(u).Pods)
}

func (q *question) weightOf(b bound, u victims.UnitID, pods []cluster.PodID) int64 {
	if b.kind == RelaxBudget {
		sum := int64(0)
		for _, p := range pods {
			if slices.Contains(q.budgets.Of(p), b.hard) {
				sum++
			}
		}
		return sum
	}
	switch name, _, _ := strings.Cut(b.name, " "); name {
	case "victims":
		return 1
	case "pods":
		return int64(len(pods))
	}
	return q.priceOf(u, pods)
}

// price is what the eviction of unit u costs as the score counts it, priceOf that of
// some of its pods.
func (q *question) price(u victims.UnitID) int64 { return q.priceOf(u, q.units.Unit(u).Pods) }

func (q *question) priceOf(u victims.UnitID, pods []cluster.PodID) int64 {
	if q.options.BrokenGroupsFree && q.broken(u) {
		return 0
	}
	return q.units.CostOf(u, pods)
}

// bounds lists what bounds sets of these units, hard budgets first.
func (q *question) bounds(units []victims.UnitID) []bound {
	if q.loose {
		return nil
	}
	var list []bound
	if q.hard != nil {
		var of []cluster.BudgetID
		for _, u := range units {
			for _, p := range q.units.Unit(u).Pods {
				of = append(of, q.budgets.Of(p)...)
			}
		}
		slices.Sort(of)
		for _, b := range slices.Compact(of) {
			if q.hard[b] {
				budget := q.ix.Budget(b)
				list = append(list, bound{kind: RelaxBudget, name: budget.Namespace + "/" + budget.Name, left: int64(budget.Allowed), hard: b})
			}
		}
	}
	list = append(list, q.limits...)
	for i, b := range list {
		for _, r := range q.relaxed {
			if r.Kind == b.kind && r.Name == b.name {
				list[i].left = raise(b.left, r.Amount)
			}
		}
	}
	return list
}

// overruns lists what the victims of out go beyond, and by how much.
func (q *question) overruns(out []victims.UnitID, parts victims.Parts) []Relaxation {
	bounds := q.bounds(out)
	sums := make([]int64, len(bounds))
	budgets := bounds[:len(bounds)-q.numLimits()] // in order
	for _, u := range out {
		pods := parts.Of(q.units, u)
		for i := len(budgets); i < len(bounds); i++ {
			sums[i] = add(sums[i], q.weightOf(bounds[i], u, pods))
		}
		if len(budgets) == 0 {
			continue
		}
		for _, p := range pods {
			for _, b := range q.budgets.Of(p) {
				if i, hard := slices.BinarySearchFunc(budgets, b, func(x bound, b cluster.BudgetID) int { return cmp.Compare(x.hard, b) }); hard {
					sums[i]++
				}
			}
		}
	}
	var list []Relaxation
	for i, b := range bounds {
		if sums[i] > b.room() {
			list = append(list, Relaxation{Kind: b.kind, Name: b.name, Amount: lack(sums[i], b.left)})
		}
	}
	return list
}

// numLimits is how many of the bounds are limits; they are the last.
func (q *question) numLimits() int {
	if q.loose {
		return 0
	}
	return len(q.limits)
}

// validateBounds checks the options that bound and price the final set of victims.
func (o Options) validateBounds(ps *optionProblems) {
	l, w := o.Limits, o.Limits.Window
	ps.notNegative("Limits.Victims", l.Victims)
	ps.notNegative("Limits.Pods", l.Pods)
	ps.notNegative("Limits.Cost", l.Cost)
	ps.notNegative("Limits.Window.Seconds", w.Seconds)
	ps.notNegative("Limits.Window.Victims", w.Victims)
	ps.notNegative("Limits.Window.Pods", w.Pods)
	ps.notNegative("Limits.Window.Cost", w.Cost)
	ps.notNegative("SearchSteps", int64(o.SearchSteps))
	if w.Seconds == 0 && w != (Window{}) {
		ps.bad("Limits.Window.Seconds", "0", ">= 1, as the window has limits")
	}
	for i, name := range o.HardBudgets.Names {
		if _, rest, ok := strings.Cut(name, "/"); !ok || rest == "" {
			ps.name(fmt.Sprintf("HardBudgets.Names[%d]", i), name, "namespace/name")
		}
	}
}

func (o Options) validateCost(ps *optionProblems) {
	c := o.Cost
	if err := c.Tariff.Validate(); err != nil {
		ps.bad("Cost.Tariff", err.Error(), "prices >= 0")
	}
	ps.notNegative("Cost.Criterion", int64(c.Criterion))
	if most := len(victims.Criteria) + 1; c.Criterion > most {
		ps.bad("Cost.Criterion", fmt.Sprint(c.Criterion), fmt.Sprintf("at most %d", most))
	}
	if c.Objective && c.Criterion > 1 {
		ps.bad("Cost.Criterion", fmt.Sprint(c.Criterion), "0 or 1, as the cost is the objective")
	}
	if !o.priced() && (c.Criterion > 0 || c.Importance || c.Objective || o.Limits.Cost > 0 || o.Limits.Window.Cost > 0) {
		ps.bad("Cost.Tariff", "empty", "set, as the cost is asked for")
	}
}
