package pack

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The errors of Read, besides those of the reader.
var (
	ErrMagic   = errors.New("it begins with another word")
	ErrTypes   = errors.New("it was written from other types")
	ErrCut     = errors.New("it is cut off")
	ErrDamaged = errors.New("it is damaged")
)

// Begins reports whether what r has begins with magic, and leaves it there.
func Begins(r *bufio.Reader, magic string) bool {
	text, _ := r.Peek(len(magic))
	return string(text) == magic
}

// Read reads what [Write] wrote, up to the end of r. Parts of it are shared.
func Read[T any](r io.Reader, magic string) (*T, error) {
	ts := typesOf(reflect.TypeFor[T]())
	head := make([]byte, len(magic)+20)
	n, err := io.ReadFull(r, head)
	switch {
	case !strings.HasPrefix(magic, string(head[:min(n, len(magic))])):
		return nil, ErrMagic
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, ErrCut
	case err != nil:
		return nil, err
	}
	head = head[len(magic):]
	if binary.LittleEndian.Uint64(head) != ts.mark {
		return nil, ErrTypes
	}
	body, err := readBody(r, binary.LittleEndian.Uint64(head[8:]), binary.LittleEndian.Uint32(head[16:]))
	if err != nil {
		return nil, err
	}
	out := new(T)
	if err := ts.read(body, reflect.ValueOf(out).Elem()); err != nil {
		return nil, err
	}
	return out, nil
}

// readBody reads so many bytes with that checksum, and nothing behind them.
func readBody(r io.Reader, size uint64, sum uint32) (string, error) {
	if size > math.MaxInt64-1 {
		return "", fmt.Errorf("%w: its length is %d", ErrDamaged, size)
	}
	var body strings.Builder
	body.Grow(int(min(size, 1<<26))) // a length may be a lie
	hash := crc32.New(castagnoli)
	n, err := io.Copy(io.MultiWriter(&body, hash), io.LimitReader(r, int64(size)+1))
	switch {
	case err != nil:
		return "", err
	case uint64(n) < size:
		return "", fmt.Errorf("%w: %d of %d bytes are there", ErrCut, n, size)
	case uint64(n) > size:
		return "", fmt.Errorf("%w: something follows its end", ErrDamaged)
	case hash.Sum32() != sum:
		return "", fmt.Errorf("%w: its checksum is another one", ErrDamaged)
	}
	return body.String(), nil
}

// read reads body into v, which is zero.
func (ts *types) read(body string, v reflect.Value) error {
	d := &decoder{text: body, table: &table{parts: make([][]reflect.Value, len(ts.parts))}}
	d.strings = make([]string, d.count(1))
	for i := range d.strings {
		d.strings[i] = d.take(d.uvarint())
		if i > 0 && d.strings[i] <= d.strings[i-1] {
			d.fail("strings in order")
		}
	}
	for i, c := range ts.parts {
		list := make([]reflect.Value, d.count(1))
		for k := range list {
			list[k] = d.part(c)
		}
		d.parts[i] = list
	}
	var chunks []task
	d.outer(ts.root, v, &chunks)
	if d.err == nil && d.at < len(d.text) {
		d.fail("the end")
	}
	if d.err != nil {
		return d.err
	}
	return d.run(chunks)
}

// task is a chunk of a long list.
type task struct {
	text     string
	base     int // where it begins
	elem     *codec
	into     reflect.Value
	from, to int
}

// run reads chunks on all processors.
func (d *decoder) run(chunks []task) error {
	errs := make([]error, len(chunks))
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(chunks)) {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(chunks)); i = next.Add(1) - 1 {
				t := &chunks[i]
				of := &decoder{text: t.text, base: t.base, table: d.table}
				for k := t.from; k < t.to; k++ {
					of.value(t.elem, t.into.Index(k))
				}
				if of.err == nil && of.at < len(of.text) {
					of.fail("the end of the list")
				}
				errs[i] = of.err
			}
		})
	}
	running.Wait()
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i]
}

// table is what is written once.
type table struct {
	strings []string
	parts   [][]reflect.Value
}

// decoder reads values; after an error it reads zeros.
type decoder struct {
	*table
	text string
	at   int
	base int // where text begins
	err  error
}

func (d *decoder) fail(want string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: byte %d is not %s", ErrDamaged, d.base+d.at, want)
	}
	d.at = len(d.text)
}

func (d *decoder) uvarint() uint64 {
	if d.at < len(d.text) && d.text[d.at] < 0x80 {
		d.at++
		return uint64(d.text[d.at-1])
	}
	var n uint64
	for i := range 10 {
		if d.at+i >= len(d.text) {
			break
		}
		b := d.text[d.at+i]
		if i == 9 && b > 1 || i > 0 && b == 0 {
			break
		}
		if n |= uint64(b&0x7f) << (7 * i); b < 0x80 {
			d.at += i + 1
			return n
		}
	}
	d.fail("a number")
	return 0
}

