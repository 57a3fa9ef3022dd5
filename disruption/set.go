package disruption

import (
	"errors"
	"math"
	"slices"
)

// Set is a compiled list of budgets: it tells which of them cover a pod. It is
// immutable and safe for concurrent use. The zero Set has no budgets.
type Set struct {
	allowed     []int32    // by budget
	matchers    []*Matcher // likewise
	inNamespace map[string]*namespaceSet
}

// namespaceSet files each budget of a namespace under one label that its pods must
// have, so that a pod meets few budgets that do not cover it. Most selectors ask
// for an exact label; with 1,000 of them that makes BenchmarkCovering 100 times
// faster.
type namespaceSet struct {
	budgets   []BudgetID
	byLabel   map[label][]BudgetID
	rest      []BudgetID            // selectors that ask for no label
	byKey     bool                  // some are filed under a key, whatever its value
	disrupted map[string][]BudgetID // by name of a pod: those that it is disrupted for
}

// label is a value of a key, or with any the key whatever its value.
type label struct {
	key, value string
	any        bool
}

// NewSet compiles budgets; BudgetID i stands for budgets[i], and the Set keeps
// nothing of the slice. Where several budgets cover a pod, they are charged in
// that order, so the caller should bring them into one that doesn't depend on the
// input: see [Compare].
//
// The error joins a [BudgetError] for each selector that cannot be read. The Set
// is usable all the same: such a budget covers nothing, as upstream has it.
func NewSet(budgets []Budget) (*Set, error) {
	s := &Set{allowed: make([]int32, len(budgets)), matchers: make([]*Matcher, len(budgets)), inNamespace: map[string]*namespaceSet{}}
	var errs []error
	for i := range budgets {
		b := &budgets[i]
		matcher, err := b.Selector.Compile()
		if err != nil {
			errs = append(errs, &BudgetError{Namespace: b.Namespace, Name: b.Name, Err: err})
		}
		s.allowed[i], s.matchers[i] = b.Allowed, matcher
		in := s.inNamespace[b.Namespace]
		if in == nil {
			in = &namespaceSet{byLabel: map[label][]BudgetID{}, disrupted: map[string][]BudgetID{}}
			s.inNamespace[b.Namespace] = in
		}
		in.budgets = append(in.budgets, BudgetID(i))
		for _, name := range b.Disrupted {
			if list := in.disrupted[name]; len(list) == 0 || list[len(list)-1] != BudgetID(i) {
				in.disrupted[name] = append(list, BudgetID(i))
			}
		}
	}
	for _, in := range s.inNamespace {
		s.file(in)
	}
	return s, errors.Join(errs...)
}

// file files each budget of a namespace under the label that fewest others ask for, too.
func (s *Set) file(in *namespaceSet) {
	asked := map[label]int{}
	for _, id := range in.budgets {
		for i := range s.matchers[id].present {
			for _, at := range s.matchers[id].present[i].labels() {
				asked[at]++
			}
		}
	}
	for _, id := range in.budgets {
		matcher := s.matchers[id]
		if !matcher.selects {
			continue
		}
		var best []label
		fewest := math.MaxInt
		for i := range matcher.present {
			labels, most := matcher.present[i].labels(), 0
			for _, at := range labels {
				most = max(most, asked[at])
			}
			if len(labels) > 0 && most < fewest {
				best, fewest = labels, most
			}
		}
		if best == nil {
			in.rest = append(in.rest, id)
		}
		for _, at := range best {
			in.byLabel[at], in.byKey = append(in.byLabel[at], id), in.byKey || at.any
		}
	}
}

// labels lists the labels of which a pod must have one for r to hold; none if it may do
// without.
func (r *Requirement) labels() []label {
	switch r.Operator {
	case In:
		list := make([]label, 0, len(r.Values))
		for i, v := range r.Values {
			if i == 0 || v != r.Values[i-1] { // they are sorted
				list = append(list, label{key: r.Key, value: v})
			}
		}
		return list
	case Exists:
		return []label{{key: r.Key, any: true}}
	}
	return nil
}

