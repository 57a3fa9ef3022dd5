package pack

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Write writes v, a struct, after magic. It fails for a time that is not in UTC, and one outside of
// the years 0 to 9999.
func Write[T any](w io.Writer, magic string, v *T) error {
	ts := typesOf(reflect.TypeFor[T]())
	e := &encoder{types: ts, strings: map[string]int{}, parts: make([]part, len(ts.parts))}
	for i := range e.parts {
		e.parts[i].index = map[string]int{}
	}
	body, err := e.all(reflect.ValueOf(v).Elem())
	if err != nil {
		return err
	}
	head := binary.LittleEndian.AppendUint64([]byte(magic), ts.mark)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(body)))
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(body, castagnoli))
	if _, err = w.Write(head); err == nil {
		_, err = w.Write(body)
	}
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// part is what values of one type were led to.
type part struct {
	index map[string]int // by how they are written
	list  []string
}

// encoder writes values.
type encoder struct {
	*types
	strings map[string]int // how often; then their number
	frozen  bool           // strings have their numbers
	parts   []part
	err     error
}

// all is what is written behind the head.
func (e *encoder) all(v reflect.Value) ([]byte, error) {
	e.outer(nil, e.root, v) // counts strings
	var table []string
	for _, s := range slices.Sorted(maps.Keys(e.strings)) {
		if e.strings[s] < 2 {
			delete(e.strings, s)
			continue
		}
		table = append(table, s)
		e.strings[s] = len(table)
	}
	e.frozen = true
	for i := range e.parts {
		e.parts[i] = part{index: map[string]int{}}
	}
	body := e.outer(nil, e.root, v)
	out := binary.AppendUvarint(nil, uint64(len(table)))
	for _, s := range table {
		out = append(binary.AppendUvarint(out, uint64(len(s))), s...)
	}
	for _, p := range e.parts {
		out = binary.AppendUvarint(out, uint64(len(p.list)))
		for _, entry := range p.list {
			out = append(out, entry...)
		}
	}
	return append(out, body...), e.err
}

// outer writes the outermost struct, and the structs that are in it: long lists in chunks, each
// with its length before it.
func (e *encoder) outer(out []byte, c *codec, v reflect.Value) []byte {
	for i, f := range c.fields {
		switch of := v.Field(i); {
		case f.kind == structKind:
			out = e.outer(out, f, of)
		case f.long():
			if of.IsNil() {
				out = binary.AppendUvarint(out, 0)
				continue
			}
			n := of.Len()
			out = binary.AppendUvarint(out, uint64(n)+1)
			for from := 0; from < n; from += chunk {
				var text []byte
				for k := from; k < min(from+chunk, n); k++ {
					text = e.value(text, f.elem, of.Index(k))
				}
				out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
			}
		default:
			out = e.value(out, f, of)
		}
	}
	return out
}

// value writes a value.
func (e *encoder) value(out []byte, c *codec, v reflect.Value) []byte {
	switch c.kind {
	case boolKind:
		if v.Bool() {
			return append(out, 1)
		}
		return append(out, 0)
	case intKind:
		return binary.AppendVarint(out, v.Int())
	case uintKind:
		return binary.AppendUvarint(out, v.Uint())
	case stringKind:
		return e.string(out, v.String())
	case timeKind:
		t := v.Interface().(time.Time)
		if t.Location() != time.UTC || !speakable(t.Unix()) {
			e.err = fmt.Errorf("pack: the time %v is not in UTC, or not of the years 0 to 9999", t)
		}
		return binary.AppendUvarint(binary.AppendVarint(out, t.Unix()), uint64(t.Nanosecond()))
	case structKind:
		at := len(out)
		out = append(out, make([]byte, c.bytes())...)
		for i, f := range c.fields {
			of := v.Field(i)
			if of.IsZero() {
				continue
			}
			out[at+i/8] |= 1 << (i % 8)
			if f.kind != boolKind {
				out = e.value(out, f, of)
			}
		}
		return out
	}
	if v.IsNil() {
		return binary.AppendUvarint(out, 0)
	}
	var text []byte
	switch c.kind {
	case pointerKind:
		text = e.value(text, c.elem, v.Elem())
	case sliceKind:
		text = binary.AppendUvarint(text, uint64(v.Len()))
		for i := range v.Len() {
			text = e.value(text, c.elem, v.Index(i))
		}
	case mapKind:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		text = binary.AppendUvarint(text, uint64(len(keys)))
		for _, key := range keys {
			text = e.value(e.string(text, key.String()), c.elem, v.MapIndex(key))
		}
	}
	return binary.AppendUvarint(out, uint64(e.number(c, text)))
}

// number is the number of what is written as text, from 1.
func (e *encoder) number(c *codec, text []byte) int {
	p := &e.parts[c.part]
	n, ok := p.index[string(text)]
	if !ok {
		p.list = append(p.list, string(text))
		n = len(p.list)
		p.index[string(text)] = n
	}
	return n
}

// string writes s, or its number where it has one.
func (e *encoder) string(out []byte, s string) []byte {
	if !e.frozen {
		e.strings[s]++
	}
	if n := e.strings[s]; e.frozen && n > 0 {
		return binary.AppendUvarint(out, uint64(n))
	}
	return append(binary.AppendUvarint(append(out, 0), uint64(len(s))), s...)
}

// The first and the last second that have a year of four digits.
var (
	firstSecond = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	lastSecond  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
)

func speakable(second int64) bool { return second >= firstSecond && second <= lastSecond }
