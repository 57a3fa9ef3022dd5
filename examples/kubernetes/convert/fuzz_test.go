package convert_test

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// FuzzDump reads, converts and asks about anything at all: nothing panics, every
// complaint is one of this package or of the library, and what could be read once
// can be read again with the same outcome.
func FuzzDump(f *testing.F) {
	for _, seed := range []string{
		nodeJSON, podJSON, podYAML, oddities, workloads,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1e30"}}}]}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}}}}`,
		`{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: g}, spec: {disruptionMode: PodGroup}}`,
		"--- # a\n" + podYAML + "...\n--- {kind: Node, metadata: {name: n}}\n{}\n",
		"\xff\xfe{\x00}\x00", "\xfe\xff\xd8\x34\xdd\x1e", "\x1f\x8b\x08", listYAML,
	} {
		f.Add([]byte(seed))
	}
	for _, name := range []string{"coscheduling", "volcano", "kai"} {
		text, err := os.ReadFile("testdata/others/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		objects, err := convert.Read("f", bytes.NewReader(text))
		if err != nil && !errors.Is(err, convert.ErrInput) {
			t.Fatalf("Read: an error of another kind: %v", err)
		}
		d, err := convert.Options{}.Dump(objects)
		if err != nil && !errors.Is(err, convert.ErrInput) {
			t.Fatalf("Dump: an error of another kind: %v", err)
		}
		lenient, lenientErr := convert.Options{Lenient: true}.Dump(objects)
		if lenientErr != nil || (len(lenient.Problems) > 0) != (err != nil) {
			t.Fatalf("lenient: %v and problems %v; strict: %v", lenientErr, lenient.Problems, err)
		}
		for _, w := range lenient.Templates {
			if _, err := w.Pod("n"); err != nil && !errors.Is(err, convert.ErrInput) {
				t.Fatalf("Pod: an error of another kind: %v", err)
			}
		}
		for _, p := range d.PendingPods() {
			named := preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name}
			_, err := preemption.Preempt(named, &d.Snapshot)
			if err := d.Locate(err); err != nil && !errors.Is(err, cluster.ErrInvalid) {
				t.Fatalf("Preempt: an error of another kind: %v", err)
			}
		}
	})
}
