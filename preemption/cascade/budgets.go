package cascade

import (
	"math"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// budgets are those of a planner, as they are.
type budgets struct {
	planner *preemption.Planner
	list    []disruption.Budget
	set     *disruption.Set
	covers  []disruption.BudgetID // reused
}

func newBudgets(planner *preemption.Planner) (*budgets, error) {
	b := &budgets{planner: planner}
	err := planner.View(func(v preemption.View) {
		for budget := range v.Budgets() {
			b.list = append(b.list, *budget)
		}
	})
	if err != nil {
		return nil, err
	}
	b.set, err = disruption.NewSet(b.list)
	return b, err
}

// covering are the budgets that p counts for, as the API of evictions reads them; empty for one whose
// disruption is under way. It is good until the next call.
func (b *budgets) covering(p *cluster.Pod) []disruption.BudgetID {
	b.covers = b.set.Covering(b.covers[:0], disruption.Rule137, p.Namespace, p.Name, p.Labels)
	return b.covers
}

// add lets the budgets of p allow so many more, as far as int32 goes.
func (b *budgets) add(p *cluster.Pod, n int32) error {
	for _, id := range b.covering(p) {
		b.list[id].Allowed = int32(min(max(int64(b.list[id].Allowed)+int64(n), math.MinInt32), math.MaxInt32))
		if err := b.planner.SetBudget(b.list[id]); err != nil {
			return err
		}
	}
	return nil
}

// refuses is why the API of evictions does not let p go now; empty if it does.
func (b *budgets) refuses(p *cluster.Pod) string {
	list := b.covering(p)
	if len(list) > 1 {
		return "more than one budget covers it, which the API of evictions refuses"
	}
	for _, id := range list {
		if b.list[id].Allowed < 1 {
			return "budget " + b.list[id].Namespace + "/" + b.list[id].Name + " allows no disruption"
		}
	}
	return ""
}
