package convert_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

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
		"nothing":              {"", nil},
		"white space":          {" \n\t\n", nil},
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
		"broken JSON":             {nodeJSON + "\n{\"kind\":", "f, document 2: not JSON: near byte", 1},
		"broken YAML":             {"a: b: c\n---\n" + podYAML, "f, document 1: not YAML", 1},
		"a key that stands twice": {"kind: Pod\nkind: Node\n", "f, document 1: not YAML", 0},
		"no kind":                 {`{"metadata":{"name":"x"}}`, `f, document 1: kind: {"metadata":{"name":"x"}} is not a Kubernetes object`, 0},
		"no name":                 {`{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"ns"}}`, `f, document 1: Pod "ns/": metadata.name: "" is not a name`, 0},
		"a text":                  {"just words\n", "f, document 1: ", 0},
		"a name that is a number": {`{"kind":"Pod","metadata":{"name":7}}`, `f, document 1: Pod "": metadata.name: 7 is not part of a Kubernetes object`, 0},
		"items that are no list":  {`{"kind":"List","items":{"a":1}}`, `f, document 1: List "": items: {"a":1} is not part of a Kubernetes object`, 0},
		"a bad item beside a good one": {
			`{"kind":"List","items":[{"metadata":{}},` + nodeJSON + `]}`, "f, document 1, item 1: kind:", 1,
		},
		"lists in lists in lists": {
			strings.Repeat(`{"kind":"List","items":[`, 20) + strings.Repeat("]}", 20), "f, document 1, item 1: items: not nested less than 8 deep", 0,
		},
		"broken gzip": {"\x1f\x8b not gzip", "f: gzip", 0},
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

func TestSplit(t *testing.T) {
	objects, err := convert.Split([]json.RawMessage{json.RawMessage(nodeJSON), json.RawMessage(`{"kind":"List","items":[` + podJSON + `]}`)})
	require.NoError(t, err)
	require.Len(t, objects, 2)
	require.Equal(t, "item 1", objects[0].Origin.String())
	require.Equal(t, "item 2", objects[1].Origin.String())
}
