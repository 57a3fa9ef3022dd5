package noderules

import (
	"maps"
	"slices"
	"strconv"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// text is what p says of nodes, by a node's name, node selector, tolerations and required node affinity: equal for pods that say the same,
// in whatever order their lists stand.
func text(p *cluster.Pod) string {
	selector := make([]string, 0, len(p.NodeSelector))
	for _, k := range slices.Sorted(maps.Keys(p.NodeSelector)) {
		selector = append(selector, k, p.NodeSelector[k])
	}
	text := key(p.RequiredNode, key(selector...), key(words.Texts(p.Tolerations, tolerationText)...))
	if p.NodeAffinity != nil {
		text += key(key(words.Texts(p.NodeAffinity.Terms, termText)...))
	}
	return text
}

func tolerationText(t cluster.Toleration) string {
	return key(t.Key, string(t.Operator), t.Value, string(t.Effect))
}

func termText(t cluster.NodeTerm) string {
	text := func(r cluster.NodeRequirement) string {
		return key(r.Key, string(r.Operator), key(slices.Sorted(slices.Values(r.Values))...))
	}
	return key(key(words.Texts(t.Labels, text)...), key(words.Texts(t.Fields, text)...))
}

// key is equal for equal lists alone: each word stands behind its length.
func key(list ...string) string {
	size := 0
	for _, word := range list {
		size += len(word) + 4
	}
	b := make([]byte, 0, size)
	for _, word := range list {
		b = append(strconv.AppendInt(b, int64(len(word)), 10), ':')
		b = append(b, word...)
	}
	return string(b)
}
