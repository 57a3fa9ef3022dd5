package convert_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
)

const (
	budgetJSON = `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"ns"},"spec":{"selector":{}}}`
	listYAML   = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    labels: &l\n      a: b\n    name: n1\n" +
		"- apiVersion: v1\n  kind: Pod\n  metadata:\n    labels: *l\n    name: p1\n    namespace: ns\n  spec: |\n    ---\n    x\nkind: List\nmetadata:\n  resourceVersion: \"\"\n"
	documentsYAML = "# a dump\n---\napiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n--- # next\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p1\n  namespace: ns\n" +
		"...\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata:\n  name: b\n  namespace: ns\nspec:\n  selector: {}\n"
	bracesYAML = "{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p1, namespace: ns}}\n"
)

// dumps are the same kinds of objects in every form that is read.
func dumps(t *testing.T) map[string]string {
	all := map[string]string{
		"a list":         `{"apiVersion":"v1","items":[` + nodeJSON + `,` + podJSON + `,` + budgetJSON + `],"kind":"List","metadata":{"resourceVersion":""}}` + "\n",
		"a list of pods": `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"p1"}},{"metadata":{"name":"p2"}}]}`,
		"an array":       "[" + nodeJSON + ",\n\t" + podJSON + "," + budgetJSON + "]",
		"JSON lines":     nodeJSON + "\n" + podJSON + "\n" + budgetJSON + "\n",
		"a YAML list":    listYAML,
		"YAML documents": documentsYAML,
		"YAML in braces": bracesYAML,
	}
	for name, text := range maps.Clone(all) {
		all[name+", lines ending as on Windows"] = strings.ReplaceAll(text, "\n", "\r\n")
		all[name+", after a byte order mark"] = "\ufeff" + text
		all[name+", UTF-16"] = wide(binary.LittleEndian, text)
		all[name+", gzipped"] = gzipped(t, text)
	}
	return all
}

// A dump that was cut off at any byte gives the same objects or an error. What no
// reader can tell: a cut between two documents, and one of YAML documents, of which
// the last may then read as a smaller one, but is never lost.
func TestCutAnywhere(t *testing.T) {
	for name, text := range dumps(t) {
		t.Run(name, func(t *testing.T) {
			whole, err := convert.Read("f", strings.NewReader(text))
			require.NoError(t, err)
			for cut := range len(text) {
				if problem := cutAt(text, cut, whole, strings.HasPrefix(name, "YAML documents")); problem != "" {
					t.Errorf("cut at byte %d, %q: %s", cut, text[max(0, cut-20):cut], problem)
				}
			}
		})
	}
}

// cutAt says what is wrong with how text is read up to a byte; whole is how all of
// it is read. With smaller, the last document may read as a smaller one.
func cutAt(text string, cut int, whole []convert.Object, smaller bool) string {
	part, err := convert.Read("f", strings.NewReader(text[:cut]))
	switch {
	case errors.Is(err, convert.ErrInput):
		return ""
	case err != nil:
		return "an error of another kind: " + err.Error()
	case strings.HasPrefix(text, "\x1f\x8b"):
		return cmp.Diff(whole, part)
	case len(part) == 0 && (len(whole) == 0 || smaller && whole[0].Item > 0):
		return ""
	case len(part) == 0:
		return "nothing is read, in silence"
	}
	last := part[len(part)-1].Document
	upTo := func(objects []convert.Object) (list []convert.Object) {
		for _, o := range objects {
			if o.Document < last || o.Document == last && !smaller {
				list = append(list, o)
			}
		}
		return list
	}
	return cmp.Diff(upTo(whole), upTo(part))
}

// braces begins a text that is JSON: every cut of it shows, but between documents.
var braces = regexp.MustCompile(`^\s*(\[|\{\s*["}])`)

// FuzzCut is TestCutAnywhere for texts of any kind: what was read without a
// complaint is read up to the cut, or is complained about.
func FuzzCut(f *testing.F) {
	for _, text := range []string{listYAML, documentsYAML, bracesYAML, nodeJSON + podJSON, fmt.Sprintf("[%s, %s]", nodeJSON, podJSON)} {
		for cut := 0; cut <= len(text); cut += 7 {
			f.Add([]byte(text), uint(cut))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, at uint) {
		if len(text) == 0 {
			return
		}
		whole, err := convert.Read("f", strings.NewReader(string(text)))
		if err != nil {
			if !errors.Is(err, convert.ErrInput) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		cut := int(at % uint(len(text)))
		if problem := cutAt(string(text), cut, whole, !braces.Match(text)); problem != "" {
			t.Fatalf("cut at byte %d: %s", cut, problem)
		}
	})
}
