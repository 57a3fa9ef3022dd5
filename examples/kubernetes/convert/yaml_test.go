package convert_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
)

// A list that is parsed in parts comes to the bytes that it comes to as a whole, or is left to that.
func TestListInParts(t *testing.T) {
	items := "- a: 1\n  b: <a&x> é\n- |+\n  x\n\n   - y\n\n\n- [1,\n   {b: c}]\n- 'it''s\n\n  folded'\n- \"\\\n  x\"\n- - 1.5\n  - ~\n- # none\n- >2\n   x\n- yes\n"
	tests := map[string]struct {
		text  string
		parts bool
	}{
		"as kubectl prints it":               {"apiVersion: v1\nitems:\n" + items + "kind: List\nmetadata:\n  resourceVersion: \"\"\n", true},
		"the items last":                     {"kind: List\nitems:\n" + items, true},
		"without a line end":                 {"kind: List\nitems:\n- a\n- b", true},
		"blank lines":                        {"kind: List\nitems:\n- a\n\n\n- b\n\nx: y\n", true},
		"a map inside with that key":         {"metadata: {items: }\nitems:\n- items:\n  - a\n", true},
		"no items":                           {"kind: List\nitems:\nx: y\n", false},
		"a key that is nothing's":            {"kind: List\nitems:\n- a\nitems:\n- b\n", false},
		"the key within a text":              {"a: \"x\nitems:\n- y\nb\"\nitems:\n", false},
		"the key within brackets":            {"a: {b: c,\nitems:\n- y\n}\n", false},
		"a text that goes on at the margin":  {"kind: List\nitems:\n- \"a\n- b\"\n- c\n", true},
		"a text that ends as a key would":    {"kind: List\nitems:\n- \"a\nb: c\"\n", false},
		"brackets that go on at the margin":  {"kind: List\nitems:\n- [a,\n- b]\n", false},
		"an anchor and what stands for it":   {"kind: List\nitems:\n- &a {b: c}\n- *a\n", false},
		"a comment between items":            {"kind: List\nitems:\n- a\n# x\n- b\n", false},
		"an item below its dash":             {"kind: List\nitems:\n- a\n-\n  b: c\n", false},
		"items that stand in":                {"kind: List\nitems:\n  - a\n  - b\n", false},
		"of which one stands in":             {"kind: List\nitems:\n  - a\n- b\n", false},
		"a key that stands twice in an item": {"kind: List\nitems:\n- a: 1\n  a: 2\n", false},
		"lines that end as on Windows":       {"kind: List\nitems:\n- a\r\n- b\n", false},
		"lines that end in another way":      {"kind: List\nitems:\n- a\u2028- b\n", false},
		"something behind the end":           {"kind: List\nitems:\n- a\nx\n", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.parts, inParts(t, tt.text))
		})
	}
}

// inParts reports whether text is parsed in parts of some size, and compares.
func inParts(t *testing.T, text string) (parts bool) {
	want, err := convert.WholeToJSON([]byte(text))
	for size := range len(text) + 1 {
		if got := convert.ListToJSON([]byte(text), size); got != nil {
			require.NoError(t, err, "%q in parts of %d", text, size)
			require.Equal(t, string(want), string(got), "%q in parts of %d", text, size)
			parts = true
		}
	}
	return parts
}

// So it is whatever becomes of one byte of one.
func TestListInPartsChangedAnywhere(t *testing.T) {
	const text = "a: b\nitems:\n- x: \"y\"\n  z: |\n   c\n\n- [d, e]\n- 'f'\n  \nk: v\n"
	for at := range text {
		for _, b := range []string{"", "\n", "\n- ", " ", "\"", "'", "[", "]", "{", "#", ":", "&a ", "\t", "*a", "|", "\nitems:\n", "!"} {
			inParts(t, text[:at]+b+text[at:])
			inParts(t, text[:at]+b+text[at+1:])
		}
	}
}
