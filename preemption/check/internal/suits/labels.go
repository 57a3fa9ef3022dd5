package suits

import (
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Selector reports whether every requirement of s holds for labels; none does for a nil s.
func Selector(s *disruption.Selector, labels map[string]string) bool {
	return (*Lists)(nil).Selector(s, labels)
}

// Selector is [Selector], which remembers long lists of values.
func (l *Lists) Selector(s *disruption.Selector, labels map[string]string) bool {
	if s == nil {
		return false
	}
	if !Labels(labels, s.MatchLabels) {
		return false
	}
	for _, r := range s.MatchExpressions {
		value, has := labels[r.Key]
		holds := !has
		switch r.Operator {
		case disruption.In:
			holds = has && l.Has(r.Values, value)
		case disruption.NotIn:
			holds = !has || !l.Has(r.Values, value)
		case disruption.Exists:
			holds = has
		}
		if !holds {
			return false
		}
	}
	return true
}

// Labels reports whether labels have all that is wanted.
func Labels(labels, want map[string]string) bool {
	for key, value := range want {
		if has, ok := labels[key]; !ok || has != value {
			return false
		}
	}
	return true
}

// Everything reports whether s has no requirement.
func Everything(s *disruption.Selector) bool {
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

// WithKeys is s with what label keys stand for: the owner's own values.
func WithKeys(s *disruption.Selector, owner *cluster.Pod, same, other []string) *disruption.Selector {
	if s == nil {
		return nil
	}
	merged := *s
	merged.MatchExpressions = slices.Clone(s.MatchExpressions)
	add := func(keys []string, op disruption.Operator) {
		for _, key := range keys {
			if value, ok := owner.Labels[key]; ok {
				merged.MatchExpressions = append(merged.MatchExpressions, disruption.Requirement{Key: key, Operator: op, Values: []string{value}})
			}
		}
	}
	add(same, disruption.In)
	add(other, disruption.NotIn)
	return &merged
}

// Names is how many labels, tokens and tolerations a pod has, and what its terms name; 1 at least.
func Names(p *cluster.Pod) (n int) {
	selector := func(s *disruption.Selector) {
		if s != nil {
			n += len(s.MatchLabels)
			for _, r := range s.MatchExpressions {
				n += 1 + len(r.Values)
			}
		}
	}
	for _, t := range slices.Concat(p.Affinity, p.AntiAffinity) {
		n += 1 + len(t.Namespaces)
		selector(t.Selector)
		selector(t.NamespaceSelector)
	}
	for _, s := range p.Spread {
		n++
		selector(s.Selector)
	}
	if p.NodeAffinity != nil {
		for _, t := range p.NodeAffinity.Terms {
			for _, r := range slices.Concat(t.Labels, t.Fields) {
				n += 1 + len(r.Values)
			}
		}
	}
	return 1 + n + len(p.Labels) + len(p.Tokens) + len(p.Tolerations)
}
