package relation

import (
	"cmp"
	"iter"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
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

// Index are running pods by what affinity reads of them, for many questions about the same ones.
type Index struct {
	by      map[label][]standing
	holders []standing // of anti-affinity terms
}

type standing struct {
	pod  *cluster.Pod
	node *cluster.Node
}

// mostLabels is how many labels of pods an index has at most.
const mostLabels = 1 << 20

// NewIndex returns the index of running pods; nil where they have too many labels.
func NewIndex(running iter.Seq2[*cluster.Pod, *cluster.Node]) *Index {
	x, labels := &Index{by: map[label][]standing{}}, 0
	for p, n := range running {
		if labels += len(p.Labels); labels > mostLabels {
			return nil
		}
		for key, value := range p.Labels {
			x.by[label{key, value}] = append(x.by[label{key, value}], standing{p, n})
		}
		if len(p.AntiAffinity) > 0 {
			x.holders = append(x.holders, standing{p, n})
		}
	}
	return x
}

// with goes over those that have one of some labels, and all holders, each once.
func (x *Index) with(labels []label) iter.Seq2[*cluster.Pod, *cluster.Node] {
	return func(yield func(*cluster.Pod, *cluster.Node) bool) {
		lists, seen := [][]standing{x.holders}, map[*cluster.Pod]bool{}
		for _, l := range labels {
			lists = append(lists, x.by[l])
		}
		for _, list := range lists {
			for _, s := range list {
				if first := !seen[s.pod]; first && !yield(s.pod, s.node) {
					return
				}
				seen[s.pod] = true
			}
		}
	}
}

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