func (d *decoder) varint() int64 {
	n := d.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

// take takes so many bytes.
func (d *decoder) take(n uint64) string {
	if n > uint64(len(d.text)-d.at) {
		d.fail("a length")
		return ""
	}
	d.at += int(n)
	return d.text[d.at-int(n) : d.at]
}

// count reads how many elements follow, each of so many bytes at least.
func (d *decoder) count(least int) int {
	n := d.uvarint()
	if n > uint64(len(d.text)-d.at)/uint64(least) {
		d.fail("a number of elements")
		return 0
	}
	return int(n)
}

// outer reads the outermost struct, but for its long lists.
func (d *decoder) outer(c *codec, v reflect.Value, chunks *[]task) {
	for i, f := range c.fields {
		switch of := v.Field(i); {
		case f.kind == structKind:
			d.outer(f, of, chunks)
		case f.long():
			d.long(f, of, chunks)
		default:
			d.value(f, of)
		}
	}
}

func (d *decoder) long(c *codec, v reflect.Value, chunks *[]task) {
	n := d.uvarint()
	if n == 0 {
		return
	}
	n--
	if n > uint64(len(d.text)-d.at)/uint64(c.elem.bytes()) {
		d.fail("a number of elements")
		return
	}
	v.Set(reflect.MakeSlice(c.of, int(n), int(n)))
	for from := 0; from < int(n); from += chunk {
		size := d.uvarint()
		base := d.at
		*chunks = append(*chunks, task{text: d.take(size), base: d.base + base, elem: c.elem, into: v, from: from, to: min(from+chunk, int(n))})
	}
}

// value reads a value into v, which is zero.
func (d *decoder) value(c *codec, v reflect.Value) {
	switch c.kind {
	case boolKind:
		switch d.take(1) {
		case "\x01":
			v.SetBool(true)
		case "\x00":
		default:
			d.fail("a bool")
		}
	case intKind:
		n := d.varint()
		if v.OverflowInt(n) {
			d.fail("a number of this size")
			return
		}
		v.SetInt(n)
	case uintKind:
		n := d.uvarint()
		if v.OverflowUint(n) {
			d.fail("a number of this size")
			return
		}
		v.SetUint(n)
	case stringKind:
		v.SetString(d.string())
	case timeKind:
		second, nano := d.varint(), d.uvarint()
		if !speakable(second) || nano >= 1e9 {
			d.fail("a time")
			return
		}
		*v.Addr().Interface().(*time.Time) = time.Unix(second, int64(nano)).UTC()
	case structKind:
		d.fields(c, v)
	default:
		n := d.uvarint()
		if list := d.parts[c.part]; n <= uint64(len(list)) {
			if n > 0 {
				v.Set(list[n-1])
			}
			return
		}
		d.fail("the number of a " + c.of.String())
	}
}

// fields reads a struct.
func (d *decoder) fields(c *codec, v reflect.Value) {
	there := d.take(uint64(c.bytes()))
	for b := range len(there) {
		for left := there[b]; left != 0; left &= left - 1 {
			i := 8*b + bits.TrailingZeros8(left)
			if i >= len(c.fields) {
				d.fail("the fields of a " + c.of.String())
				return
			}
			f, of := c.fields[i], v.Field(i)
			if f.kind == boolKind {
				of.SetBool(true)
				continue
			}
			if d.value(f, of); of.IsZero() {
				d.fail("a " + c.of.String() + " without what is zero")
				return
			}
		}
	}
}

// part reads what a pointer, slice or map leads to.
func (d *decoder) part(c *codec) reflect.Value {
	v := reflect.New(c.of).Elem()
	switch c.kind {
	case pointerKind:
		v.Set(reflect.New(c.elem.of))
		d.value(c.elem, v.Elem())
	case sliceKind:
		n := d.count(1)
		v.Set(reflect.MakeSlice(c.of, n, n))
		for i := range n {
			d.value(c.elem, v.Index(i))
		}
	case mapKind:
		n := d.count(2)
		v.Set(reflect.MakeMapWithSize(c.of, n))
		before := ""
		for i := range n {
			key, value := reflect.New(c.key.of).Elem(), reflect.New(c.elem.of).Elem()
			name := d.string()
			if i > 0 && name <= before {
				d.fail("a key in order")
				break
			}
			before = name
			key.SetString(name)
			d.value(c.elem, value)
			v.SetMapIndex(key, value)
		}
	}
	return v
}

func (d *decoder) string() string {
	n := d.uvarint()
	switch {
	case n == 0:
		return d.take(d.uvarint())
	case n <= uint64(len(d.strings)):
		return d.strings[n-1]
	}
	d.fail("the number of a string")
	return ""
}
