package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

const output = `goos: linux
cpu: Some CPU
BenchmarkGrowth/case=tied/nodes=1000/pods=30000-2    100   300 ns/op   7 allocs/op
BenchmarkGrowth/case=tied/nodes=1000/pods=30000-2    100   100 ns/op   7 allocs/op
BenchmarkGrowth/case=tied/nodes=1000/pods=30000-2    100   200 ns/op   7 allocs/op
BenchmarkGrowth/case=tied/nodes=2000/pods=60000-2    100   2500000 ns/op   7 allocs/op
BenchmarkGrowth/case=tied/nodes=1000-2000-2          100   1.05 exponent
PASS
BenchmarkSideBySide/case=tied/nodes=5000/pods=150000/side=kube-scheduler 1 9 ns/op 301000000 cpu-ns/op
BenchmarkSideBySide/case=tied/nodes=5000/pods=150000/side=preempt 1 9 ns/op 1000000 cpu-ns/op
BenchmarkQuality/data=random/least=upstream/search=Greedy-2  200  90000 ns/op  0.17 worse
BenchmarkQuality/data=random/least=work/search=Exact-2       200  700000 ns/op  0 worse
`

func TestParse(t *testing.T) {
	r, err := parse(strings.NewReader(output))
	require.NoError(t, err)
	require.Equal(t, "Some CPU", r.cpu)
	require.Equal(t, []string{"Growth", "SideBySide", "Quality"}, r.names())
	require.Len(t, r.measurements, 7)
	first := r.measurements[0]
	require.Equal(t, "1000", first.get("nodes"))
	if diff := cmp.Diff(map[string]float64{"ns/op": 200, "allocs/op": 7}, first.values); diff != "" {
		t.Errorf("medians (-want +got):\n%s", diff)
	}
}

func TestParseErrors(t *testing.T) {
	_, err := parse(strings.NewReader("PASS\n"))
	require.ErrorContains(t, err, "no benchmark")
	_, err = parse(strings.NewReader("BenchmarkX 1 many ns/op\n"))
	require.ErrorContains(t, err, `"BenchmarkX 1 many ns/op"`)
}

func TestResults(t *testing.T) {
	r, err := parse(strings.NewReader(output))
	require.NoError(t, err)
	text := results(r, []string{"growth.svg"}, "Quiet.", time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), "go1.26")
	require.Contains(t, text, "Measured on 2 January 2026 with go1.26 on Some CPU.\nQuiet.\nMedians")
	require.Contains(t, text, "![growth](growth.svg)")
	require.Contains(t, text, `| case | nodes | pods | ns/op | allocs/op | exponent |
|---|---|---|--:|--:|--:|
| tied | 1000 | 30000 | 200 ns | 7 | |
| tied | 2000 | 60000 | 2.5 ms | 7 | |
| tied | 1000-2000 |  | | | 1.05 |
`)
	require.Contains(t, text, "| tied | 5000 | 150000 | kube-scheduler | 9 ns | 301 ms |\n")
}

// TestPlots: the plots are well-formed, and show each measurement.
func TestPlots(t *testing.T) {
	r, err := parse(strings.NewReader(output))
	require.NoError(t, err)
	for svg, want := range map[string][]string{
		growth(r):     {"nodes", "tied", "1000"},
		comparison(r): {"tied: kube-scheduler", "301 ms", "tied: preempt"},
		quality(r):    {"random", "25 %", "1 ms"},
	} {
		var texts []string
		for d := xml.NewDecoder(strings.NewReader(svg)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			if c, ok := token.(xml.CharData); ok {
				texts = append(texts, string(c))
			}
		}
		for _, w := range want {
			require.Contains(t, texts, w)
		}
	}
	require.Equal(t, 2, strings.Count(growth(r), "<circle"), "a dot for each size; the slope is none")
	require.Equal(t, 2, strings.Count(quality(r), "<circle"), "a dot for each search")
	require.Empty(t, growth(&run{}))
	require.Empty(t, comparison(&run{}))
	require.Empty(t, quality(&run{}))
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, write(dir, []byte(output), "", time.Now()))
	for _, name := range []string{"RESULTS.md", "growth.svg", "comparison.svg", "quality.svg"} {
		_, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
	}
	require.Error(t, write(dir, nil, "", time.Now()))
	_, err := read([]string{filepath.Join(dir, "none")})
	require.Error(t, err)
}
