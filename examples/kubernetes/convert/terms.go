package convert

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Selector converts a label selector; nil, which selects nothing, gives nil.
func Selector(s *metav1.LabelSelector) *disruption.Selector {
	if s == nil {
		return nil
	}
	out := &disruption.Selector{MatchLabels: s.MatchLabels}
	for _, r := range s.MatchExpressions {
		out.MatchExpressions = append(out.MatchExpressions, disruption.Requirement{
			Key: r.Key, Operator: disruption.Operator(r.Operator), Values: r.Values,
		})
	}
	return out
}

func tolerations(list []corev1.Toleration) []cluster.Toleration {
	var out []cluster.Toleration
	for _, t := range list {
		out = append(out, cluster.Toleration{
			Key: t.Key, Operator: cluster.TolerationOperator(t.Operator), Value: t.Value, Effect: cluster.Effect(t.Effect),
		})
	}
	return out
}

// nodeAffinity converts what is required; what is preferred decides nothing.
func nodeAffinity(a *corev1.Affinity) *cluster.NodeAffinity {
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	out := &cluster.NodeAffinity{}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		out.Terms = append(out.Terms, cluster.NodeTerm{
			Labels: nodeRequirements(term.MatchExpressions),
			Fields: nodeRequirements(term.MatchFields),
		})
	}
	return out
}

func nodeRequirements(list []corev1.NodeSelectorRequirement) []cluster.NodeRequirement {
	var out []cluster.NodeRequirement
	for _, r := range list {
		out = append(out, cluster.NodeRequirement{Key: r.Key, Operator: cluster.NodeOperator(r.Operator), Values: r.Values})
	}
	return out
}

// podAffinity converts the required terms; preferred ones decide nothing.
func podAffinity(a *corev1.Affinity) (affinity, anti []cluster.AffinityTerm) {
	if a == nil {
		return nil, nil
	}
	if a.PodAffinity != nil {
		affinity = affinityTerms(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if a.PodAntiAffinity != nil {
		anti = affinityTerms(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return affinity, anti
}

func affinityTerms(list []corev1.PodAffinityTerm) []cluster.AffinityTerm {
	var out []cluster.AffinityTerm
	for _, t := range list {
		out = append(out, cluster.AffinityTerm{
			Selector: Selector(t.LabelSelector), NamespaceSelector: Selector(t.NamespaceSelector),
			Namespaces: slices.Clone(t.Namespaces), TopologyKey: t.TopologyKey,
			MatchLabelKeys: slices.Clone(t.MatchLabelKeys), MismatchLabelKeys: slices.Clone(t.MismatchLabelKeys),
		})
	}
	return out
}

// spread converts the constraints that must hold; others decide nothing.
func spread(list []corev1.TopologySpreadConstraint) []cluster.Spread {
	var out []cluster.Spread
	for _, c := range list {
		if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
			continue
		}
		s := cluster.Spread{
			MaxSkew: c.MaxSkew, TopologyKey: c.TopologyKey, Selector: Selector(c.LabelSelector),
			MatchLabelKeys: slices.Clone(c.MatchLabelKeys),
		}
		if c.MinDomains != nil {
			s.MinDomains = *c.MinDomains
		}
		if c.NodeAffinityPolicy != nil {
			s.NodeAffinityPolicy = cluster.NodePolicy(*c.NodeAffinityPolicy)
		}
		if c.NodeTaintsPolicy != nil {
			s.NodeTaintsPolicy = cluster.NodePolicy(*c.NodeTaintsPolicy)
		}
		out = append(out, s)
	}
	return out
}
