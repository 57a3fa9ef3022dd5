package convert

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// shape is what JSON a Go type decodes from. A text that has the shape of a type is
// decoded into it without a complaint; not every text that is decoded has it.
type shape struct {
	kind   shapeKind
	bits   int               // of an integer
	elem   *shape            // of a list or dict
	fields map[string]*field // of a record
}

type shapeKind uint8

const (
	shapeOther shapeKind = iota // no text is known to decode
	shapeAny
	shapeText
	shapeTruth
	shapeInteger
	shapeIntOrText
	shapeMoment
	shapeQuantity
	shapeList
	shapeDict
	shapeRecord
)

// field is a field of a record.
type field struct {
	shape *shape
	bit   uint64 // of its own in the record
	slot  int    // where its text is noted; -1: nowhere
}

// shapes makes the shapes of types.
type shapes struct {
	known map[reflect.Type]*shape // those without a slot
	slots map[string]int          // by path
}

// shapeOf is the shape of T in which the texts of the fields at paths are noted.
func shapeOf[T any](paths []string) *shape {
	s := shapes{known: map[reflect.Type]*shape{}, slots: map[string]int{}}
	for slot, path := range paths {
		s.slots["."+path] = slot
	}
	return s.of(reflect.TypeFor[T](), "")
}

func (s *shapes) of(t reflect.Type, path string) *shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	noted := path == ""
	for p := range s.slots {
		noted = noted || strings.HasPrefix(p, path+".")
	}
	if noted {
		return s.make(t, path)
	}
	if s.known[t] == nil {
		s.known[t] = s.make(t, path)
	}
	return s.known[t]
}

func (s *shapes) make(t reflect.Type, path string) *shape {
	switch t {
	case reflect.TypeFor[metav1.Time]():
		return &shape{kind: shapeMoment}
	case quantityType:
		return &shape{kind: shapeQuantity}
	case reflect.TypeFor[intstr.IntOrString]():
		return &shape{kind: shapeIntOrText, bits: 32}
	case reflect.TypeFor[metav1.FieldsV1]():
		return &shape{kind: shapeAny}
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return &shape{}
	}
	switch t.Kind() {
	case reflect.String:
		return &shape{kind: shapeText}
	case reflect.Bool:
		return &shape{kind: shapeTruth}
	case reflect.Int32, reflect.Int64:
		return &shape{kind: shapeInteger, bits: t.Bits()}
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return &shape{kind: shapeList, elem: s.of(t.Elem(), path+"[]")}
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return &shape{kind: shapeDict, elem: s.of(t.Elem(), path+"[]")}
		}
	case reflect.Struct:
		r := &shape{kind: shapeRecord, fields: map[string]*field{}}
		s.add(r, t, path)
		if len(r.fields) <= 64 {
			return r
		}
	}
	return &shape{}
}

// add adds the fields of a struct, and of those embedded in it.
func (s *shapes) add(r *shape, t reflect.Type, path string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous:
			s.add(r, f.Type, path)
		case name != "-" && f.IsExported():
			slot, ok := s.slots[path+"."+name]
			if !ok {
				slot = -1
			}
			r.fields[name] = &field{shape: s.of(f.Type, path+"."+name), bit: 1 << (len(r.fields) & 63), slot: slot}
		}
	}
}

// checker checks whether texts have a shape, and notes texts of fields.
type checker struct {
	cursor
	spans   [][]byte // by slot; nil: not there, or null
	amounts parts[bool]
}

// check passes over the next value, which has to have shape s. Of duplicates it
// knows those that the decoder of Kubernetes refuses.
func (c *checker) check(s *shape) {
	next := c.peek()
	if next == 'n' {
		c.bad = c.bad || string(c.word()) != "null"
		return
	}
	switch s.kind {
	case shapeAny:
		c.skip(0)
	case shapeText:
		c.quoted()
	case shapeTruth:
		word := string(c.word())
		c.bad = c.bad || word != "true" && word != "false"
	case shapeInteger:
		c.integer(s.bits)
	case shapeIntOrText:
		if next == '"' {
			c.quoted()
		} else {
			c.integer(s.bits)
		}
	case shapeMoment:
		if _, err := time.Parse(time.RFC3339, string(c.plain())); err != nil {
			c.bad = true
		}
	case shapeQuantity:
		c.quantity()
	case shapeList:
		c.take('[')
		for first := true; c.more(']', first); first = false {
			c.check(s.elem)
		}
	case shapeDict:
		c.dict(s.elem)
	case shapeRecord:
		c.record(s)
	default:
		c.bad = true
	}
}

func (c *checker) integer(bits int) {
	word := c.word()
	digits := strings.TrimPrefix(string(word), "-")
	if _, err := strconv.ParseInt(string(word), 10, bits); err != nil || digits[0] == '+' || digits[0] == '0' && len(digits) > 1 {
		c.bad = true
	}
}

// quantity passes over an amount, as text or as number.
func (c *checker) quantity() {
	text := c.raw()
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	if c.bad {
		return
	}
	if _, ok := c.amounts.get(text, func() (bool, bool) {
		if unreasonable(string(text)) != "" {
			return false, false
		}
		_, err := resource.ParseQuantity(strings.TrimSpace(string(text)))
		return true, err == nil
	}); !ok {
		c.bad = true
	}
}

func (c *checker) dict(elem *shape) {
	c.take('{')
	var few [16][]byte
	keys := few[:0]
	for first := true; c.more('}', first); first = false {
		key := c.key()
		if len(keys) <= len(few) { // more of them are compared in order below
			c.bad = c.bad || slices.ContainsFunc(keys, func(other []byte) bool { return string(other) == string(key) })
		}
		keys = append(keys, key)
		c.check(elem)
	}
	if len(keys) > len(few) {
		slices.SortFunc(keys, bytes.Compare)
		for i, key := range keys[1:] {
			c.bad = c.bad || bytes.Equal(keys[i], key)
		}
	}
}

func (c *checker) record(s *shape) {
	c.take('{')
	seen := uint64(0)
	for first := true; c.more('}', first); first = false {
		f := s.fields[string(c.key())]
		if f == nil {
			c.skip(0)
			continue
		}
		c.bad = c.bad || seen&f.bit != 0
		seen |= f.bit
		next := c.peek()
		start := c.at
		c.check(f.shape)
		if f.slot >= 0 && next != 'n' {
			c.spans[f.slot] = c.text[start:c.at]
		}
	}
}

// fits reports whether text is one value of shape s.
func (c *checker) fits(s *shape, text []byte) bool {
	clear(c.spans)
	c.cursor = cursor{text: text}
	c.check(s)
	return c.peek() == 0 && c.at == len(text) && !c.bad
}
