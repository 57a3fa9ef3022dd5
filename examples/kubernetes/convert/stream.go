package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// blockSize is how much of a JSON text is looked at together. A document that is
// larger is taken apart while it is read.
const blockSize = 1 << 20

// unit is a value of a block: a document, or an item of a list.
type unit struct {
	at         Origin
	start, end int
	listKind   string // of an item, as far as it is known
	guess      bool   // listKind is not known yet
}

// block is a part of a text, with the values that are whole in it.
type block struct {
	text  []byte
	base  int64 // position of text in the input
	units []unit
}

// stream takes JSON apart into values, by its brackets and quotes alone, and
// gives them away in blocks.
type stream struct {
	in   io.Reader
	size int // of a block
	err  error

	block *block
	at    int                   // what stands before was taken
	fresh func(size int) []byte // an empty slice for a block
	give  func(*block)          // what becomes of a block
}

// fill reads more, into a block of its own with what was not taken yet. It reports
// whether there is more.
func (s *stream) fill() bool {
	if s.err != nil {
		return false
	}
	b := s.block
	rest := b.text[s.at:]
	next := &block{base: b.base + int64(s.at), text: append(s.fresh(max(s.size, 2*len(rest))), rest...)}
	n, err := io.ReadFull(s.in, next.text[len(rest):cap(next.text)])
	next.text = next.text[:len(rest)+n]
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	s.err = err
	s.give(b)
	s.block, s.at = next, 0
	return n > 0
}

// peek is the next byte that is no white space; 0 at the end.
func (s *stream) peek() byte {
	for {
		c := cursor{text: s.block.text, at: s.at}
		b := c.peek()
		if s.at = c.at; s.at < len(c.text) || !s.fill() {
			return b
		}
	}
}

// ended reports whether there is nothing more but white space.
func (s *stream) ended() bool { return s.peek() == 0 && s.at == len(s.block.text) }

// value finds the end of the next value. It is -1 if the value does not end within
// most bytes (0: anywhere).
func (s *stream) value(most int) (end int) {
	s.peek()
	for {
		rest := s.block.text[s.at:]
		if n := valueLength(rest, s.err != nil); n >= 0 {
			return s.at + n
		}
		if most > 0 && len(rest) >= most || s.err != nil {
			return -1
		}
		s.fill()
	}
}

// What a byte means outside of strings.
var structure = [256]byte{'"': '"', '{': '{', '[': '{', '}': '}', ']': '}'}

// valueLength is the length of the value with which text begins, -1 if it goes on
// behind. last says that nothing can follow text.
func valueLength(text []byte, last bool) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch structure[text[i]] {
		case '"':
			n := stringLength(text[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case '{':
			depth++
			continue
		case '}':
			depth--
		default:
			if depth > 0 {
				if text[i] == '\n' {
					i += blanks(text[i+1:])
				}
				continue
			}
			n := max(1, wordLength(text[i:]))
			if i+n == len(text) && !last {
				return -1
			}
			return i + n
		}
		if depth <= 0 {
			return i + 1
		}
	}
	return -1
}

// stringLength is the length of the string with which text begins, -1 if it has no end.
func stringLength(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

// frame is a large document without the items of its list: one empty text stands for all.
type frame struct {
	text  []byte
	marks []place // where parts of it stand in the input
}

type place struct {
	frame int
	input int64
}

func (f *frame) add(text []byte, input int64) {
	f.marks = append(f.marks, place{len(f.text), input})
	f.text = append(f.text, text...)
}

// check is what is wrong with the frame, and where in the input.
func (f *frame) check() (at int64, err error) {
	var value json.RawMessage
	err = json.NewDecoder(bytes.NewReader(f.text)).Decode(&value)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		for _, m := range f.marks {
			if int64(m.frame) < syntax.Offset {
				at = m.input + syntax.Offset - int64(m.frame)
			}
		}
	}
	return at, err
}

// take moves the next byte, whatever it is, to f.
func (s *stream) take(f *frame) {
	if !s.ended() {
		f.add(s.block.text[s.at:s.at+1], s.block.base+int64(s.at))
		s.at++
	}
}

// large takes a large document apart: its items become units, the rest the frame.
// Where it breaks the rules of JSON it ends, and the frame does not check.
func (s *stream) large(at Origin) *frame {
	f := &frame{}
	if s.peek() == '[' {
		s.items(at, f, "", false)
		return f
	}
	var version, kind string
	s.take(f)
	for first := true; ; first = false {
		if s.peek() == '}' {
			s.take(f)
			return f
		}
		if !first {
			if s.peek() != ',' {
				s.take(f)
				return f
			}
			s.take(f)
		}
		key := s.part(f)
		if key == nil || s.peek() != ':' {
			s.take(f)
			return f
		}
		s.take(f)
		if string(key) == `"items"` && s.peek() == '[' {
			h := header{APIVersion: version, Kind: kind}
			if !s.items(at, f, h.listKind(), version == "" || kind == "") {
				return f
			}
			continue
		}
		value := s.part(f)
		switch {
		case value == nil:
			return f
		case string(key) == `"apiVersion"`:
			_ = json.Unmarshal(value, &version)
		case string(key) == `"kind"`:
			_ = json.Unmarshal(value, &kind)
		}
	}
}

// part moves the next value to f and returns a copy; nil if it has no end.
func (s *stream) part(f *frame) []byte {
	end := s.value(0)
	if end < 0 {
		s.all(f)
		return nil
	}
	text := s.block.text[s.at:end]
	f.add(text, s.block.base+int64(s.at))
	if s.at = end; end < len(s.block.text) && s.block.text[end] <= ' ' {
		f.text = append(f.text, s.block.text[end]) // which may be what is wrong
	}
	return bytes.Clone(text)
}

// all moves the rest of the input, which is the beginning of a value, to f.
func (s *stream) all(f *frame) { f.add(s.block.text[s.at:], s.block.base+int64(s.at)) }

// items makes a unit of each element of an array. It reports whether the array ends
// as it should.
func (s *stream) items(at Origin, f *frame, listKind string, guess bool) bool {
	s.take(f)
	for n := 1; ; n++ {
		switch b := s.peek(); {
		case b == ']':
			s.take(f)
			return true
		case n > 1 && b != ',':
			s.take(f)
			return false
		case n > 1:
			s.at++
			if s.peek() == ']' || s.ended() {
				f.add([]byte{','}, s.block.base+int64(s.at)-1)
				s.take(f)
				return false
			}
		}
		end := s.value(0)
		if end < 0 || end == len(s.block.text) && s.err != nil {
			if n > 1 {
				f.add([]byte{','}, s.block.base+int64(s.at))
			}
			s.all(f)
			return false
		}
		if n == 1 {
			f.add([]byte(`""`), s.block.base+int64(s.at))
		}
		at.Item = n
		s.block.units = append(s.block.units, unit{at, s.at, end, listKind, guess})
		s.at = end
	}
}
