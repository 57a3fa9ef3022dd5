package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

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
// that then stand twice in their mapping are an error.
func yamlToJSON(document []byte) ([]byte, error) {
	var value any
	if err := goyaml.UnmarshalStrict(document, &value); err != nil {
		return nil, err
	}
	value, err := textKeys(value, "")
	if err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// textKeys makes the keys of all mappings in value text. path is where value stands.
func textKeys(value any, path string) (any, error) {
	switch value := value.(type) {
	case []any:
		for i := range value {
			var err error
			if value[i], err = textKeys(value[i], fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return nil, err
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
			return nil, within(path, errors.New(sortedKeys(wrong)[0]))
		}
		for _, text := range sortedKeys(out) {
			var err error
			if out[text], err = textKeys(out[text], strings.TrimPrefix(path+"."+text, ".")); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return value, nil
}

// within says where in a document err is; path may be empty.
func within(path string, err error) error {
	if path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
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

var errMore = errors.New("something follows where the object ends; --- separates documents")

// endsWithItsText complains about a document with something behind it, over which
// the parser passes in silence. What begins a line as a plain word goes on to the
// end of its text, and nearly all documents do; only others are read once more.
func endsWithItsText(document []byte) error {
	if first := firstWord(document); first == 0 || 'a' <= first && first <= 'z' || 'A' <= first && first <= 'Z' {
		return nil
	}
	d := goyaml.NewDecoder(bytes.NewReader(document))
	if err := d.Decode(&passed{}); err != nil {
		return err
	}
	if err := d.Decode(&passed{}); !errors.Is(err, io.EOF) {
		return errMore
	}
	return nil
}

// firstWord is the first character of the first line that is neither blank nor a
// comment, 0 if there is none.
func firstWord(document []byte) byte {
	for at := 0; at < len(document); at = nextLine(document, at) {
		line := bytes.TrimLeft(document[at:nextLine(document, at)], " \t")
		if len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			return document[at]
		}
	}
	return 0
}

// passed is anything at all, not looked into.
type passed struct{}

// UnmarshalYAML reads nothing.
func (*passed) UnmarshalYAML(func(any) error) error { return nil }
