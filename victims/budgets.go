package victims

import (
	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Budgets tells which budgets each pod charges, under one generation of rules.
// Immutable, safe for concurrent use.
type Budgets struct {
	Rule disruption.Rule

	set  *disruption.Set
	from []int32 // by pod: where its list begins in ids
	ids  []cluster.BudgetID
}

// NewBudgets lists the budgets that cover each pod of ix under rule.
func NewBudgets(ix *cluster.Index, rule disruption.Rule) *Budgets {
	b := &Budgets{Rule: rule, set: ix.BudgetSet()}
	if b.set.Len() == 0 {
		return b
	}
	b.from = make([]int32, ix.NumPods()+1)
	for p := range cluster.PodID(ix.NumPods()) {
		pod := ix.Pod(p)
		b.ids = b.set.Covering(b.ids, rule, pod.Namespace, pod.Name, pod.Labels)
		b.from[p+1] = int32(len(b.ids))
	}
	return b
}

// Of returns the budgets that cover pod p, in the order in which they are charged.
// The slice belongs to b.
func (b *Budgets) Of(p cluster.PodID) []cluster.BudgetID {
	if b.from == nil {
		return nil
	}
	return b.ids[b.from[p]:b.from[p+1]]
}

// None reports whether there are no budgets.
func (b *Budgets) None() bool { return b.from == nil }

// NewLedger returns a ledger with what each budget allows.
func (b *Budgets) NewLedger() *disruption.Ledger { return disruption.NewLedger(b.set.Allowed()) }

// Charge charges unit u to ledger l and returns what the unit adds to the count of
// violations if it stays a victim; above zero, it violates a budget.
func (b *Budgets) Charge(l *disruption.Ledger, u *Unit) int {
	switch {
	case b.from == nil:
		return 0
	case len(u.Pods) == 1:
		if ids := b.Of(u.Pods[0]); len(ids) > 0 && l.Charge(b.Rule, ids) {
			return 1
		}
		return 0
	}
	return l.ChargeUnit(b.Rule, len(u.Pods), func(i int) []cluster.BudgetID { return b.Of(u.Pods[i]) })
}
