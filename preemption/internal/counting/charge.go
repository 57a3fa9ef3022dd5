package counting

import (
	"github.com/preempt-go/preempt/internal/heaps"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// charge finds the potential victims whose loss violates a budget. Budgets that are
// spent, or that allow the loss of all they cover, need no order; the rest is charged
// by importance.
func (t *attempt) charge() {
	if t.Budgets.None() {
		return
	}
	t.tally.Reset()
	allowed := false
	for b := range cluster.BudgetID(t.Index.NumBudgets()) {
		allowed = allowed || t.tally.Left(b) > 0
	}
	if !allowed && !t.joint { // what is known of a node is known of plain ones
		t.chargeSpent()
		return
	}
	t.charging, t.contests = zeroed(t.charging, t.Index.NumBudgets()), grown(t.contests, t.Index.NumBudgets())
	for i := range t.contests {
		t.contests[i] = contest{within: t.contests[i].within[:0]}
	}
	t.each(func(_ place, _ victims.UnitID, ids []cluster.BudgetID) {
		for _, b := range ids {
			t.charging[b]++
			t.contests[b].tangled = t.contests[b].tangled || len(ids) > 1
		}
	})
	t.harm = grown(t.harm, t.Index.NumNodes())
	t.contested, t.places = t.contested[:0], t.places[:0]
	t.each(func(at place, u victims.UnitID, ids []cluster.BudgetID) {
		for _, b := range ids {
			switch left := t.tally.Left(b); {
			case left <= 0:
				if t.mark(at); t.Budgets.Rule.StopAtFirst {
					return
				}
			case left < t.charging[b] && !t.contests[b].tangled:
				t.contend(&t.contests[b], int(left), contender{t.Units.Importance(u), at})
			case left < t.charging[b]:
				t.contested = append(t.contested, victims.Marked{Unit: u, Mark: int32(len(t.places))})
				t.places = append(t.places, at)
				return
			}
		}
	})
	t.sorter.Sort(t.Units, t.contested)
	for _, m := range t.contested {
		if t.Budgets.Charge(t.tally, t.Units.Unit(m.Unit)) > 0 {
			t.mark(t.places[m.Mark])
		}
	}
	t.tally.Reset()
	if t.marked = t.harmful; t.marked {
		t.harms = func(n cluster.NodeID) *columns.PositionSet { return &t.harm[n] }
		t.seats.Charge(t.harms)
	}
}

// contest is a budget that not everybody can have whom it covers.
type contest struct {
	tangled bool        // somebody is covered by another one, too: all are charged in order
	within  []contender // a heap: the most important so far, the least important of them first
}

type contender struct {
	victims.Importance
	at place
}

// contend lets c into a contest for so many; whom there is no room for does harm.
func (t *attempt) contend(in *contest, most int, c contender) {
	compare := func(a, b *contender) int { return t.Units.CompareImportance(&b.Importance, &a.Importance) }
	switch {
	case len(in.within) < most:
		in.within = append(in.within, c)
		heaps.Up(in.within, len(in.within)-1, compare)
	case compare(&in.within[0], &c) < 0:
		t.mark(in.within[0].at)
		in.within[0] = c
		heaps.Down(in.within, 0, compare)
	default:
		t.mark(c.at)
	}
}

// chargeSpent is charge where every budget is spent: then it does not matter who is
// charged first, and what is known of a node alone holds.
func (t *attempt) chargeSpent() {
	violating := t.Columns.Violating(t.Priority)
	for i := range t.parts {
		s := &t.parts[i]
		t.harmful = t.harmful || violating.Any(int(s.base/columns.BlockSize))&s.nodes != 0
	}
	if t.harmful {
		t.harms = violating.Of
		t.seats.Charge(t.harms)
	}
}

// place is the place of a unit in the columns.
type place struct {
	node     cluster.NodeID
	position victims.Position
}

func (t *attempt) mark(at place) {
	t.harm[at.node].Add(at.position)
	t.harmful = true
}

// each calls visit for the potential victims that a budget covers.
func (t *attempt) each(visit func(place, victims.UnitID, []cluster.BudgetID)) {
	for _, n := range t.domain.Nodes {
		if !t.Columns.Budgeted(n) {
			continue
		}
		first, end := t.seats.Positions(n)
		for g := first; g < end; g++ {
			u := t.Columns.Unit(n, g)
			if ids := t.Budgets.Of(t.Units.Unit(u).Pods[0]); len(ids) > 0 {
				visit(place{n, g}, u, ids)
			}
		}
	}
}

// discharge forgets what charge found.
func (t *attempt) discharge() {
	if t.harmful {
		t.seats.Charge(nil)
	}
	if !t.marked {
		return
	}
	for _, n := range t.domain.Nodes {
		t.harm[n] = columns.PositionSet{}
	}
}
