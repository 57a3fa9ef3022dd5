package convert

import (
	"encoding/binary"
	"encoding/json"
	"strings"
)

// cursor walks over JSON and checks it. What it can't tell for certain makes it bad,
// and then it is for the decoder of Kubernetes to say what is wrong, if anything is.
type cursor struct {
	text []byte
	at   int
	bad  bool
}

// maxWalk bounds what a cursor follows into.
const maxWalk = 100

// peek is the next byte that is no white space, 0 at the end.
func (c *cursor) peek() byte {
	for c.at < len(c.text) {
		switch b := c.text[c.at]; b {
		case '\n':
			c.at += 1 + blanks(c.text[c.at+1:])
		case ' ', '\t', '\r':
			c.at++
		default:
			return b
		}
	}
	return 0
}

// blanks is how many blanks text begins with, as they come in pretty JSON, but for
// the last few.
func blanks(text []byte) int {
	const eight = 0x2020202020202020
	n := 0
	for len(text)-n >= 8 && binary.LittleEndian.Uint64(text[n:]) == eight {
		n += 8
	}
	return n
}

// take passes over b, which has to come next.
func (c *cursor) take(b byte) {
	if c.peek() != b {
		c.bad = true
		return
	}
	c.at++
}

// more reports whether a further member or element comes, and passes over the comma
// before it or the end.
func (c *cursor) more(end byte, first bool) bool {
	if c.bad {
		return false
	}
	if c.peek() == end {
		c.at++
		return false
	}
	if !first {
		c.take(',')
		c.bad = c.bad || c.peek() == end
	}
	return !c.bad
}

// key is the next key, up to its colon.
func (c *cursor) key() []byte {
	key := c.plain()
	c.take(':')
	return key
}

// plain is the next string, which has no escapes, without its quotes.
func (c *cursor) plain() []byte {
	c.take('"')
	if c.bad {
		return nil
	}
	start := c.at
	for ; c.at < len(c.text); c.at++ {
		switch b := c.text[c.at]; {
		case b == '"':
			c.at++
			return c.text[start : c.at-1]
		case b == '\\' || b < ' ':
			c.bad = true
			return nil
		}
	}
	c.bad = true
	return nil
}

// quoted passes over the next string.
func (c *cursor) quoted() {
	c.take('"')
	for !c.bad && c.at < len(c.text) {
		b := c.text[c.at]
		c.at++
		switch {
		case b == '"':
			return
		case b < ' ':
			c.bad = true
		case b == '\\':
			c.escape()
		}
	}
	c.bad = true
}

// escape passes over what follows a backslash.
func (c *cursor) escape() {
	rest := c.text[c.at:]
	if len(rest) == 0 {
		c.bad = true
		return
	}
	c.at++
	switch rest[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
	case 'u':
		c.at += 4
		c.bad = len(rest) < 5 || !isHex(rest[1]) || !isHex(rest[2]) || !isHex(rest[3]) || !isHex(rest[4])
	default:
		c.bad = true
	}
}

func isHex(b byte) bool { return isDigit(b) || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F' }

// word passes over the next number or literal, and returns it.
func (c *cursor) word() []byte {
	c.peek()
	start := c.at
	c.at += wordLength(c.text[start:])
	word := c.text[start:c.at]
	return word
}

// wordLength is the length of the number or literal with which text begins, as far
// as it is one.
func wordLength(text []byte) int {
	n := 0
	for _, literal := range []string{"true", "false", "null"} {
		for n < len(literal) && n < len(text) && text[n] == literal[n] {
			n++
		}
		if n > 0 {
			return n
		}
	}
	accept := func(set string) bool {
		if n < len(text) && strings.IndexByte(set, text[n]) >= 0 {
			n++
			return true
		}
		return false
	}
	digits := func() {
		for accept("0123456789") {
		}
	}
	accept("-")
	if !accept("0") {
		digits()
	}
	if accept(".") {
		digits()
	}
	if accept("eE") {
		accept("+-")
		digits()
	}
	return n
}

// skip passes over the next value.
func (c *cursor) skip(depth int) {
	if depth > maxWalk {
		c.bad = true
		return
	}
	switch c.peek() {
	case '"':
		c.quoted()
	case '{':
		c.at++
		for first := true; c.more('}', first); first = false {
			c.peek()
			c.quoted()
			c.take(':')
			c.skip(depth + 1)
		}
	case '[':
		c.at++
		for first := true; c.more(']', first); first = false {
			c.skip(depth + 1)
		}
	default:
		c.bad = c.bad || !json.Valid(c.word())
	}
}

// raw is the text of the next value.
func (c *cursor) raw() []byte {
	c.peek()
	start := c.at
	c.skip(0)
	return c.text[start:c.at]
}

// members calls yield with the text of each member of the next value, an object.
func (c *cursor) members(yield func(key, value []byte)) {
	c.take('{')
	for first := true; c.more('}', first); first = false {
		key := c.key()
		if value := c.raw(); !c.bad {
			yield(key, value)
		}
	}
}
