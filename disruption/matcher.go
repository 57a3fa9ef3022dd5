package disruption

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/internal/names"
	"github.com/preempt-go/preempt/internal/words"
)

// Matcher is a compiled [Selector]. It is immutable and safe for concurrent use.
// A nil Matcher and the zero Matcher match nothing.
type Matcher struct {
	selects      bool // false: matches nothing, whatever the requirements
	requirements []Requirement
	byKey        map[string]demand // what they ask of each key; nil: they are few
	needed       int               // how many keys have to be present
}

// demand is what some requirements of one key come to: one of each operator at most.
type demand struct {
	all    []Requirement
	needed bool // the key has to be present
}

// few are so many requirements as are gone through; more are looked up for the labels that there are.
const few = 16

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
	requirements := make([]Requirement, 0, len(s.MatchLabels)+len(s.MatchExpressions))
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		r := Requirement{Key: key, Operator: In, Values: []string{s.MatchLabels[key]}}
		errs = append(errs, r.check("matchLabels["+words.Quoted(key)+"]")...)
		requirements = append(requirements, r)
	}
	for i, r := range s.MatchExpressions {
		errs = append(errs, r.check(fmt.Sprintf("matchExpressions[%d]", i))...)
		r.Values = slices.Sorted(slices.Values(r.Values))
		requirements = append(requirements, r)
	}
	if len(errs) > 0 {
		return &Matcher{}, errors.Join(errs...)
	}
	m := &Matcher{selects: true, requirements: requirements}
	if len(requirements) > few {
		m.file()
	}
	return m, nil
}

// file makes byKey of the requirements.
func (m *Matcher) file() {
	m.byKey = map[string]demand{}
	for _, r := range m.requirements {
		d := m.byKey[r.Key]
		i := slices.IndexFunc(d.all, func(o Requirement) bool { return o.Operator == r.Operator })
		switch {
		case i < 0:
			r.Values = slices.Clone(r.Values)
			d.all = append(d.all, r)
		case r.Operator == In:
			d.all[i].Values = slices.DeleteFunc(d.all[i].Values, func(v string) bool { return !r.lists(v) })
		default:
			d.all[i].Values = append(d.all[i].Values, r.Values...)
		}
		if !d.needed && (r.Operator == In || r.Operator == Exists) {
			d.needed, m.needed = true, m.needed+1
		}
		m.byKey[r.Key] = d
	}
	for _, d := range m.byKey {
		for _, r := range d.all {
			slices.Sort(r.Values)
		}
	}
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
// O(r log v) for r requirements, or as many labels if these are fewer, of at most v values. Allocates nothing.
func (m *Matcher) Matches(labels map[string]string) bool {
	if m == nil || !m.selects {
		return false
	}
	if m.byKey != nil && len(labels) < len(m.requirements) {
		return m.matches(labels)
	}
	for i := range m.requirements {
		if !m.requirements[i].holds(labels) {
			return false
		}
	}
	return true
}

// matches is Matches by key.
func (m *Matcher) matches(labels map[string]string) bool {
	present := 0
	for key := range labels {
		d := m.byKey[key]
		for i := range d.all {
			if !d.all[i].holds(labels) {
				return false
			}
		}
		if d.needed {
			present++
		}
	}
	return present == m.needed
}

// Empty reports whether m has no requirement at all and so matches everything. It
// is false for a Matcher that matches nothing.
func (m *Matcher) Empty() bool { return m != nil && m.selects && len(m.requirements) == 0 }

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
