package pack

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"time"
)

// codec knows how values of one type are written.
type codec struct {
	of     reflect.Type
	kind   kind
	fields []*codec // of a struct
	elem   *codec   // of a pointer, slice or map
	key    *codec   // of a map
	part   int      // of a pointer, slice or map: number of its type among those, inner ones first
}

type kind uint8

const (
	boolKind kind = iota
	intKind
	uintKind
	stringKind
	timeKind
	structKind
	pointerKind
	sliceKind
	mapKind
)

// types are the codecs of a type and of what is in it.
type types struct {
	root  *codec
	parts []*codec
	mark  uint64 // differs for types that are written in different ways
}

var timeType = reflect.TypeFor[time.Time]()

// typesOf makes the codecs of t; what has none is a mistake of the program.
func typesOf(t reflect.Type) *types {
	ts := &types{}
	known := map[reflect.Type]*codec{}
	mark := fnv.New64a()
	var add func(t reflect.Type) *codec
	add = func(t reflect.Type) *codec {
		if c, ok := known[t]; ok {
			if c == nil {
				panic("pack: " + t.String() + " contains itself")
			}
			return c
		}
		known[t] = nil
		c := &codec{of: t}
		fmt.Fprint(mark, t.String(), " ", t.Kind(), "{")
		switch t.Kind() {
		case reflect.Bool:
			c.kind = boolKind
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			c.kind = intKind
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			c.kind = uintKind
		case reflect.String:
			c.kind = stringKind
		case reflect.Struct:
			if c.kind = structKind; t == timeType {
				c.kind = timeKind
				break
			}
			for i := range t.NumField() {
				f := t.Field(i)
				if !f.IsExported() {
					panic("pack: " + t.String() + "." + f.Name + " is not exported")
				}
				fmt.Fprint(mark, f.Name, ":")
				c.fields = append(c.fields, add(f.Type))
			}
			if len(c.fields) == 0 {
				panic("pack: " + t.String() + " has no fields")
			}
		case reflect.Pointer, reflect.Slice:
			if c.kind = pointerKind; t.Kind() == reflect.Slice {
				c.kind = sliceKind
			}
			c.elem = add(t.Elem())
		case reflect.Map:
			c.kind = mapKind
			c.key, c.elem = add(t.Key()), add(t.Elem())
			if c.key.kind != stringKind {
				panic("pack: " + t.String() + " has keys that are no strings")
			}
		default:
			panic("pack: " + t.String() + " cannot be written")
		}
		fmt.Fprint(mark, "}")
		if c.kind >= pointerKind {
			c.part = len(ts.parts)
			ts.parts = append(ts.parts, c)
		}
		known[t] = c
		return c
	}
	ts.root = add(t)
	if ts.root.kind != structKind {
		panic("pack: " + t.String() + " is no struct")
	}
	ts.mark = mark.Sum64()
	return ts
}

// long reports whether a field of the outermost struct is a list that is written by itself.
func (c *codec) long() bool { return c.kind == sliceKind && c.elem.kind == structKind }

// bytes is how many bytes tell which fields of a struct are there.
func (c *codec) bytes() int { return (len(c.fields) + 7) / 8 }

// chunk is how many elements of a long list are read at a time.
const chunk = 2048
