package main

import (
	"fmt"
	"slices"
	"strings"
)

// render is a file with all of its mutants in it.
func (s *source) render(all []*mutant) []byte {
	type piece struct {
		at, order, skip int
		text            string
	}
	var pieces []piece
	// What ends at an offset comes before what begins there; of several that begin, the
	// outer one comes first, of several that end, the inner one.
	for _, m := range all {
		if m.file != s {
			continue
		}
		pieces = append(pieces, piece{at: m.from, order: m.id, text: m.before}, piece{at: m.to, order: -m.id, text: m.after})
		if m.cut.to > 0 {
			pieces = append(pieces, piece{at: m.cut.from, order: m.id, text: m.comma, skip: m.cut.to - m.cut.from})
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int {
		if a.at != b.at {
			return a.at - b.at
		}
		return a.order - b.order
	})
	var out []byte
	from := 0
	for _, p := range pieces {
		out = append(append(out, s.text[from:p.at]...), p.text...)
		from = p.at + p.skip
	}
	return append(out, s.text[from:]...)
}

// help is the file that a package with mutants needs besides its own.
func help(name string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n%s", name, helpText)
	for _, h := range []struct{ name, kind, is, was string }{
		{"add", "number__", "a - b", "a + b"}, {"sub", "number__", "a + b", "a - b"},
		{"mul", "number__", "a / b", "a * b"}, {"quo", "number__", "a * b", "a / b"},
		{"min", "number__", "max(a, b)", "min(a, b)"}, {"max", "number__", "min(a, b)", "max(a, b)"},
		{"rem", "integer__", "a * b", "a % b"}, {"and", "integer__", "a | b", "a & b"}, {"or", "integer__", "a & b", "a | b"},
		{"andNot", "integer__", "a & b", "a &^ b"}, {"xor", "integer__", "a & b", "a ^ b"},
	} {
		fmt.Fprintf(&b, "func %s__[T %s](id int, a, b T) T { if mutant__ == id { return %s }; return %s }\n", h.name, h.kind, h.is, h.was)
	}
	return []byte(b.String())
}

const helpText = `
import (
	"os"
	"strconv"
)

var mutant__, _ = strconv.Atoi(os.Getenv("MUTANT"))

type integer__ interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type number__ interface { integer__ | ~float32 | ~float64 }

func more__[T number__](id int, n T) T { if mutant__ == id { return n + 1 }; return n }

func shl__[T, S integer__](id int, a T, b S) T { if mutant__ == id { return a >> b }; return a << b }

func shr__[T, S integer__](id int, a T, b S) T { if mutant__ == id { return a << b }; return a >> b }
`
