package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// run is what was measured.
type run struct {
	cpu          string // the machine's, as go test names it
	measurements []measurement
}

// measurement is one benchmark, with the median of each of its metrics.
type measurement struct {
	name   string             // the benchmark's, without the parts
	parts  []part             // key=value, in order
	values map[string]float64 // by unit
}

type part struct{ key, value string }

// get returns the value of a part, empty if there is none.
func (m *measurement) get(key string) string {
	for _, p := range m.parts {
		if p.key == key {
			return p.value
		}
	}
	return ""
}

var procs = regexp.MustCompile(`-\d+$`) // GOMAXPROCS behind the name

// parse reads the output of go test -bench. Lines that are no measurement are
// skipped; one that looks like one and can't be read is an error.
func parse(r io.Reader) (*run, error) {
	out := &run{}
	samples := map[string][]map[string]float64{}
	var names []string
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if cpu, ok := strings.CutPrefix(lines.Text(), "cpu: "); ok {
			out.cpu = cpu
		}
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") || len(fields)%2 != 0 {
			continue
		}
		values := map[string]float64{}
		for i := 2; i < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", lines.Text(), err)
			}
			values[fields[i+1]] = v
		}
		name := procs.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		if samples[name] == nil {
			names = append(names, name)
		}
		samples[name] = append(samples[name], values)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("no benchmark in the input")
	}
	for _, name := range names {
		out.measurements = append(out.measurements, summarize(name, samples[name]))
	}
	return out, nil
}

// summarize splits the name and takes the medians.
func summarize(name string, samples []map[string]float64) measurement {
	words := strings.Split(name, "/")
	m := measurement{name: words[0], values: map[string]float64{}}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		m.parts = append(m.parts, part{key, value})
	}
	for unit := range samples[0] {
		var all []float64
		for _, s := range samples {
			all = append(all, s[unit])
		}
		slices.Sort(all)
		m.values[unit] = all[len(all)/2]
	}
	return m
}

// named returns the measurements of one benchmark, in order.
func (r *run) named(name string) []measurement {
	var out []measurement
	for _, m := range r.measurements {
		if m.name == name {
			out = append(out, m)
		}
	}
	return out
}

// names lists the benchmarks, in order, each once.
func (r *run) names() []string {
	var out []string
	for _, m := range r.measurements {
		if !slices.Contains(out, m.name) {
			out = append(out, m.name)
		}
	}
	return out
}
