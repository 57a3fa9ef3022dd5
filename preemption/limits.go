package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
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

	// OnlyMoves lets nobody go who would find no other place: room is made by moves alone. As
	// [CriterionStranded] counts them, each pod by itself as things stand; package cascade
	// says where all of them go together.
	OnlyMoves bool `json:"onlyMoves,omitempty"`

	Window Window `json:"window,omitzero"`
}

// Window bounds what preemptions evict within the last Seconds, this one included.
type Window struct {
	Seconds int64 `json:"seconds,omitempty"` // 0: no window, and then no limits
	Victims int64 `json:"victims,omitempty"` // likewise 0: no limit
	Pods    int64 `json:"pods,omitempty"`
	Cost    int64 `json:"cost,omitempty"`
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
func (o Options) limits(ix *cluster.Index, now cluster.Disruption) []ask.Bound {
	l, w := o.Limits, o.Limits.Window
	spent := now
	for _, d := range ix.Disruptions() {
		if ago, known := ix.Elapsed(d.Time); w.Seconds > 0 && known && ago < w.Seconds {
			spent = sum(spent, d)
		}
	}
	var list []ask.Bound
	limit := func(of ask.Measure, most, perWindow, now, spent int64) {
		if most > 0 {
			list = append(list, ask.Bound{Of: of, Left: most - now})
		}
		if perWindow > 0 {
			list = append(list, ask.Bound{Of: of, Left: perWindow - spent, Window: true})
		}
	}
	limit(ask.NumUnits, l.Victims, w.Victims, now.Victims, spent.Victims)
	limit(ask.NumPods, l.Pods, w.Pods, now.Pods, spent.Pods)
	limit(ask.Price, l.Cost, w.Cost, now.Cost, spent.Cost)
	if l.OnlyMoves {
		list = append(list, ask.Bound{Of: ask.NumStranded})
	}
	return list
}

// limitNames are the names of limits, as relaxations and texts have them.
var limitNames = map[ask.Measure]string{ask.NumUnits: "victims", ask.NumPods: "pods", ask.Price: "cost", ask.NumStranded: "pods without a place"}

// boundName names a bound: a hard budget by namespace and name.
func (q *question) boundName(b ask.Bound) string {
	switch {
	case b.Of == ask.Charges:
		return q.budgetName(b.Budget)
	case b.Window:
		return limitNames[b.Of] + " in the window"
	}
	return limitNames[b.Of]
}

// sum adds up what two preemptions took.
func sum(a, b cluster.Disruption) cluster.Disruption {
	return cluster.Disruption{Victims: checked.Add(a.Victims, b.Victims), Pods: checked.Add(a.Pods, b.Pods), Cost: checked.Add(a.Cost, b.Cost)}
}
