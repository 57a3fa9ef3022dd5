package disruption

import "slices"

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
