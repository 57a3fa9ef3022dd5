package verify

import (
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// matches: every requirement of s holds for labels; none for a nil s.
func matches(s *disruption.Selector, labels map[string]string) bool {
	if s == nil {
		return false
	}
	if !hasLabels(labels, s.MatchLabels) {
		return false
	}
	for _, r := range s.MatchExpressions {
		value, has := labels[r.Key]
		holds := !has
		switch r.Operator {
		case disruption.In:
			holds = has && slices.Contains(r.Values, value)
		case disruption.NotIn:
			holds = !has || !slices.Contains(r.Values, value)
		case disruption.Exists:
			holds = has
		}
		if !holds {
			return false
		}
	}
	return true
}

func hasLabels(labels, want map[string]string) bool {
	for key, value := range want {
		if has, ok := labels[key]; !ok || has != value {
			return false
		}
	}
	return true
}

// everything: s has no requirement.
func everything(s *disruption.Selector) bool {
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

// withKeys is s with what label keys stand for: the owner's own values.
func withKeys(s *disruption.Selector, owner *cluster.Pod, same, other []string) *disruption.Selector {
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

// term is an affinity term of a pod.
type term struct {
	key        string
	selector   *disruption.Selector
	namespaces []string
	spaces     *disruption.Selector
}

// termOf leaves out the label keys for which the selector has a requirement of their
// operator: those were written when the pod was created, whose labels may have changed.
func termOf(t *cluster.AffinityTerm, owner *cluster.Pod) term {
	unwritten := func(keys []string, op disruption.Operator) []string {
		return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
			return t.Selector != nil && slices.ContainsFunc(t.Selector.MatchExpressions, func(r disruption.Requirement) bool {
				return r.Key == key && r.Operator == op
			})
		})
	}
	selector := withKeys(t.Selector, owner, unwritten(t.MatchLabelKeys, disruption.In), unwritten(t.MismatchLabelKeys, disruption.NotIn))
	out := term{t.TopologyKey, selector, t.Namespaces, t.NamespaceSelector}
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		out.namespaces = []string{owner.Namespace}
	}
	return out
}

func termsOf(list []cluster.AffinityTerm, owner *cluster.Pod) []term {
	out := make([]term, len(list))
	for i := range list {
		out[i] = termOf(&list[i], owner)
	}
	return out
}

// selectsRunning: a term of a preemptor selects pod p. Upstream turns its namespace
// selector into names first, so that a namespace that is not there is selected by an
// empty one only; v1.36 kept the selector beside them, and no labels for it to read.
func (w *world) selectsRunning(t *term, p *cluster.Pod) bool {
	if !matches(t.selector, p.Labels) {
		return false
	}
	if slices.Contains(t.namespaces, p.Namespace) || everything(t.spaces) {
		return true
	}
	labels, known := w.spaces[p.Namespace]
	return known && matches(t.spaces, labels) || w.rules.old && matches(t.spaces, nil)
}

// selectsMember: a term of a running pod selects pod p of the preemptor.
func (w *world) selectsMember(t *term, p *cluster.Pod) bool {
	return matches(t.selector, p.Labels) && (slices.Contains(t.namespaces, p.Namespace) || matches(t.spaces, w.spaces[p.Namespace]))
}
