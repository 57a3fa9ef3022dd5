package cluster

import (
	"slices"

	"github.com/preempt-go/preempt/disruption"
)

// PodTerm is an [AffinityTerm] compiled for the pod that has it. Immutable.
type PodTerm struct {
	key        string
	selector   *disruption.Selector
	matcher    *disruption.Matcher
	namespaces []string            // sorted; named ones, or the owner's own
	selected   *disruption.Matcher // of namespaces by their labels; nil: none
	reads      []string
}

// Compile checks t, a term of pod owner, and returns its PodTerm. The error is that
// of a selector; see [disruption.Selector.Compile].
//
// MatchLabelKeys and MismatchLabelKeys become requirements of the selector with the
// owner's own label values: In for the former, NotIn for the latter. A key that the
// owner does not carry is left out, and so is one for which the selector has such a
// requirement already: the API server writes these requirements when a pod is
// created, so a pod that comes from a cluster has both, and compiling it again
// changes nothing. A nil Selector selects nothing, whatever the keys.
//
// Source: KEP-3633; Kubernetes, PodAffinityTerm.
func (t *AffinityTerm) Compile(owner *Pod) (*PodTerm, error) {
	selector := mergeKeys(t, owner)
	matcher, err := selector.Compile()
	if err != nil {
		return nil, err
	}
	term := &PodTerm{key: t.TopologyKey, selector: selector, matcher: matcher, reads: labelsRead(selector)}
	if t.NamespaceSelector != nil {
		if term.selected, err = t.NamespaceSelector.Compile(); err != nil {
			return nil, err
		}
	}
	term.namespaces = slices.Sorted(slices.Values(t.Namespaces))
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		term.namespaces = []string{owner.Namespace}
	}
	return term, nil
}

// mergeKeys returns the selector of t with the requirements that its label keys
// stand for; t's own where there are none.
func mergeKeys(t *AffinityTerm, owner *Pod) *disruption.Selector {
	if t.Selector == nil || len(t.MatchLabelKeys)+len(t.MismatchLabelKeys) == 0 {
		return t.Selector
	}
	merged := *t.Selector
	merged.MatchExpressions = slices.Clone(merged.MatchExpressions)
	add := func(keys []string, op disruption.Operator) {
		for _, key := range keys {
			value, ok := owner.Labels[key]
			if !ok || slices.ContainsFunc(merged.MatchExpressions, func(r disruption.Requirement) bool {
				return r.Key == key && r.Operator == op
			}) {
				continue
			}
			merged.MatchExpressions = append(merged.MatchExpressions,
				disruption.Requirement{Key: key, Operator: op, Values: []string{value}})
		}
	}
	add(t.MatchLabelKeys, disruption.In)
	add(t.MismatchLabelKeys, disruption.NotIn)
	return &merged
}

func labelsRead(s *disruption.Selector) []string {
	if s == nil {
		return nil
	}
	reads := sortedNames(s.MatchLabels)
	for _, r := range s.MatchExpressions {
		reads = append(reads, r.Key)
	}
	return reads
}

// Reads returns the keys of the pod labels that t looks at. The slice belongs to t.
func (t *PodTerm) Reads() []string { return t.reads }

// Candidates returns the label sets among which are all that t selects; see
// [LabelSets.Candidates].
func (t *PodTerm) Candidates(ls *LabelSets) []LabelSetID { return ls.Candidates(t.selector) }

// TopologyKey is the node label whose values the term is about.
func (t *PodTerm) TopologyKey() string { return t.key }

// Selects reports whether t selects a pod with these labels in a namespace with
// these labels; either map may be nil.
func (t *PodTerm) Selects(namespace string, namespaceLabels, labels map[string]string) bool {
	return t.covers(namespace, namespaceLabels) && t.matcher.Matches(labels)
}

func (t *PodTerm) covers(namespace string, labels map[string]string) bool {
	if len(t.namespaces) == 1 && t.namespaces[0] == namespace {
		return true
	}
	if _, named := slices.BinarySearch(t.namespaces, namespace); named {
		return true
	}
	return t.selected.Matches(labels)
}

// Resolve returns t with its namespace selector replaced by the names of the
// namespaces of ix that it selects, as upstream does for the terms of a pending
// pod: a namespace that is not in the snapshot is selected by an empty selector
// only. The terms of running pods are not resolved; for them a namespace that is
// not in the snapshot has no labels. What is resolved needs no namespace labels.
//
// Source: kube-scheduler v1.37, inter-pod affinity.
func (t *PodTerm) Resolve(ix *Index) *PodTerm {
	if t.selected == nil || t.selected.Empty() {
		return t
	}
	resolved := t.Resolve136(ix)
	resolved.selected = nil
	return resolved
}

// Resolve136 is Resolve with a mistake of kube-scheduler v1.36, which was mended in
// v1.37: it adds the names and keeps the selector, but does not know the labels of
// namespaces any more. So a selector that holds for no labels at all (NotIn,
// DoesNotExist) selects every namespace.
//
// Source: kube-scheduler v1.36.3, inter-pod affinity; kubernetes/kubernetes#138198.
func (t *PodTerm) Resolve136(ix *Index) *PodTerm {
	resolved := *t
	resolved.namespaces = slices.Clone(t.namespaces)
	for name, labels := range ix.namespaces {
		if t.selected.Matches(labels) {
			resolved.namespaces = append(resolved.namespaces, name)
		}
	}
	slices.Sort(resolved.namespaces)
	return &resolved
}
