package noderules

import (
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Rule is what a pod says about nodes: its tolerations, its node selector and its required node affinity. Lists that are long are
// looked up, not gone through, so that a node costs O(l) for what it says itself: its taints, and the terms of the pod. The zero Rule
// is that of a pod that says nothing. It is immutable.
type Rule struct {
	pod       *cluster.Pod
	tolerated map[toleration]int64       // nil: few, they are gone through
	values    map[listed]map[string]bool // of long lists of values, by their first one
	terms     *nodeTerms                 // nil: few, they are gone through
	at        map[*cluster.Node]int32    // of the nodes as they were read; nil: none were
	nodes     Nodes                      // those of at that the terms allow
	text      *atomic.Pointer[string]    // nil: the pod says nothing
}

// nodeTerms files each term under what a node must have for it to hold: one of some values of a label, a label, or a name.
type nodeTerms struct {
	byLabel map[label][]int32
	byName  map[string][]int32
	rest    []int32
	longest int // of those lists
}

type label struct {
	key, value string
	valued     bool // false: whatever the value
}

// toleration is what tolerates a taint: with TolerationEqual a value, with TolerationLt and TolerationGt a bound, which the map has: the
// widest of the pod's.
type toleration struct {
	key      string
	effect   cluster.Effect
	operator cluster.TolerationOperator
	value    string
}

// manyListed is from how many entries on a list is looked up.
const manyListed = 16

// NewRule reads pod, which must not be changed while it is in use.
func NewRule(pod *cluster.Pod) Rule {
	f := Rule{pod: pod}
	if pod.RequiredNode != "" || len(pod.NodeSelector)+len(pod.Tolerations) > 0 || pod.NodeAffinity != nil {
		f.text = new(atomic.Pointer[string])
	}
	if len(pod.Tolerations) > manyListed {
		f.tolerated = make(map[toleration]int64, len(pod.Tolerations))
		for _, t := range pod.Tolerations {
			f.tolerate(t)
		}
	}
	if pod.NodeAffinity != nil {
		if len(pod.NodeAffinity.Terms) > manyListed {
			f.terms = fileTerms(pod.NodeAffinity.Terms)
		}
		for _, term := range pod.NodeAffinity.Terms {
			for _, r := range term.Labels {
				f.list(r.Values)
			}
		}
	}
	return f
}

// Text is what the pod says: equal for pods that say the same, in whatever order their lists stand. It is written down once, as it may be long.
func (f *Rule) Text() string {
	if f.text == nil {
		return ""
	}
	if f.text.Load() == nil {
		text := text(f.pod)
		f.text.Store(&text)
	}
	return *f.text.Load()
}

func fileTerms(terms []cluster.NodeTerm) *nodeTerms {
	ts := &nodeTerms{byLabel: map[label][]int32{}, byName: map[string][]int32{}}
	for i, t := range terms {
		ts.file(int32(i), t)
	}
	ts.longest = len(ts.rest)
	for _, list := range ts.byLabel {
		ts.longest = max(ts.longest, len(list))
	}
	for _, list := range ts.byName {
		ts.longest = max(ts.longest, len(list))
	}
	return ts
}

func (ts *nodeTerms) file(i int32, t cluster.NodeTerm) {
	for _, r := range t.Fields {
		if r.Operator == cluster.NodeIn {
			for _, name := range r.Values {
				ts.byName[name] = append(ts.byName[name], i)
			}
			return
		}
	}
	for _, r := range t.Labels {
		switch r.Operator {
		case cluster.NodeIn:
			for _, v := range r.Values {
				ts.byLabel[label{r.Key, v, true}] = append(ts.byLabel[label{r.Key, v, true}], i)
			}
			return
		case cluster.NodeExists, cluster.NodeGt, cluster.NodeLt:
			ts.byLabel[label{key: r.Key}] = append(ts.byLabel[label{key: r.Key}], i)
			return
		}
	}
	ts.rest = append(ts.rest, i)
}

func (f *Rule) tolerate(t cluster.Toleration) {
	at := toleration{t.Key, t.Effect, t.Operator, ""}
	switch t.Operator {
	case cluster.TolerationExists:
	case cluster.TolerationLt, cluster.TolerationGt:
		bound, err := strconv.ParseInt(t.Value, 10, 64)
		if err != nil {
			return
		}
		known, ok := f.tolerated[at]
		if !ok || t.Operator == cluster.TolerationLt && bound > known || t.Operator == cluster.TolerationGt && bound < known {
			f.tolerated[at] = bound
		}
		return
	default:
		at.operator, at.value = cluster.TolerationEqual, t.Value
	}
	f.tolerated[at] = 0
}

func (f *Rule) list(values []string) {
	if len(values) <= manyListed {
		return
	}
	if f.values == nil {
		f.values = map[listed]map[string]bool{}
	}
	set := make(map[string]bool, len(values))
	for _, v := range values {
		set[v] = true
	}
	f.values[listedOf(values)] = set
}

// listed tells lists apart, which may share memory.
type listed struct {
	first *string
	len   int
}

func listedOf(values []string) listed { return listed{&values[0], len(values)} }

// Untolerated returns the first taint of node that keeps the pod away, nil if there is none.
func (f *Rule) Untolerated(node *cluster.Node) *cluster.Taint {
	for i := range node.Taints {
		t := &node.Taints[i]
		if t.Effect != cluster.PreferNoSchedule && !f.Tolerates(t) {
			return t
		}
	}
	return nil
}

// AllUntolerated returns every taint of node that keeps the pod away.
func (f *Rule) AllUntolerated(node *cluster.Node) []cluster.Taint {
	return slices.DeleteFunc(slices.Clone(node.Taints), func(t cluster.Taint) bool { return t.Effect == cluster.PreferNoSchedule || f.Tolerates(&t) })
}

// Tolerates reports whether the pod tolerates taint.
func (f *Rule) Tolerates(taint *cluster.Taint) bool {
	if f.tolerated == nil {
		return slices.ContainsFunc(f.pod.Tolerations, func(t cluster.Toleration) bool { return toleratesTaint(t, taint) })
	}
	number, err := strconv.ParseInt(taint.Value, 10, 64)
	for _, key := range [...]string{taint.Key, ""} {
		for _, effect := range [...]cluster.Effect{taint.Effect, ""} {
			if _, ok := f.tolerated[toleration{key, effect, cluster.TolerationExists, ""}]; ok {
				return true
			}
			if _, ok := f.tolerated[toleration{key, effect, cluster.TolerationEqual, taint.Value}]; ok {
				return true
			}
			if err != nil {
				continue
			}
			if most, ok := f.tolerated[toleration{key, effect, cluster.TolerationLt, ""}]; ok && number < most {
				return true
			}
			if least, ok := f.tolerated[toleration{key, effect, cluster.TolerationGt, ""}]; ok && number > least {
				return true
			}
		}
	}
	return false
}

func toleratesTaint(t cluster.Toleration, taint *cluster.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case cluster.TolerationExists:
		return true
	case cluster.TolerationLt:
		return above(t.Value, taint.Value)
	case cluster.TolerationGt:
		return above(taint.Value, t.Value)
	}
	return t.Value == taint.Value
}

