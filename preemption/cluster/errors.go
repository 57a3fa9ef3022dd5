package cluster

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/preempt-go/preempt/internal/words"
)

// ErrInvalid matches every complaint about a snapshot or preemptor.
var ErrInvalid = errors.New("cluster: invalid snapshot")

// FieldError locates one bad field; errors.Is(err, ErrInvalid) holds for it. Of a long value
// it has the beginning.
type FieldError struct {
	Kind, Namespace, Name, Field, Value, Want string

	Err error // the lower package's own error, if there is one: priority.ErrUnknownClass, disruption.ErrSelector, ...
}

// Error names the object, the field, the value and what was expected. An object that
// has no name, as there is only one of it, goes by its kind. Of what is longer than 100
// bytes it has the beginning.
func (e *FieldError) Error() string {
	object := e.Kind
	switch {
	case e.Namespace != "":
		object += " " + words.Quoted(words.Short(e.Namespace)+"/"+words.Short(e.Name))
	case e.Name != "":
		object += " " + words.Quoted(e.Name)
	}
	return fmt.Sprintf("cluster: %s: %s: %s is not %s", object, words.Short(e.Field), words.Short(e.Value), words.Short(e.Want))
}

// Is reports whether target is ErrInvalid.
func (e *FieldError) Is(target error) bool { return target == ErrInvalid }

// Compare orders complaints by what they are about.
func (e *FieldError) Compare(o *FieldError) int {
	return cmp.Or(
		cmp.Compare(e.Kind, o.Kind), cmp.Compare(e.Namespace, o.Namespace), cmp.Compare(e.Name, o.Name),
		cmp.Compare(e.Field, o.Field), cmp.Compare(e.Value, o.Value), cmp.Compare(e.Want, o.Want))
}

// Unwrap returns the lower package's own error, or nil.
func (e *FieldError) Unwrap() error { return e.Err }
