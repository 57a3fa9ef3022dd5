package disruption

import (
	"errors"
	"slices"
)

// Set is a compiled list of budgets: it tells which of them cover a pod. It is
// immutable and safe for concurrent use. The zero Set has no budgets.
type Set struct {
	budgets     []compiled
	inNamespace map[string]*namespaceSet
}

// namespaceSet files each budget of a namespace under one label that its pods must
// have, so that a pod meets few budgets that do not cover it. Most selectors ask
// for an exact label; with 1,000 of them that makes BenchmarkCovering 100 times
// faster.
type namespaceSet struct {
	byLabel map[label][]BudgetID
	rest    []BudgetID // selectors without an exact label
}

type label struct{ key, value string }

// compiled is what a decision needs of a Budget.
type compiled struct {
	allowed   int32
	matcher   *Matcher
	disrupted []string // sorted
}

// NewSet compiles budgets; BudgetID i stands for budgets[i], and the Set keeps
// nothing of the slice. Where several budgets cover a pod, they are charged in
// that order, so the caller should bring them into one that doesn't depend on the
// input: see [Compare].
//
// The error joins a [BudgetError] for each selector that cannot be read. The Set
// is usable all the same: such a budget covers nothing, as upstream has it.
func NewSet(budgets []Budget) (*Set, error) {
	s := &Set{budgets: make([]compiled, len(budgets)), inNamespace: map[string]*namespaceSet{}}
	var errs []error
	for i := range budgets {
		b := &budgets[i]
		matcher, err := b.Selector.Compile()
		if err != nil {
			errs = append(errs, &BudgetError{Namespace: b.Namespace, Name: b.Name, Err: err})
		}
		s.budgets[i] = compiled{b.Allowed, matcher, slices.Sorted(slices.Values(b.Disrupted))}
		s.file(b.Namespace, BudgetID(i))
	}
	return s, errors.Join(errs...)
}

func (s *Set) file(namespace string, id BudgetID) {
	in := s.inNamespace[namespace]
	if in == nil {
		in = &namespaceSet{byLabel: map[label][]BudgetID{}}
		s.inNamespace[namespace] = in
	}
	matcher := s.budgets[id].matcher
	if !matcher.selects {
		return
	}
	for _, r := range matcher.requirements {
		if r.Operator == In && len(r.Values) == 1 {
			at := label{r.Key, r.Values[0]}
			in.byLabel[at] = append(in.byLabel[at], id)
			return
		}
	}
	in.rest = append(in.rest, id)
}

// Len is the number of budgets; BudgetID runs from 0 to Len-1.
func (s *Set) Len() int { return len(s.budgets) }

// Allowed returns a new slice with what each budget allows, for [NewLedger].
func (s *Set) Allowed() []int32 {
	allowed := make([]int32, len(s.budgets))
	for i := range s.budgets {
		allowed[i] = s.budgets[i].allowed
	}
	return allowed
}

// WithAllowed returns a copy of s in which budget b allows another number. O(n) for n
// budgets, whose selectors are shared.
func (s *Set) WithAllowed(b BudgetID, allowed int32) *Set {
	c := &Set{slices.Clone(s.budgets), s.inNamespace}
	c.budgets[b].allowed = allowed
	return c
}

// Covering appends to dst the budgets that, by rule r, are charged for the pod of
// that namespace, name and labels, in ascending order, and returns the extended
// slice. dst and labels may be nil.
//
// It looks at the budgets of the namespace that have a label of the pod in their
// selector, and at those that ask for no exact label. Allocates only to grow dst.
func (s *Set) Covering(dst []BudgetID, r Rule, namespace, name string, labels map[string]string) []BudgetID {
	in := s.inNamespace[namespace]
	if in == nil {
		return dst
	}
	start := len(dst)
	dst = s.appendCovering(dst, in.rest, r, name, labels)
	for key, value := range labels {
		dst = s.appendCovering(dst, in.byLabel[label{key, value}], r, name, labels)
	}
	slices.Sort(dst[start:]) // each budget is filed once: the order of labels leaves no trace
	return dst
}

func (s *Set) appendCovering(dst, from []BudgetID, r Rule, name string, labels map[string]string) []BudgetID {
	for _, id := range from {
		b := &s.budgets[id]
		if !r.selects(b.matcher, labels) {
			continue
		}
		if _, disrupted := slices.BinarySearch(b.disrupted, name); !disrupted {
			dst = append(dst, id)
		}
	}
	return dst
}
