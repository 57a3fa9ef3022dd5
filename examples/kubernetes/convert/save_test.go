package convert_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/examples/kubernetes/internal/bigdump"
)

// loaded reads one input.
func loaded(o convert.Options, name, text string) (*convert.Dump, error) {
	l := o.Loader()
	if err := l.Read(name, strings.NewReader(text)); err != nil {
		return nil, err
	}
	return l.Dump()
}

// saved is a dump in the compact form.
func saved(t testing.TB, d *convert.Dump) string {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, d.Save(&file))
	return file.String()
}

// What was saved is the same dump, whatever it was read from.
func TestSavedIsTheSame(t *testing.T) {
	texts := dumps(t)
	var big strings.Builder
	require.NoError(t, bigdump.Write(&big, 40, 1200))
	texts["big"] = big.String()
	texts["odd"] = oddities + "\n---\n" + workloads
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			want, err := loaded(convert.Options{Lenient: true}, "f", text)
			require.NoError(t, err)
			got, err := loaded(convert.Options{}, "saved", saved(t, want))
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(want, got, cmpopts.IgnoreUnexported(convert.Dump{}), cmpopts.IgnoreFields(convert.Template{}, "Origin"),
				cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })))
			require.Equal(t, saved(t, want), saved(t, got))
		})
	}
}

// Options count for a saved dump as for another; it is read alone; and complaints name its file.
func TestSavedAmongOptions(t *testing.T) {
	d, err := loaded(convert.Options{}, "f", nodeJSON+`{"apiVersion":"policies/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"}}`)
	require.NoError(t, err)
	require.Len(t, d.Warnings, 1)
	file := saved(t, d)
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	d, err = loaded(convert.Options{Now: now}, "saved", file)
	require.NoError(t, err)
	require.Equal(t, now, d.Snapshot.Time)
	_, err = loaded(convert.Options{Strict: true}, "saved", file)
	require.ErrorContains(t, err, "policies/v1")
	require.ErrorIs(t, err, convert.ErrInput)

	for _, texts := range [][]string{{file, file}, {file, nodeJSON}, {nodeJSON, file}} {
		l := convert.Options{}.Loader()
		require.NoError(t, l.Read("one", strings.NewReader(texts[0])))
		err := l.Read("two", strings.NewReader(texts[1]))
		require.EqualError(t, err, "two: a saved cluster is read alone, and others were given with it")
		require.ErrorIs(t, err, convert.ErrInput)
	}
	for what, bad := range map[string]string{
		"the saved cluster cannot be read: it is cut off":                            file[:len(file)-1],
		"the saved cluster cannot be read: it is damaged: its checksum is":           file[:len(file)-1] + "~",
		"the cluster was saved by another release: save it again from its dump":      strings.Replace(file, "cluster 1", "cluster 2", 1),
		"the saved cluster cannot be read: it is damaged: something follows its end": file + "\n",
	} {
		_, err := loaded(convert.Options{}, "saved", bad)
		require.ErrorContains(t, err, "saved: "+what)
		require.ErrorIs(t, err, convert.ErrInput)
	}
}

// BenchmarkSaved reads the cluster of 5,000 nodes and 150,000 pods, or a small one with -short.
func BenchmarkSaved(b *testing.B) {
	nodes, pods := 5_000, 150_000
	if testing.Short() {
		nodes, pods = 100, 3_000
	}
	b.Run(fmt.Sprintf("nodes=%d/pods=%d", nodes, pods), func(b *testing.B) {
		var dump strings.Builder
		require.NoError(b, bigdump.Write(&dump, nodes, pods))
		d, err := loaded(convert.Options{}, "dump", dump.String())
		require.NoError(b, err)
		file := saved(b, d)
		b.ReportAllocs()
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			if d, err = loaded(convert.Options{}, "saved", file); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(d.Snapshot.Pods)), "pods")
	})
}
