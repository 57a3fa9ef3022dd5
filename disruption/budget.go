package disruption

import "cmp"

// BudgetID is a position in a [Set] and the [Ledger] made for it, and the order in
// which budgets are charged.
type BudgetID int32

// Budget is a pod disruption budget (PDB): how many more of the pods that it
// selects may be disrupted.
type Budget struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`

	// Selector tells which pods of Namespace are covered. nil covers none.
	// An empty selector covers every pod or none, by generation of rules (see Rule).
	Selector *Selector `json:"selector,omitempty"`

	// Allowed is how many more pods may go; below zero means that the budget is
	// overdrawn already.
	Allowed int32 `json:"disruptionsAllowed"`

	// Disrupted names pods whose eviction is under way already and paid for: they
	// neither charge this budget nor violate it.
	Disrupted []string `json:"disruptedPods,omitempty"`
}

// Compare orders budgets by namespace, then name: the order in which the budgets of
// a pod are charged. Upstream's is that of a map, and with StopAtFirst it matters.
func (b Budget) Compare(o Budget) int {
	return cmp.Or(cmp.Compare(b.Namespace, o.Namespace), cmp.Compare(b.Name, o.Name))
}
