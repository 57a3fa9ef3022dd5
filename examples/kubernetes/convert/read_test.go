package convert_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
)

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

// wide is text in UTF-16 with a byte order mark.
func wide(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

const (
	nodeJSON = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}`
	podJSON  = `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ns","name":"p1"}}`
	podYAML  = "apiVersion: v1\nkind: Pod\nmetadata:\n  namespace: ns\n  name: p1\n"
)

func TestRead(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string // place: apiVersion kind namespace/name
	}{
		"an object":            {nodeJSON, []string{"f, document 1: v1 Node /n1"}},
		"a byte order mark":    {"\ufeff" + nodeJSON, []string{"f, document 1: v1 Node /n1"}},
		"gzip":                 {gzipped(t, nodeJSON), []string{"f, document 1: v1 Node /n1"}},
		"JSON lines":           {nodeJSON + "\n" + podJSON + "\n", []string{"f, document 1: v1 Node /n1", "f, document 2: v1 Pod ns/p1"}},
		"an array":             {"[" + nodeJSON + "," + podJSON + "]", []string{"f, document 1, item 1: v1 Node /n1", "f, document 1, item 2: v1 Pod ns/p1"}},
		"a list of kubectl":    {`{"apiVersion":"v1","kind":"List","items":[` + nodeJSON + `,` + podJSON + `]}`, []string{"f, document 1, item 1: v1 Node /n1", "f, document 1, item 2: v1 Pod ns/p1"}},
		"an empty list":        {`{"apiVersion":"v1","kind":"List","items":[]}`, nil},
		"a list without items": {`{"apiVersion":"v1","kind":"PodList","items":null}`, nil},
		"a list of the API, whose items do not repeat the kind": {
			`{"items":[{"metadata":{"name":"p1","namespace":"ns"}}],"kind":"PodDisruptionBudgetList","apiVersion":"policy/v1"}`,
			[]string{"f, document 1, item 1: policy/v1 PodDisruptionBudget ns/p1"},
		},
		"a kind that is no list but is called one": {
			`{"apiVersion":"x/v1","kind":"AllowList","metadata":{"name":"a"}}`, []string{"f, document 1: x/v1 AllowList /a"},
		},
		"YAML": {podYAML, []string{"f, document 1: v1 Pod ns/p1"}},
		"several YAML documents, some of them comments": {
			"# a dump\n---\n" + podYAML + "---\n# nothing\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n",
			[]string{"f, document 2: v1 Pod ns/p1", "f, document 4: v1 Node /n1"},
		},
		"comments behind the markers between documents": {
			podYAML + "--- # next\n" + "kind: Node\nmetadata: {name: n1}\n... # over\n--- {kind: Node, metadata: {name: n2}}\n---\t\nkind: Node\nmetadata: {name: n3}",
			[]string{"f, document 1: v1 Pod ns/p1", "f, document 2:  Node /n1", "f, document 4:  Node /n2", "f, document 5:  Node /n3"},
		},
		"lines that end as on Windows": {
			strings.ReplaceAll(podYAML+"---\n"+podYAML, "\n", "\r\n"), []string{"f, document 1: v1 Pod ns/p1", "f, document 2: v1 Pod ns/p1"},
		},
		"lines that end in other ways": {
			strings.ReplaceAll(podYAML+"---\n"+podYAML, "\n", "\r") + "\u2028---\u0085" + podYAML,
			[]string{"f, document 1: v1 Pod ns/p1", "f, document 2: v1 Pod ns/p1", "f, document 3: v1 Pod ns/p1"},
		},
		"files with byte order marks, joined": {
			"\ufeff" + podYAML + "\ufeff---\n\ufeff" + podYAML, []string{"f, document 1: v1 Pod ns/p1", "f, document 2: v1 Pod ns/p1"},
		},
		"UTF-16, little end first": {wide(binary.LittleEndian, nodeJSON), []string{"f, document 1: v1 Node /n1"}},
		"UTF-16, big end first":    {wide(binary.BigEndian, "kind: Node\nmetadata: {name: n1} # 𝄞\n"), []string{"f, document 1:  Node /n1"}},
		"gzipped UTF-16":           {gzipped(t, wide(binary.LittleEndian, podYAML)), []string{"f, document 1: v1 Pod ns/p1"}},
		"an anchor": {
			"kind: Pod\nmetadata: {name: &it p1, namespace: ns, labels: {app: *it}}\n", []string{"f, document 1:  Pod ns/p1"},
		},
		"pages of a list": {
			`{"kind":"PodList","apiVersion":"v1","metadata":{"continue":"x"},"items":[` + podJSON + `]}` + `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[` + podJSON + `]}`,
			[]string{"f, document 1, item 1: v1 Pod ns/p1", "f, document 2, item 1: v1 Pod ns/p1"},
		},
		"gzipped YAML": {gzipped(t, podYAML), []string{"f, document 1: v1 Pod ns/p1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := convert.Read("f", strings.NewReader(tt.text))
			require.NoError(t, err)
			var got []string
			for _, o := range objects {
				got = append(got, fmt.Sprintf("%s: %s %s %s/%s", o.Origin, o.APIVersion, o.Kind, o.Namespace, o.Name))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	tests := map[string]struct {
		text  string
		want  string // is part of the error
		still int    // objects that are read all the same
	}{
		"broken JSON":                 {nodeJSON + "\n{\"kind\":", "f, document 2: the input is cut off", 1},
		"broken YAML":                 {"a: b: c\n---\n" + podYAML, "f, document 1: not YAML", 1},
		"a key that stands twice":     {"kind: Pod\nkind: Node\n", "f, document 1: not YAML", 0},
		"keys of two types":           {"kind: Pod\nmetadata: {name: p, labels: {1: a, b: c, \"1\": b}}\n", `f, document 1: not YAML: metadata.labels: the key "1" stands twice, as text and as something else`, 0},
		"keys of other types":         {"kind: Pod\nmetadata: {name: p}\nspec: {a: [{}, {1.0: x, 1: y, ~: z}]}\n", `f, document 1: not YAML: spec.a[1]: `, 0},
		"keys of several wrong kinds": {"kind: Pod\nmetadata: {18446744073709551615: a, 18446744073709551614: b, 1: c, \"1\": d}\n", `f, document 1: not YAML: metadata: a key that is 18446744073709551614, not text`, 0},
		"keys true and \"true\"":      {"- kind: Pod\n  metadata: {name: p}\n  data: {yes: x, \"true\": y}\n", `f, document 1: not YAML: [0].data: the key "true" stands twice`, 0},
		"no kind":                     {`{"metadata":{"name":"x"}}`, `f, document 1: kind: {"metadata":{"name":"x"}} is not a Kubernetes object`, 0},
		"no name":                     {`{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"ns"}}`, `f, document 1: Pod "ns/": metadata.name: "" is not a name`, 0},
		"a text":                      {"just words\n", "f, document 1: ", 0},
		"a name that is a number":     {`{"kind":"Pod","metadata":{"name":7}}`, `f, document 1: Pod "": metadata.name: 7 is not part of a Kubernetes object`, 0},
		"items that are no list":      {`{"kind":"List","items":{"a":1}}`, `f, document 1: items: {"a":1} is not a list of Kubernetes objects`, 0},
		"a bad item beside a good one": {
			`{"kind":"List","items":[{"metadata":{}},` + nodeJSON + `]}`, "f, document 1, item 1: kind:", 1,
		},
		"lists in lists in lists": {
			strings.Repeat(`{"kind":"List","items":[`, 20) + strings.Repeat("]}", 20), "f, document 1, item 1: items: not nested less than 8 deep", 0,
		},
		"nothing":                      {"", "f: there is nothing in it", 0},
		"white space":                  {" \n\t\n", "f: there is nothing in it", 0},
		"nothing, gzipped":             {gzipped(t, ""), "f: there is nothing in it", 0},
		"comments":                     {"# nothing\n---\n# at all\n", "f: there is nothing in it", 0},
		"JSON that is cut off":         {nodeJSON + "\n" + nodeJSON[:20], "f, document 2: the input is cut off: the JSON that begins after byte 58 has no end", 1},
		"gzip that is cut off":         {gzipped(t, nodeJSON)[:60], "f: gzip: the input is cut off", 0},
		"the head of gzip":             {gzipped(t, nodeJSON)[:5], "f: gzip: the input is cut off", 0},
		"UTF-16 that is cut off":       {wide(binary.LittleEndian, podYAML) + "x", "f: not UTF-16, which its byte order mark says it is: half a character", 1},
		"half a pair of UTF-16":        {wide(binary.LittleEndian, podYAML) + "\x00\xd8", "f: not UTF-16", 1},
		"JSON that is not UTF-8":       {"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"\xff\"}}", "f, document 1: not UTF-8", 0},
		"YAML that is not UTF-8":       {"kind: Pod\nmetadata: {name: \xff}\n", "f, document 1: not YAML", 0},
		"a list without items":         {`{"apiVersion":"v1","kind":"List"}`, "f, document 1: items: not there, as in every list", 0},
		"the first page of a list":     {`{"kind":"PodList","metadata":{"continue":"x"},"items":[` + podJSON + `]}`, `f, document 1: PodList "": metadata.continue: not empty: the rest of the list is not in the input`, 1},
		"items that stand twice":       {`{"kind":"List","items":[` + podJSON + `],"items":[]}`, `duplicate field "items"`, 0},
		"an object in braces and more": {"{kind: Node, metadata: {name: n1}}\n{kind: Node, metadata: {name: n2}}\n", "f, document 1: not YAML: something follows where the object ends", 0},
		"an object that begins further right than the next": {
			"  kind: Node\n  metadata: {name: n1}\nkind: Node\nmetadata: {name: n2}\n", "f, document 1: not YAML", 0,
		},
		"JSON and then YAML": {nodeJSON + "\n---\n" + podYAML, "f, document 2: not JSON: near byte", 1},
		"tabs for blanks":    {strings.ReplaceAll(podYAML, "  ", "\t"), "f, document 1: not YAML", 0},
		"broken gzip":        {"\x1f\x8b not gzip", "f: gzip", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := convert.Read("f", strings.NewReader(tt.text))
			require.ErrorIs(t, err, convert.ErrInput)
			require.ErrorContains(t, err, tt.want)
			require.Len(t, objects, tt.still)
		})
	}
}

// The last line counts, however long a document is and whether the line ends or not.
func TestTheLastLineIsRead(t *testing.T) {
	const last = "metadata: {name: p1}"
	for _, size := range []int{4095, 4096, 4097, 8192, 12288, 65536} {
		text := "kind: Pod\n#" + strings.Repeat("x", size-len("kind: Pod\n#\n")-len(last)) + "\n" + last
		require.Len(t, text, size)
		objects, err := convert.Read("f", strings.NewReader(text))
		require.NoError(t, err, size)
		require.Len(t, objects, 1, size)
		require.Equal(t, "p1", objects[0].Name)
	}
}

func TestSplit(t *testing.T) {
	objects, err := convert.Split([]json.RawMessage{json.RawMessage(nodeJSON), json.RawMessage(`{"kind":"List","items":[` + podJSON + `]}`)})
	require.NoError(t, err)
	require.Len(t, objects, 2)
	require.Equal(t, "item 1", objects[0].Origin.String())
	require.Equal(t, "item 2", objects[1].Origin.String())
}

// YAML of more documents, lines, commas and brackets than its size may have is refused before it is parsed.
func TestReadRefusesDenseYAML(t *testing.T) {
	deep := "- " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "\n"
	for want, text := range map[string]string{
		"it has more than 524288 lines, commas and opening brackets": "a:\n" + strings.Repeat(deep, 60),
		"it has more than 65536 documents":                           strings.Repeat("---\n{}\n", 65537),
	} {
		_, err := convert.Read("f", strings.NewReader(text))
		require.ErrorContains(t, err, "f: not YAML that can be read in good time: "+want)
		require.ErrorIs(t, err, convert.ErrInput)
	}
	for _, one := range []string{"{", "[", ",", "x\n", "x\r\n", "x\n\n\n"} {
		require.NoError(t, convert.TooDense([]byte(strings.Repeat(one, 1<<19)), 1<<16), "%q", one)
		require.Error(t, convert.TooDense([]byte(strings.Repeat(one, 1<<19+1)), 1), "%q", one)
	}
	line := []byte(strings.Repeat("a: bcde\n", 1<<20))
	require.NoError(t, convert.TooDense(line, len(line)/64))
	require.Error(t, convert.TooDense(line, len(line)/64+1))
	require.Error(t, convert.TooDense(append(line, ",,"...), 1))
}
