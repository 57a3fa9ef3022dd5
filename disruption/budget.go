package disruption

import (
	"cmp"
	"slices"
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

// Rule is one generation of the upstream rule that splits potential victims into
// those that violate a budget and those that do not. It is data: each field is a
// point on which the generations differ. What they share: the namespace must be
// equal, a nil selector covers nothing, a budget passes over the pods that it
// names as disrupted, and a charge that takes a counter below zero violates.
//
// Upstream reads neither the budget's minAvailable and maxUnavailable nor its
// policy for unhealthy pods nor how old its status is.
type Rule struct {
	// EmptySelectorCoversAll: the empty selector covers every pod of the namespace;
	// otherwise none. Source: kubernetes #141785.
	EmptySelectorCoversAll bool

	// UnlabelledCovered: a pod without labels is matched like any other; otherwise
	// no budget ever covers it, not even one that asks for the absence of a label.
	UnlabelledCovered bool

	// StopAtFirst: charging a pod ends at the first budget that goes below zero, so
	// that the budgets after it keep theirs; otherwise all are charged.
	StopAtFirst bool

	// WholeUnit: every pod of a unit is charged; otherwise charging a unit ends at
	// its first violating pod.
	WholeUnit bool

	// CountPods: violations are counted in violating pods; otherwise in units.
	CountPods bool
}

// The generations. For a unit of one pod, WholeUnit and CountPods change nothing.
var (
	// PodRule136 is what kube-scheduler v1.36 does for a single pod as preemptor.
	// It knows no units but pods.
	PodRule136 = Rule{WholeUnit: true, CountPods: true}

	// GroupRule136 is what kube-scheduler v1.36 does for a pod group as preemptor.
	GroupRule136 = Rule{StopAtFirst: true}

	// Rule137 is what the newest upstream does for every preemptor.
	// Source: KEP-5710 (beta), "PDB reprieval"; kubernetes #141785.
	Rule137 = Rule{
		EmptySelectorCoversAll: true,
		UnlabelledCovered:      true,
		StopAtFirst:            true,
		WholeUnit:              true,
		CountPods:              true,
	}
)

// Covers reports whether b, whose compiled selector is m, is charged for the pod
// of that namespace, name and labels. It is the plain form, linear in
// b.Disrupted; a [Set] answers the same for many budgets.
func (r Rule) Covers(b *Budget, m *Matcher, namespace, name string, labels map[string]string) bool {
	return b.Namespace == namespace && r.selects(m, labels) && !slices.Contains(b.Disrupted, name)
}

// selects is the part of the rule that looks at labels.
func (r Rule) selects(m *Matcher, labels map[string]string) bool {
	switch {
	case len(labels) == 0 && !r.UnlabelledCovered:
		return false
	case m.Empty():
		return r.EmptySelectorCoversAll
	default:
		return m.Matches(labels)
	}
}
