package relation

import (
	"cmp"
	"iter"
	"slices"

	"github.com/preempt-go/preempt/disruption"
)

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

// of goes over those that may select a pod with such labels.
func (f *filed[T]) of(labels map[string]string) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, v := range f.loose {
			if !yield(v) {
				return
			}
		}
		if len(f.by) == 0 {
			return
		}
		for key, value := range labels {
			for _, v := range f.by[label{key, value}] {
				if !yield(v) {
					return
				}
			}
		}
	}
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
