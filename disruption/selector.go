package disruption

import (
	"maps"
	"slices"
)

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