// Matches reports whether node has what the pod's nodeSelector and required node affinity ask for.
func (f *Rule) Matches(node *cluster.Node) bool {
	for k, v := range f.pod.NodeSelector {
		if have, ok := node.Labels[k]; !ok || have != v {
			return false
		}
	}
	if f.pod.NodeAffinity == nil {
		return true
	}
	if n, known := f.at[node]; known {
		return f.nodes.Has(cluster.NodeID(n))
	}
	terms := f.pod.NodeAffinity.Terms
	if f.terms == nil {
		return slices.ContainsFunc(terms, func(t cluster.NodeTerm) bool { return f.matchesTerm(t, node) })
	}
	any := func(list []int32) bool {
		return slices.ContainsFunc(list, func(i int32) bool { return f.matchesTerm(terms[i], node) })
	}
	if any(f.terms.rest) || any(f.terms.byName[node.Name]) {
		return true
	}
	for key, value := range node.Labels {
		if any(f.terms.byLabel[label{key: key}]) || any(f.terms.byLabel[label{key, value, true}]) {
			return true
		}
	}
	return false
}

func (f *Rule) matchesTerm(t cluster.NodeTerm, node *cluster.Node) bool {
	if len(t.Labels)+len(t.Fields) == 0 {
		return false
	}
	for _, r := range t.Labels {
		value, has := node.Labels[r.Key]
		if !f.holds(r, value, has) {
			return false
		}
	}
	for _, r := range t.Fields {
		if !f.holds(r, node.Name, true) {
			return false
		}
	}
	return true
}

func (f *Rule) holds(r cluster.NodeRequirement, value string, has bool) bool {
	switch r.Operator {
	case cluster.NodeIn:
		return has && f.lists(r.Values, value)
	case cluster.NodeNotIn:
		return !has || !f.lists(r.Values, value)
	case cluster.NodeExists:
		return has
	case cluster.NodeDoesNotExist:
		return !has
	case cluster.NodeGt:
		return has && above(value, r.Values[0])
	}
	return has && above(r.Values[0], value)
}

// above reports whether both are numbers and a is larger than b.
func above(a, b string) bool {
	x, err1 := strconv.ParseInt(a, 10, 64)
	y, err2 := strconv.ParseInt(b, 10, 64)
	return err1 == nil && err2 == nil && x > y
}

func (f *Rule) lists(values []string, value string) bool {
	if len(values) > 0 {
		if set, many := f.values[listedOf(values)]; many {
			return set[value]
		}
	}
	return slices.Contains(values, value)
}
