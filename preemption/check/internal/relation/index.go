package relation

import (
	"iter"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Index are running pods by what affinity reads of them, for many questions about the same ones.
type Index struct {
	by      map[label][]standing
	holders holders
}

// holders are who has anti-affinity terms: by each namespace that a term names; where it selects these, by a label that it asks pods for, or loose.
type holders struct {
	of    map[string][]standing
	by    map[label][]standing
	loose []standing
}

type standing struct {
	pod  *cluster.Pod
	node *cluster.Node
}

// mostLabels is how many labels of pods, and namespaces of terms, an index has at most.
const mostLabels = 1 << 20

// NewIndex returns the index of running pods; nil where they have too many labels.
func NewIndex(running iter.Seq2[*cluster.Pod, *cluster.Node]) *Index {
	x, labels := &Index{map[label][]standing{}, holders{of: map[string][]standing{}, by: map[label][]standing{}}}, 0
	for p, n := range running {
		if labels += len(p.Labels); labels > mostLabels {
			return nil
		}
		for key, value := range p.Labels {
			x.by[label{key, value}] = append(x.by[label{key, value}], standing{p, n})
		}
		for _, t := range termsOf(p.AntiAffinity, p) {
			if labels += len(t.namespaces); labels > mostLabels {
				return nil
			}
			x.holders.add(t, standing{p, n})
		}
	}
	return x
}

func (h *holders) add(t term, s standing) {
	asked := asked(t.selector)
	switch {
	case t.spaces == nil:
		for _, name := range t.namespaces {
			h.of[name] = append(h.of[name], s)
		}
	case len(asked) > 0:
		h.by[asked[0]] = append(h.by[asked[0]], s)
	default:
		h.loose = append(h.loose, s)
	}
}

// with goes over those that have one of some labels, and the holders of terms that may select one of pods, each once.
func (x *Index) with(labels []label, pods []*cluster.Pod) iter.Seq2[*cluster.Pod, *cluster.Node] {
	return func(yield func(*cluster.Pod, *cluster.Node) bool) {
		lists, seen := [][]standing{x.holders.loose}, map[*cluster.Pod]bool{}
		for _, p := range pods {
			lists = append(lists, x.holders.of[p.Namespace])
			for key, value := range p.Labels {
				lists = append(lists, x.holders.by[label{key, value}])
			}
		}
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
