package relation

import (
	"iter"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Index are running pods by what affinity reads of them, for many questions about the same ones.
type Index struct {
	by      map[label][]standing
	holders map[string][]standing // of anti-affinity terms, by a namespace that one has; "": one selects namespaces
}

type standing struct {
	pod  *cluster.Pod
	node *cluster.Node
}

// mostLabels is how many labels of pods, and namespaces of terms, an index has at most.
const mostLabels = 1 << 20

// NewIndex returns the index of running pods; nil where they have too many labels.
func NewIndex(running iter.Seq2[*cluster.Pod, *cluster.Node]) *Index {
	x, labels := &Index{map[label][]standing{}, map[string][]standing{}}, 0
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
			if t.spaces != nil {
				x.holders[""] = append(x.holders[""], standing{p, n})
			}
			for _, name := range t.namespaces {
				x.holders[name] = append(x.holders[name], standing{p, n})
			}
		}
	}
	return x
}

// with goes over those that have one of some labels, and the holders of terms that may select pods of namespaces, each once.
func (x *Index) with(labels []label, namespaces []string) iter.Seq2[*cluster.Pod, *cluster.Node] {
	return func(yield func(*cluster.Pod, *cluster.Node) bool) {
		lists, seen := [][]standing{x.holders[""]}, map[*cluster.Pod]bool{}
		for _, name := range namespaces {
			lists = append(lists, x.holders[name])
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
