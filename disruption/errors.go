package disruption

import (
	"errors"
	"fmt"
	"strings"

	"github.com/preempt-go/preempt/internal/words"
)

// ErrSelector matches every complaint about a label selector.
var ErrSelector = errors.New("disruption: invalid label selector")

// ErrMilestone matches every complaint about the milestones of a curve.
var ErrMilestone = errors.New("disruption: invalid milestones")

// SelectorError is one thing wrong with a label selector;
// errors.Is(err, ErrSelector) holds for it.
type SelectorError struct {
	Field string // path inside the selector: matchExpressions[1].values[0]

	// Key, Operator and Values are those of the requirement at fault. An entry of
	// MatchLabels is an In with one value.
	Key      string
	Operator Operator
	Values   []string

	Value string // what was found at Field
	Want  string // what was expected there
}

// Error names the field, the requirement, the value and what was expected.
func (e *SelectorError) Error() string {
	return fmt.Sprintf("disruption: selector: %s of {%s %s %s}: %s is not %s",
		words.Short(e.Field), words.Quoted(e.Key), words.Short(string(e.Operator)), quoted(e.Values), words.Short(e.Value), e.Want)
}

// fewValues is how many values of a requirement a message has.
const fewValues = 10

// quoted is values as a message has them.
func quoted(values []string) string {
	texts := make([]string, 0, fewValues+1)
	for _, v := range values[:min(len(values), fewValues)] {
		texts = append(texts, words.Quoted(v))
	}
	if rest := len(values) - fewValues; rest > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", rest))
	}
	return "[" + strings.Join(texts, " ") + "]"
}

// Is reports whether target is ErrSelector.
func (e *SelectorError) Is(target error) bool { return target == ErrSelector }

// BudgetError says which budget of a list is at fault; Err says what for.
type BudgetError struct {
	Namespace, Name string
	Err             error
}

// Error names the budget and tells what is wrong with it.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("disruption: budget %s: %v", words.Quoted(words.Short(e.Namespace)+"/"+words.Short(e.Name)), e.Err)
}

// Unwrap returns what is wrong with the budget.
func (e *BudgetError) Unwrap() error { return e.Err }
