package disruption

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/internal/names"
	"github.com/preempt-go/preempt/internal/words"
)

// Matcher is a compiled [Selector]. It is immutable and safe for concurrent use.
// A nil Matcher and the zero Matcher match nothing.
type Matcher struct {
	selects bool // false: matches nothing, whatever the requirements

	// Of a key one each, in order of key: those that ask for the label, and those that hold without it.
	present, absent []Requirement
	byKey           map[string]int32 // where those of absent stand; nil: there are few
}

// Compile checks s and returns its Matcher, which keeps nothing of s. A nil
// Selector gives a Matcher that matches nothing, an empty one a Matcher that
// matches everything.
//
// The error joins a [SelectorError] for each thing that is wrong: MatchLabels in
// order of key, then MatchExpressions in their own order. With an error the
// Matcher matches nothing, as upstream treats a selector that it cannot read.
//
// O(n log n) for n labels and values. Source: Kubernetes, "Labels and selectors".
func (s *Selector) Compile() (*Matcher, error) {
	if s == nil {
		return &Matcher{}, nil
	}
	var errs []error
	m := &Matcher{present: make([]Requirement, 0, len(s.MatchLabels))}
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		r := Requirement{Key: key, Operator: In, Values: []string{s.MatchLabels[key]}}
		errs = append(errs, r.check("matchLabels["+words.Quoted(key)+"]")...)
		m.present = append(m.present, r)
	}
	for i, r := range s.MatchExpressions {
		errs = append(errs, r.check(fmt.Sprintf("matchExpressions[%d]", i))...)
		r.Values = slices.Sorted(slices.Values(r.Values))
		if r.Operator == In || r.Operator == Exists {
			m.present = append(m.present, r)
		} else {
			m.absent = append(m.absent, r)
		}
	}
	if len(errs) > 0 {
		return &Matcher{}, errors.Join(errs...)
	}
	m.present, m.absent = together(m.present), together(m.absent)
	if len(m.absent) > fewRequirements {
		m.byKey = make(map[string]int32, len(m.absent))
		for i, r := range m.absent {
			m.byKey[r.Key] = int32(i)
		}
	}
	m.selects = !slices.ContainsFunc(m.present, func(r Requirement) bool { return r.Operator == In && len(r.Values) == 0 })
	return m, nil
}

// fewRequirements are gone through; of more those are looked up that read a label.
const fewRequirements = 16

// together makes one requirement of those of a key, which all ask for the label or all hold without it.
func together(list []Requirement) []Requirement {
	slices.SortStableFunc(list, func(a, b Requirement) int { return strings.Compare(a.Key, b.Key) })
	kept := list[:0]
	for _, r := range list {
		if len(kept) == 0 || kept[len(kept)-1].Key != r.Key {
			kept = append(kept, r)
			continue
		}
		switch last := &kept[len(kept)-1]; {
		case r.Operator == Exists || last.Operator == DoesNotExist:
		case r.Operator == DoesNotExist || last.Operator == Exists:
			*last = r
		case r.Operator == In:
			last.Values = slices.DeleteFunc(last.Values, func(v string) bool { return !r.lists(v) })
		default:
			last.Values = append(last.Values, r.Values...)
		}
	}
	for _, r := range kept {
		slices.Sort(r.Values)
	}
	return kept
}

// Valid reports whether s can be compiled. It allocates nothing.
func (s *Selector) Valid() bool {
	if s == nil {
		return true
	}
	for key, value := range s.MatchLabels {
		if !names.LabelKey(key) || !names.LabelValue(value) {
			return false
		}
	}
	return !slices.ContainsFunc(s.MatchExpressions, func(r Requirement) bool { return !r.valid() })
}

// valid reports whether check has no complaint.
func (r *Requirement) valid() bool {
	needs := r.Operator == In || r.Operator == NotIn
	return r.Operator.Valid() && names.LabelKey(r.Key) && needs == (len(r.Values) > 0) &&
		!slices.ContainsFunc(r.Values, func(v string) bool { return !names.LabelValue(v) })
}