// Crowded returns the namespace, and the label as it is written, that most budgets are
// filed under, and how many: a pod there is compared with each of them. Without label: with
// those that ask for none.
func (s *Set) Crowded() (namespace, label string, budgets int) {
	more := func(ns, l string, n int) {
		if n > budgets || n == budgets && (ns < namespace || ns == namespace && l < label) {
			namespace, label, budgets = ns, l, n
		}
	}
	for ns, in := range s.inNamespace {
		more(ns, "", len(in.rest))
		for at, list := range in.byLabel {
			if at.any {
				more(ns, at.key, len(list))
			} else {
				more(ns, at.key+"="+at.value, len(list))
			}
		}
	}
	return namespace, label, budgets
}

// Largest is how many budgets the namespace has that has most.
func (s *Set) Largest() (most int) {
	for _, in := range s.inNamespace {
		most = max(most, len(in.budgets))
	}
	return most
}

// Len is the number of budgets; BudgetID runs from 0 to Len-1.
func (s *Set) Len() int { return len(s.allowed) }

// Allowed returns a new slice with what each budget allows, for [NewLedger].
func (s *Set) Allowed() []int32 { return slices.Clone(s.allowed) }

// WithAllowed returns a copy of s in which budget b allows another number. O(n) for n
// budgets, whose selectors are shared.
func (s *Set) WithAllowed(b BudgetID, allowed int32) *Set {
	c := *s
	c.allowed = s.Allowed()
	c.allowed[b] = allowed
	return &c
}

// Covering appends to dst the budgets that, by rule r, are charged for the pod of
// that namespace, name and labels, in ascending order, and returns the extended
// slice. dst and labels may be nil. It is Selecting without Disrupted.
//
// It looks at the budgets of the namespace that have a label of the pod in their
// selector, and at those that ask for no label. Allocates only to grow dst.
func (s *Set) Covering(dst []BudgetID, r Rule, namespace, name string, labels map[string]string) []BudgetID {
	start := len(dst)
	dst = s.Selecting(dst, r, namespace, labels)
	return append(dst[:start], without(dst[start:], s.Disrupted(namespace, name))...)
}

// Selecting is Covering for pods of whatever name: the budgets whose selector, by rule r,
// holds for the labels.
func (s *Set) Selecting(dst []BudgetID, r Rule, namespace string, labels map[string]string) []BudgetID {
	in := s.inNamespace[namespace]
	if in == nil {
		return dst
	}
	start := len(dst)
	dst = s.appendSelecting(dst, in.rest, r, labels)
	if len(in.byLabel) > 0 {
		for key, value := range labels {
			dst = s.appendSelecting(dst, in.byLabel[label{key: key, value: value}], r, labels)
			if in.byKey {
				dst = s.appendSelecting(dst, in.byLabel[label{key: key, any: true}], r, labels)
			}
		}
	}
	slices.Sort(dst[start:]) // each budget is met once: the order of labels leaves no trace
	return dst
}

func (s *Set) appendSelecting(dst, from []BudgetID, r Rule, labels map[string]string) []BudgetID {
	for _, id := range from {
		if r.selects(s.matchers[id], labels) {
			dst = append(dst, id)
		}
	}
	return dst
}

// Disrupted returns, in ascending order, the budgets for which the eviction of that pod is
// under way and paid for. The slice belongs to s.
func (s *Set) Disrupted(namespace, name string) []BudgetID {
	if in := s.inNamespace[namespace]; in != nil {
		return in.disrupted[name]
	}
	return nil
}

// without takes out of list, in place, those of out; both are ascending.
func without(list, out []BudgetID) []BudgetID {
	if len(out) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(b BudgetID) bool {
		_, found := slices.BinarySearch(out, b)
		return found
	})
}
