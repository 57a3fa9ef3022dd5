package relation

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
	selector := suits.WithKeys(t.Selector, owner, unwritten(t.MatchLabelKeys, disruption.In), unwritten(t.MismatchLabelKeys, disruption.NotIn))
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

// textOf is equal for terms that select alike.
func textOf(terms ...term) string {
	var parts []any
	for _, t := range terms {
		parts = append(parts, t.key, t.selector, t.namespaces, t.spaces)
	}
	return AsText(parts)
}

// selectsRunning: a term of a preemptor selects pod p. Upstream turns its namespace
// selector into names first, so that a namespace that is not there is selected by an
// empty one only; v1.36 kept the selector beside them, and no labels for it to read.
func (q *Question) selectsRunning(t *term, p *cluster.Pod) bool {
	if !q.Lists.Selector(t.selector, p.Labels) {
		return false
	}
	if q.Lists.Has(t.namespaces, p.Namespace) || suits.Everything(t.spaces) {
		return true
	}
	labels, known := q.Spaces[p.Namespace]
	return known && q.Lists.Selector(t.spaces, labels) || q.Old && q.Lists.Selector(t.spaces, nil)
}

// selectsMember: a term of a running pod selects pod p of the preemptor.
func (q *Question) selectsMember(t *term, p *cluster.Pod) bool {
	return q.inSpace(t, p.Namespace) && q.Lists.Selector(t.selector, p.Labels)
}

// inSpace: a term of a running pod selects pods of the preemptor in a namespace.
func (q *Question) inSpace(t *term, space string) bool {
	return q.Lists.Has(t.namespaces, space) || q.Lists.Selector(t.spaces, q.Spaces[space])
}

// filed are values by a label that pods must have to be selected by them.
type filed[T any] struct {
	by    map[label][]T
	loose []T // those that ask for no label
}

// add files v under one of the labels that s asks for, of these one with the fewest yet.
func (f *filed[T]) add(s *disruption.Selector, v T) {
	labels := asked(s)
	if len(labels) == 0 {
		f.loose = append(f.loose, v)
		return
	}
	f.put(slices.MinFunc(labels, func(a, b label) int { return len(f.by[a]) - len(f.by[b]) }), v)
}

func (f *filed[T]) put(at label, v T) {
	if f.by == nil {
		f.by = map[label][]T{}
	}
	f.by[at] = append(f.by[at], v)
}

// of are those that may select a pod with such labels.
func (f *filed[T]) of(labels map[string]string) []T {
	list := slices.Clip(f.loose)
	if len(f.by) == 0 {
		return list
	}
	for key, value := range labels {
		list = append(list, f.by[label{key, value}]...)
	}
	return list
}

type label struct{ key, value string }

// asked are the labels that a pod must have which s selects.
func asked(s *disruption.Selector) (list []label) {
	if s == nil {
		return nil
	}
	for key, value := range s.MatchLabels {
		list = append(list, label{key, value})
	}
	for _, r := range s.MatchExpressions {
		if r.Operator == disruption.In && len(r.Values) == 1 {
			list = append(list, label{key: r.Key, value: r.Values[0]})
		}
	}
	slices.SortFunc(list, func(a, b label) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.value, b.value)) })
	return list
}
