package noderules

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Same reports whether p says the same of nodes as q: by a node's name, node selector, tolerations and required node affinity, whose
// lists may stand in any order.
func Same(p, q *cluster.Pod) bool {
	a, b := p.NodeAffinity, q.NodeAffinity
	return p.RequiredNode == q.RequiredNode && maps.Equal(p.NodeSelector, q.NodeSelector) && words.SameTexts(p.Tolerations, q.Tolerations, toleration) &&
		(a == b || a != nil && b != nil && words.SameTexts(a.Terms, b.Terms, term))
}

// Text is equal for pods that say the same.
func Text(p *cluster.Pod) string {
	selector := make([]string, 0, len(p.NodeSelector))
	for _, k := range slices.Sorted(maps.Keys(p.NodeSelector)) {
		selector = append(selector, k, p.NodeSelector[k])
	}
	lists := [][]string{{p.RequiredNode}, selector, words.Texts(p.Tolerations, toleration)}
	if p.NodeAffinity != nil {
		lists = append(lists, words.Texts(p.NodeAffinity.Terms, term))
	}
	return fmt.Sprintf("%q", lists)
}

func toleration(t cluster.Toleration) string {
	return fmt.Sprintf("%q %q %q %q", t.Key, t.Operator, t.Value, t.Effect)
}

func term(t cluster.NodeTerm) string {
	text := func(r cluster.NodeRequirement) string {
		return fmt.Sprintf("%q %q %q", r.Key, r.Operator, slices.Sorted(slices.Values(r.Values)))
	}
	return fmt.Sprintf("%q", [][]string{words.Texts(t.Labels, text), words.Texts(t.Fields, text)})
}
