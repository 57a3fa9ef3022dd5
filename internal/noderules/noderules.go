package noderules

import (
	"maps"
	"slices"
	"strconv"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Same reports whether p says the same of nodes as q: by a node's name, node selector, tolerations and required node affinity, whose
// lists may stand in any order.
func Same(p, q *cluster.Pod) bool {
	a, b := p.NodeAffinity, q.NodeAffinity
	return p.RequiredNode == q.RequiredNode && maps.Equal(p.NodeSelector, q.NodeSelector) && words.SameTexts(p.Tolerations, q.Tolerations, tolerationText) &&
		(a == b || a != nil && b != nil && words.SameTexts(a.Terms, b.Terms, termText))
}

// Text is equal for pods that say the same.
func Text(p *cluster.Pod) string {
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

// Kinds numbers pods from 0 on: those have one number that say the same. The zero Kinds has none.
type Kinds struct {
	firsts []*cluster.Pod // of each kind
	texts  map[string]int // nil: there are few kinds
}

// fewKinds are so few that a pod is compared with each, which is faster than to write down what it says.
const fewKinds = 8

// Of is the number of the kind of p: the next one if it is the first of it.
func (k *Kinds) Of(p *cluster.Pod) int {
	next := len(k.firsts)
	if k.texts == nil {
		if i := slices.IndexFunc(k.firsts, func(q *cluster.Pod) bool { return Same(p, q) }); i >= 0 {
			return i
		}
		k.firsts = append(k.firsts, p)
		if next < fewKinds {
			return next
		}
		k.texts = map[string]int{}
		for i, q := range k.firsts {
			k.texts[Text(q)] = i
		}
		return next
	}
	text := Text(p)
	if i, known := k.texts[text]; known {
		return i
	}
	k.texts[text], k.firsts = next, append(k.firsts, p)
	return next
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
