package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"

	goyaml "go.yaml.in/yaml/v2"
)

// documents yields the documents of a YAML text without the markers between them:
// "---" and "..." at the beginning of a line, whatever follows them there, begin and
// end a document. Blank ones are left out.
//
// Source: YAML 1.1, "Document Boundary Markers", "Line Break Characters".
func documents(text []byte) iter.Seq[[]byte] {
	if marked := []byte("\n" + mark); bytes.Contains(text, marked) { // files that were joined
		text = bytes.ReplaceAll(text, marked, []byte("\n"))
	}
	return func(yield func([]byte) bool) {
		start := 0
		give := func(end int) bool {
			document := text[start:end]
			return len(bytes.TrimSpace(document)) == 0 || yield(document)
		}
		for at := 0; at < len(text); at = nextLine(text, at) {
			if size := marker(text[at:]); size > 0 {
				if !give(at) {
					return
				}
				start = at + size
			}
		}
		give(len(text))
	}
}

// marker is the size of the document marker with which line begins, and of the
// blanks behind it, or 0.
func marker(line []byte) int {
	if !bytes.HasPrefix(line, []byte("---")) && !bytes.HasPrefix(line, []byte("...")) {
		return 0
	}
	rest := bytes.TrimLeft(line[3:], " \t")
	if len(line)-len(rest) == 3 && len(rest) > 0 && lineBreak(rest) == 0 {
		return 0
	}
	return len(line) - len(rest)
}

// nextLine is where the line after the one at position at begins.
func nextLine(text []byte, at int) int {
	for ; at < len(text); at++ {
		if size := lineBreak(text[at:]); size > 0 {
			return at + size
		}
	}
	return at
}

// lineBreak is the size of the line break with which text begins, or 0; "\r\n" may
// count as two.
func lineBreak(text []byte) int {
	switch text[0] {
	case '\n', '\r':
		return 1
	case 0xc2: // next line
		if bytes.HasPrefix(text, []byte("\u0085")) {
			return 2
		}
	case 0xe2: // line and paragraph separators
		if bytes.HasPrefix(text, []byte("\u2028")) || bytes.HasPrefix(text, []byte("\u2029")) {
			return 3
		}
	}
	return 0
}

// yamlToJSON converts a document by Kubernetes' rules: keys become text, and those
// that then stand twice in their mapping are an error. So is something behind the document's end,
// over which Unmarshal would pass in silence.
func yamlToJSON(document []byte) ([]byte, error) {
	if doc := listToJSON(document, partSize); doc != nil {
		return doc, nil
	}
	return wholeToJSON(document)
}

func wholeToJSON(document []byte) ([]byte, error) {
	value, err := yamlValue(document)
	if err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// yamlValue is what a document is, with keys that are text.
func yamlValue(document []byte) (any, error) {
	if bytes.Count(document, []byte("\n%TAG")) > mostTags { // each is compared with all others
		return nil, fmt.Errorf("it has more than %d %%TAG directives", mostTags)
	}
	var value any
	d := goyaml.NewDecoder(bytes.NewReader(document))
	d.SetStrict(true)
	if err := d.Decode(&value); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New(short(err.Error(), 1000))
	}
	if err := d.Decode(&passed{}); !errors.Is(err, io.EOF) {
		return nil, errMore
	}
	if most := max(fewUnpacked, len(document)); textSize(value) > most {
		return nil, fmt.Errorf("its aliases make more than %d bytes of it", most)
	}
	value, bad := textKeys(value)
	if bad != nil {
		return nil, bad
	}
	return value, nil
}

// partSize is how much of a list is parsed at once, at least.
const partSize = 64 << 10

// listToJSON is what yamlToJSON returns for a large list as kubectl prints it, whose items begin with a dash at the
// beginning of a line. They are parsed a part at a time, so that no tree of all is kept. It is nil for whatever else,
// for what may have anchors or other ends of lines, and where anything is wrong, in a part or in what is around them.
func listToJSON(document []byte, size int) []byte {
	const key = "\nitems:\n"
	head := bytes.Index(document, []byte(key)) + len(key)
	if len(document) < size || head < len(key) || !isItem(document[head:]) || !splits(document) {
		return nil
	}
	tail := head
	for tail < len(document) && (isItem(document[tail:]) || document[tail] == ' ' || document[tail] == '\n') {
		tail = nextLine(document, tail)
	}
	if head > size || len(document)-tail > size {
		return nil
	}
	frame := func(text []byte) map[string]any {
		value, err := yamlValue(text)
		m, ok := value.(map[string]any)
		if items, has := m["items"]; err != nil || !ok || !has || items != nil {
			return nil
		}
		return m
	}
	m := frame(slices.Concat(document[:head], document[tail:]))
	if m == nil || frame(document[:head]) == nil { // the key may stand within a text
		return nil
	}
	items := []json.RawMessage{}
	for start := head; start < tail; {
		end := min(start+size, tail)
		for end = nextLine(document, end); end < tail && !isItem(document[end:]); {
			end = nextLine(document, end)
		}
		if items = appendItems(items, document[start:min(end, tail)]); items == nil {
			return nil
		}
		start = end
	}
	m["items"] = items
	doc, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return doc
}

