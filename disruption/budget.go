package disruption

import (
	"cmp"
)

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

// Mode says how the pods of a group may go. The zero Mode is Single.
type Mode string

// The disruption modes of KEP-5710.
const (
	Single Mode = "Single" // each pod by itself
	All    Mode = "All"    // every pod of the group or none

	// SurplusFirst lets pods go one by one as long as the group has what it needs to
	// go on, and then all of the rest or none. Source: KEP-5710, future modes.
	SurplusFirst Mode = "SurplusFirst"
)

// Valid reports whether m is one of the modes or empty.
func (m Mode) Valid() bool { return m == "" || m == Single || m == All || m == SurplusFirst }

// Whole reports whether the pods of a group of mode m are one unit.
func (m Mode) Whole() bool { return m == All || m == SurplusFirst }
