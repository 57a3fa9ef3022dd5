package convert

import (
	"maps"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"

	"github.com/preempt-go/preempt/disruption"
)

// Budget converts a budget. What is read is its status, which the disruption
// controller keeps: minAvailable and maxUnavailable are not looked at, and one
// without a status allows no disruption, as upstream has it.
func Budget(b *policyv1.PodDisruptionBudget) disruption.Budget {
	return disruption.Budget{
		Namespace: namespaceOf(&b.ObjectMeta), Name: b.Name,
		Selector:  Selector(b.Spec.Selector),
		Allowed:   b.Status.DisruptionsAllowed,
		Disrupted: slices.Sorted(maps.Keys(b.Status.DisruptedPods)),
	}
}

// BetaBudget converts a budget of policy/v1beta1. It differs in one thing: there an
// empty selector selects nothing.
func BetaBudget(b *policyv1beta1.PodDisruptionBudget) disruption.Budget {
	out := disruption.Budget{
		Namespace: namespaceOf(&b.ObjectMeta), Name: b.Name,
		Selector:  Selector(b.Spec.Selector),
		Allowed:   b.Status.DisruptionsAllowed,
		Disrupted: slices.Sorted(maps.Keys(b.Status.DisruptedPods)),
	}
	if s := out.Selector; s != nil && len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0 {
		out.Selector = nil
	}
	return out
}
