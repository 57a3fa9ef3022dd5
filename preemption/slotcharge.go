package preemption

import (
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// charge finds the potential victims whose loss violates a budget. Budgets that are
// spent, or that allow the loss of all they cover, need no order; the rest is charged
// by importance.
func (t *slotTry) charge() {
	if t.budgets.None() {
		return
	}
	t.tally.Reset()
	allowed := false
	for b := range cluster.BudgetID(t.ix.NumBudgets()) {
		allowed = allowed || t.tally.Left(b) > 0
	}
	if !allowed && !t.joint { // what is known of a node is known of plain ones
		t.chargeSpent()
		return
	}
	t.charging = grown(t.charging, t.ix.NumBudgets())
	t.each(func(_ place, _ victims.UnitID, ids []cluster.BudgetID) {
		for _, b := range ids {
			t.charging[b]++
		}
	})
	t.harm = grown(t.harm, t.ix.NumNodes())
	places := map[victims.UnitID]place{}
	var contested []victims.UnitID
	t.each(func(at place, u victims.UnitID, ids []cluster.BudgetID) {
		for _, b := range ids {
			switch left := t.tally.Left(b); {
			case left <= 0:
				if t.mark(at); t.budgets.Rule.StopAtFirst {
					return
				}
			case left < t.charging[b]:
				places[u] = at
				contested = append(contested, u)
				return
			}
		}
	})
	for _, u := range t.units.Sorted(contested) {
		if t.budgets.Charge(t.tally, t.units.Unit(u)) > 0 {
			t.mark(places[u])
		}
	}
	t.tally.Reset()
	clear(t.charging)
	if t.marked = t.harmful; t.marked {
		t.seats.Charge(func(n cluster.NodeID) *victims.RungSet { return &t.harm[n] })
	}
}

// chargeSpent is charge where every budget is spent: then it does not matter who is
// charged first, and what is known of a node alone holds.
func (t *slotTry) chargeSpent() {
	violating := t.ladder.Violating(t.priority)
	for i := range t.parts {
		s := &t.parts[i]
		t.harmful = t.harmful || violating.Any(int(s.base/victims.BlockSize))&s.nodes != 0
	}
	if t.harmful {
		t.seats.Charge(violating.Of)
	}
}

// place is the place of a unit in the ladder.
type place struct {
	node cluster.NodeID
	rung victims.Rung
}

func (t *slotTry) mark(at place) {
	t.harm[at.node].Add(at.rung)
	t.harmful = true
}

// each calls visit for the potential victims that a budget covers.
func (t *slotTry) each(visit func(place, victims.UnitID, []cluster.BudgetID)) {
	for _, n := range t.domain.Nodes {
		if !t.ladder.Budgeted(n) {
			continue
		}
		first, end := t.seats.Rungs(n)
		for g := first; g < end; g++ {
			u := t.ladder.Unit(n, g)
			if ids := t.budgets.Of(t.units.Unit(u).Pods[0]); len(ids) > 0 {
				visit(place{n, g}, u, ids)
			}
		}
	}
}

// discharge forgets what charge found.
func (t *slotTry) discharge() {
	if t.harmful {
		t.seats.Charge(nil)
	}
	if !t.marked {
		return
	}
	for _, n := range t.domain.Nodes {
		t.harm[n] = victims.RungSet{}
	}
}
