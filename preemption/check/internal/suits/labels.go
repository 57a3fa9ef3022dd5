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

// Selector is [Selector], which remembers long lists.
func (l *Lists) Selector(s *disruption.Selector, labels map[string]string) bool {
	if s == nil {
		return false
	}
	if !Labels(labels, s.MatchLabels) {
		return false
	}
	if l == nil || len(s.MatchExpressions) < manyValues {
		return l.allHold(s.MatchExpressions, labels)
	}
	at := list[disruption.Requirement]{&s.MatchExpressions[0], len(s.MatchExpressions)}
	of, again := l.required[at]
	if of.keys == nil {
		if again {
			of = byKey(s.MatchExpressions)
		}
		if l.required == nil {
			l.required = map[list[disruption.Requirement]]required{}
		}
		if l.required[at] = of; !again {
			return l.allHold(s.MatchExpressions, labels)
		}
	}
	present := 0
	for key := range labels {
		if !l.allHold(of.keys[key], labels) {
			return false
		}
		if of.needed[key] {
			present++
		}
	}
	return present == len(of.needed)
}

func (l *Lists) allHold(list []disruption.Requirement, labels map[string]string) bool {
	for _, r := range list {
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

// required are requirements by key, and the keys that they need; nothing of those that were read once.
type required struct {
	keys   map[string][]disruption.Requirement
	needed map[string]bool
}

func byKey(list []disruption.Requirement) required {
	of := required{map[string][]disruption.Requirement{}, map[string]bool{}}
	for _, r := range list {
		if of.keys[r.Key] = append(of.keys[r.Key], r); r.Operator == disruption.In || r.Operator == disruption.Exists {
			of.needed[r.Key] = true
		}
	}
	return of
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
	if s == nil || len(same)+len(other) == 0 {
		return s
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
