package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// maxProblems is how many complaints one error spells out; the rest is counted.
const maxProblems = 1000

// problems collects complaints in any order and reports them in a fixed one.
type problems []*FieldError

// object is the head of complaints about one object.
type object struct {
	all             *problems
	kind            Kind
	namespace, name string
}

func (ps *problems) object(kind Kind, namespace, name string) object {
	return object{ps, kind, namespace, name}
}

// bad adds a complaint: field has value, want was expected.
func (o object) bad(field, value, want string) { o.wrap(nil, field, value, want) }

// wrap is bad with the lower package's own error.
func (o object) wrap(err error, field, value, want string) {
	*o.all = append(*o.all, &FieldError{
		Kind: string(o.kind), Namespace: o.namespace, Name: o.name,
		Field: field, Value: value, Want: want, Err: err,
	})
}

// place is a field of an object, in a list perhaps, such as Tolerations[3].Key. It is
// put into words for a complaint only.
type place struct {
	list  string // empty: none
	i     int
	inner string // list in an element of the other; empty: none
	j     int
	field string
}

// at is a field of p.
func (p place) at(field string) place {
	p.field += field
	return p
}

// dot is a field of p in words.
func (p place) dot(field string) string { return p.at(field).String() }

func (p place) String() string {
	path := p.list
	if p.list != "" {
		path += "[" + number(p.i) + "]"
	}
	if p.inner != "" {
		path += p.inner + "[" + number(p.j) + "]"
	}
	return path + p.field
}

// err joins the complaints, sorted by kind, namespace, name, field and value.
func (ps problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	slices.SortFunc(ps, func(a, b *FieldError) int {
		return cmp.Or(
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Field, b.Field), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Want, b.Want))
	})
	var errs []error
	for _, e := range ps[:min(len(ps), maxProblems)] {
		errs = append(errs, e)
	}
	if rest := len(ps) - maxProblems; rest > 0 {
		errs = append(errs, fmt.Errorf("%w: %d more problems", ErrInvalid, rest))
	}
	return errors.Join(errs...)
}

func quote(s string) string { return strconv.Quote(s) }

func number[T ~int32 | ~int64 | ~int](n T) string { return strconv.FormatInt(int64(n), 10) }