// check returns what is wrong with r, which is found at path inside its selector.
func (r Requirement) check(path string) []error {
	var errs []error
	values := slices.Clone(r.Values) // all errors have the same
	report := func(field, value, want string) {
		errs = append(errs, &SelectorError{
			Field: path + field, Key: r.Key, Operator: r.Operator, Values: values,
			Value: value, Want: want,
		})
	}
	if !names.LabelKey(r.Key) {
		report(".key", words.Quoted(r.Key), names.WantLabelKey)
	}
	switch r.Operator {
	case In, NotIn:
		if len(r.Values) == 0 {
			report(".values", "[]", "at least one value, as In and NotIn need")
		}
	case Exists, DoesNotExist:
		if len(r.Values) > 0 {
			report(".values", quoted(r.Values), "empty, as Exists and DoesNotExist need")
		}
	default:
		report(".operator", words.Quoted(string(r.Operator)), "In, NotIn, Exists or DoesNotExist")
	}
	for i, v := range r.Values {
		if !names.LabelValue(v) {
			report(fmt.Sprintf(".values[%d]", i), words.Quoted(v), names.WantLabelValue)
		}
	}
	return errs
}

// Matches reports whether every requirement holds for labels, which may be nil.
//
// O(l log v) for l labels, or requirements if these are fewer, and at most v values of each. Allocates nothing.
func (m *Matcher) Matches(labels map[string]string) bool {
	if m == nil || !m.selects || len(m.present) > len(labels) {
		return false
	}
	for i := range m.present {
		if !m.present[i].holds(labels) {
			return false
		}
	}
	if m.byKey != nil && len(labels) < len(m.absent) {
		for key := range labels {
			if i, found := m.byKey[key]; found && !m.absent[i].holds(labels) {
				return false
			}
		}
		return true
	}
	for i := range m.absent {
		if !m.absent[i].holds(labels) {
			return false
		}
	}
	return true
}

// Empty reports whether m has no requirement at all and so matches everything. It
// is false for a Matcher that matches nothing.
func (m *Matcher) Empty() bool { return m != nil && m.selects && len(m.present)+len(m.absent) == 0 }

// holds relies on sorted values and a checked operator, as Compile leaves them.
func (r *Requirement) holds(labels map[string]string) bool {
	value, present := labels[r.Key]
	switch r.Operator {
	case In:
		return present && r.lists(value)
	case NotIn:
		return !present || !r.lists(value)
	case Exists:
		return present
	default: // DoesNotExist
		return !present
	}
}

func (r *Requirement) lists(value string) bool {
	if len(r.Values) == 1 {
		return r.Values[0] == value
	}
	_, found := slices.BinarySearch(r.Values, value)
	return found
}

// Selector is a label selector: all of its requirements must hold. The empty
// Selector holds for every set of labels, a nil one for none. It is data;
// [Selector.Compile] checks it and makes it fast.
type Selector struct {
	MatchLabels      map[string]string `json:"matchLabels,omitempty"`      // each label has this value
	MatchExpressions []Requirement     `json:"matchExpressions,omitempty"` // and each of these holds
}

// Equal reports whether s and t are written alike. Either may be nil.
func (s *Selector) Equal(t *Selector) bool {
	if s == nil || t == nil {
		return s == t
	}
	return maps.Equal(s.MatchLabels, t.MatchLabels) &&
		slices.EqualFunc(s.MatchExpressions, t.MatchExpressions, func(a, b Requirement) bool {
			return a.Key == b.Key && a.Operator == b.Operator && slices.Equal(a.Values, b.Values)
		})
}

// Operator relates a label to values.
type Operator string

// The operators of a label selector. Where the label is absent, NotIn and
// DoesNotExist hold, In and Exists do not.
const (
	In           Operator = "In"           // the value is one of Values; at least one is given
	NotIn        Operator = "NotIn"        // the value is none of Values; at least one is given
	Exists       Operator = "Exists"       // the label is present; no Values
	DoesNotExist Operator = "DoesNotExist" // the label is absent; no Values
)

// Valid reports whether o is one of the four operators.
func (o Operator) Valid() bool {
	return o == In || o == NotIn || o == Exists || o == DoesNotExist
}

// Requirement is one condition on one label.
type Requirement struct {
	Key      string   `json:"key"`
	Operator Operator `json:"operator"`
	Values   []string `json:"values,omitempty"`
}
