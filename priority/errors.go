package priority

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/internal/words"
)

// What can be wrong; each comes wrapped in a [FieldError].
var (
	ErrUnknownClass      = errors.New("priority: unknown class")
	ErrDuplicateClass    = errors.New("priority: duplicate class")
	ErrTwoGlobalDefaults = errors.New("priority: two global defaults")
	ErrClassName         = errors.New("priority: invalid class name")
	ErrReservedName      = errors.New("priority: reserved class name")
	ErrSystemClass       = errors.New("priority: system class differs from the built-in one")
	ErrValueBound        = errors.New("priority: value above the bound for users")
	ErrPolicy            = errors.New("priority: unknown preemption policy")

	// ErrToleration is about an annotation that says what a class tolerates,
	// ErrSeconds about a time that a class grants.
	ErrToleration = errors.New("priority: malformed preemption toleration")
	ErrSeconds    = errors.New("priority: seconds below zero")

	// ErrContradiction is admission's: an object says something else than its class.
	ErrContradiction = errors.New("priority: object contradicts its class")

	// ErrPreemptionPriority is [CheckPreemptionPriority]'s.
	ErrPreemptionPriority = errors.New("priority: preemption priority below priority")
)

// FieldError is one thing wrong with a class, or with what an object says about
// its priority.
type FieldError struct {
	Class string // the class at fault or the one that the object names; may be empty
	Field string // the field at fault, by its JSON name
	Value string // what was found there
	Want  string // what was expected
	Err   error  // one of the errors above
}

// Error names the class if there is one, the field, the value and what was expected.
func (e *FieldError) Error() string {
	class := ""
	if e.Class != "" {
		class = "class " + words.Quoted(e.Class) + ": "
	}
	return fmt.Sprintf("priority: %s%s: %s is not %s", class, words.Short(e.Field), words.Short(e.Value), words.Short(e.Want))
}

// Unwrap returns e.Err.
func (e *FieldError) Unwrap() error { return e.Err }

// policyError is about a policy that is neither of the two.
func policyError(class string, p Policy) *FieldError {
	return &FieldError{
		Class: class, Field: "preemptionPolicy", Value: words.Quoted(string(p)),
		Want: "PreemptLowerPriority, Never or empty", Err: ErrPolicy,
	}
}

// join sorts faults, so that their order says nothing of the input's, and joins them.
func join(faults []*FieldError) error {
	slices.SortFunc(faults, func(a, b *FieldError) int {
		return cmp.Or(
			strings.Compare(a.Class, b.Class), strings.Compare(a.Field, b.Field),
			strings.Compare(a.Value, b.Value), strings.Compare(a.Want, b.Want),
		)
	})
	errs := make([]error, len(faults))
	for i, f := range faults {
		errs[i] = f
	}
	return errors.Join(errs...)
}

// split is the inverse of join.
func split(err error) []*FieldError {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var faults []*FieldError
	for _, e := range joined.Unwrap() {
		faults = append(faults, e.(*FieldError))
	}
	return faults
}