// isItem reports whether line begins an item of a list at its beginning.
func isItem(line []byte) bool { return bytes.HasPrefix(line, []byte("- ")) }

// appendItems appends the items of a part of a list, each as JSON; nil says that something is wrong.
func appendItems(items []json.RawMessage, part []byte) []json.RawMessage {
	value, err := yamlValue(part)
	list, ok := value.([]any)
	if err != nil || !ok {
		return nil
	}
	for _, item := range list {
		text, err := json.Marshal(item)
		if err != nil {
			return nil
		}
		items = append(items, text)
	}
	return items
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// splits reports whether document has nothing that means something in another part of it, or may end a line but a line feed.
func splits(document []byte) bool {
	for i, b := range document {
		switch b {
		case '\r':
			return false
		case '&':
			if i == 0 || !isDigit(document[i-1]) && !isLetter(document[i-1]) {
				return false
			}
		}
	}
	return !bytes.Contains(document, []byte("\u0085")) && !bytes.Contains(document, []byte("\u2028")) && !bytes.Contains(document, []byte("\u2029"))
}

const mostTags = 100

// Of a YAML text that is dense the parser keeps 100 bytes and more for each of its own: so many documents, and so many
// commas, opening brackets and ends of lines that have something in them, may be in any text, and in a large one as
// many as a part of its bytes. What kubectl prints has a line for 25 bytes or more.
const (
	fewDocuments, bytesOfDocument = 1 << 16, 64
	fewMarks, bytesOfMark         = 1 << 19, 8
)

// tooDense is what is wrong with a text of so many documents that would take long for its size.
func tooDense(text []byte, documents int) error {
	if most := max(fewDocuments, len(text)/bytesOfDocument); documents > most {
		return fmt.Errorf("it has more than %d documents", most)
	}
	marks, most := 0, max(fewMarks, len(text)/bytesOfMark)
	before := byte('\n')
	for _, b := range text {
		switch b {
		case ',', '[', '{':
			marks++
		case '\n', '\r':
			if before != '\n' && before != '\r' {
				marks++
			}
		}
		before = b
	}
	if marks > most {
		return fmt.Errorf("it has more than %d lines, commas and opening brackets", most)
	}
	return nil
}

// textSize is how many bytes of text are in value; what aliases repeat counts each time.
func textSize(value any) (size int) {
	switch value := value.(type) {
	case string:
		return len(value)
	case []any:
		for _, element := range value {
			size += textSize(element)
		}
	case map[any]any:
		for key, member := range value {
			size += textSize(key) + textSize(member)
		}
	}
	return size
}

var errMore = errors.New("something follows where the object ends; --- separates documents")

// passed is anything at all, not looked into.
type passed struct{}

// UnmarshalYAML reads nothing.
func (*passed) UnmarshalYAML(func(any) error) error { return nil }

// badKey is what is wrong with a key, and where in a document; at may be empty.
type badKey struct{ at, what string }

// Error says where, too.
func (b *badKey) Error() string {
	if b.at == "" {
		return b.what
	}
	return b.at + ": " + b.what
}

// beneath is b as seen from above.
func (b *badKey) beneath(at string) *badKey {
	if b.at != "" && b.at[0] != '[' {
		at += "."
	}
	return &badKey{at + b.at, b.what}
}

// textKeys makes the keys of all mappings in value text, or says what is wrong with the first of those that are none.
func textKeys(value any) (any, *badKey) {
	switch value := value.(type) {
	case []any:
		for i := range value {
			var bad *badKey
			if value[i], bad = textKeys(value[i]); bad != nil {
				return nil, bad.beneath(fmt.Sprintf("[%d]", i))
			}
		}
	case map[any]any:
		out := make(map[string]any, len(value))
		wrong := map[string]any{} // what is wrong with keys
		for key, member := range value {
			text, err := keyText(key)
			if _, ok := out[text]; ok && err == nil {
				err = fmt.Errorf("the key %q stands twice, as text and as something else", text)
			}
			if err != nil {
				wrong[err.Error()] = nil
			}
			out[text] = member
		}
		if len(wrong) > 0 {
			return nil, &badKey{"", sortedKeys(wrong)[0]}
		}
		first, found := "", (*badKey)(nil)
		for text, member := range out {
			var bad *badKey
			if out[text], bad = textKeys(member); bad != nil && (found == nil || text < first) {
				first, found = text, bad.beneath(text)
			}
		}
		if found != nil {
			return nil, found
		}
		return out, nil
	}
	return value, nil
}

// keyText is a key as JSON has it.
func keyText(key any) (string, error) {
	switch key := key.(type) {
	case string:
		return key, nil
	case int, int64, bool:
		return fmt.Sprint(key), nil
	case float64:
		text := strconv.FormatFloat(key, 'g', -1, 32)
		return cmp.Or(map[string]string{"+Inf": ".inf", "-Inf": "-.inf", "NaN": ".nan"}[text], text), nil
	}
	return "", fmt.Errorf("a key that is %v, not text", key)
}
