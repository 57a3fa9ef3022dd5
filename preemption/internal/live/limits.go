package live

import (
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// Limits bounds what one preemption evicts, and what all of them do within the last
// Seconds. 0: no limit.
type Limits struct {
	Victims, Pods, Cost Limit
	Seconds             int64
	OnlyMoves           bool  // nobody goes who would find no other place
	Stranded            int64 // but for so many
}

// Limit bounds one measure.
type Limit struct{ Once, Window int64 }

// Of is the limit that a bound is about.
func (l *Limits) Of(b ask.Bound) *int64 {
	of := [...]*Limit{ask.NumUnits: &l.Victims, ask.NumPods: &l.Pods, ask.Price: &l.Cost}
	switch {
	case b.Of == ask.NumStranded:
		return &l.Stranded
	case b.Window:
		return &of[b.Of].Window
	}
	return &of[b.Of].Once
}

// bounds lists the limits with the room that earlier preemptions leave, and what this one,
// made in several steps, has spent by now.
func (l *Limits) bounds(ix *cluster.Index, now cluster.Disruption) []ask.Bound {
	spent := now
	for _, d := range ix.Disruptions() {
		if ago, known := ix.Elapsed(d.Time); l.Seconds > 0 && known && ago < l.Seconds {
			spent = Sum(spent, d)
		}
	}
	var list []ask.Bound
	add := func(of ask.Measure, most Limit, now, spent int64) {
		if most.Once > 0 {
			list = append(list, ask.Bound{Of: of, Left: most.Once - now})
		}
		if most.Window > 0 {
			list = append(list, ask.Bound{Of: of, Left: most.Window - spent, Window: true})
		}
	}
	add(ask.NumUnits, l.Victims, now.Victims, spent.Victims)
	add(ask.NumPods, l.Pods, now.Pods, spent.Pods)
	add(ask.Price, l.Cost, now.Cost, spent.Cost)
	if l.OnlyMoves {
		list = append(list, ask.Bound{Of: ask.NumStranded, Left: l.Stranded})
	}
	return list
}

// Sum adds up what two preemptions took.
func Sum(a, b cluster.Disruption) cluster.Disruption {
	return cluster.Disruption{Victims: checked.Add(a.Victims, b.Victims), Pods: checked.Add(a.Pods, b.Pods), Cost: checked.Add(a.Cost, b.Cost)}
}

// SetSpent says what this preemption, made in several steps, has spent by now of what limits
// bound.
func (c *Cluster) SetSpent(spent cluster.Disruption) {
	c.Spent = spent
	c.Limits = c.Settings.Limits.bounds(c.Index, spent)
}

// HardBudgets says which disruption budgets must not be overrun.
type HardBudgets struct {
	All   bool
	Names []string // namespace/name
}

func (h *HardBudgets) any() bool { return h.All || len(h.Names) > 0 }

// in says which budgets of ix are hard; nil if none is. unknown lists the names that no
// budget has.
func (h *HardBudgets) in(ix *cluster.Index) (hard []bool, unknown []string) {
	if !h.any() {
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
