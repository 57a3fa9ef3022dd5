package convert

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// ErrInput matches every complaint of this package.
var ErrInput = errors.New("convert: invalid input")

// Error locates what could not be read: where in the input, which object, which
// field. Parts that are not known are empty. errors.Is(err, ErrInput) holds for it.
type Error struct {
	Origin
	Kind, Namespace, Name string

	Field string // path in the object, e.g. spec.containers[0].resources.requests[cpu]
	Value string // as in the input
	Want  string // what was expected

	Err error // what a decoder or the library said, if it did

	amount bool // Value is an amount, which the input may write in another way
}

// Error names origin, object, field, value and what was expected, of what is long the beginning.
func (e *Error) Error() string {
	var parts []string
	if s := e.Origin.String(); s != "" {
		parts = append(parts, s)
	}
	if e.Kind != "" || e.Name != "" {
		parts = append(parts, fmt.Sprintf("%s %q", short(e.Kind, 100), short(joinName(e.Namespace, e.Name), 100)))
	}
	if e.Field != "" {
		parts = append(parts, short(e.Field, 300))
	}
	switch {
	case e.Want != "" && e.Value != "":
		parts = append(parts, short(e.Value, 100)+" is not "+e.Want)
	case e.Want != "":
		parts = append(parts, "not "+e.Want)
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Is reports whether target is ErrInput.
func (e *Error) Is(target error) bool { return target == ErrInput }

// Unwrap returns what a decoder or the library said, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Origin says where in the input an object stands.
type Origin struct {
	File     string // as the caller named it; may be empty
	Document int    // from 1; 0: the input is one document
	Item     int    // from 1, in a list; 0: the document itself
}

// String is, for instance, "dump.yaml, document 2, item 17".
func (o Origin) String() string {
	var parts []string
	if o.File != "" {
		parts = append(parts, o.File)
	}
	if o.Document > 0 {
		parts = append(parts, fmt.Sprintf("document %d", o.Document))
	}
	if o.Item > 0 {
		parts = append(parts, fmt.Sprintf("item %d", o.Item))
	}
	return strings.Join(parts, ", ")
}

// maxErrors is how many complaints are listed; the rest is counted.
const maxErrors = 1000

// complaints collects errors, at most maxErrors of them.
type complaints struct {
	list []error
	more int
}

func (c *complaints) add(err error) {
	if err == nil {
		return
	}
	if c.full() {
		c.more++
		return
	}
	c.list = append(c.list, err)
}

// full reports whether more are only counted.
func (c *complaints) full() bool { return len(c.list) == maxErrors }

// all is the list, with how many more there were.
func (c *complaints) all() []error {
	if c.more > 0 {
		return append(slices.Clip(c.list), fmt.Errorf("convert: and %d more", c.more))
	}
	return c.list
}

func (c *complaints) err() error { return errors.Join(c.all()...) }

// fields collects what is wrong with the fields of one object.
type fields struct {
	kind, namespace, name string
	errs                  []error
}

func (f *fields) bad(field, value, want string) {
	f.errs = append(f.errs, &Error{
		Kind: f.kind, Namespace: f.namespace, Name: f.name, Field: field, Value: value, Want: want,
	})
}

// badAmount is bad for an amount; it is told as the input has it, where that is known.
func (f *fields) badAmount(field string, q resource.Quantity, want string) {
	f.errs = append(f.errs, &Error{
		Kind: f.kind, Namespace: f.namespace, Name: f.name, Field: field, Value: exact(q), Want: want, amount: true,
	})
}

func (f *fields) err() error { return errors.Join(f.errs...) }

// joins is what errors.Join returns; what fmt.Errorf makes of several errors is one with a text of its own.
var joins = reflect.TypeOf(errors.Join(errors.New("")))

// each calls yield with every error that errors.Join has joined into err.
func each(err error, yield func(error)) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && reflect.TypeOf(err) == joins {
		for _, e := range joined.Unwrap() {
			each(e, yield)
		}
		return
	}
	if err != nil {
		yield(err)
	}
}

// Locate adds to each [*cluster.FieldError] that is joined in err where its object
// stands in the input. Other errors stay as they are; nil gives nil.
func (d *Dump) Locate(err error) error {
	var located []error
	each(err, func(e error) {
		var f *cluster.FieldError
		if errors.As(e, &f) {
			if d.file != "" {
				e = &Error{Origin: Origin{File: d.file}, Err: e}
			} else if o, ok := d.origins[objectKey{f.Kind, f.Namespace, f.Name}]; ok {
				e = &Error{Origin: o, Err: e}
			}
		}
		located = append(located, e)
	})
	return errors.Join(located...)
}

// OriginOf is where an object of the snapshot stands in the input.
func (d *Dump) OriginOf(kind cluster.Kind, namespace, name string) Origin {
	return d.origins[objectKey{string(kind), namespace, name}]
}

func joinName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
