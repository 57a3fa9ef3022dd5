package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// results is the report as Markdown: a table for each benchmark.
func results(r *run, plots []string, note string, now time.Time, version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Results\n\nMeasured on %s with %s on %s.\n", now.Format("2 January 2006"), version, or(r.cpu, "a machine whose name go test did not tell"))
	if note != "" {
		b.WriteString(note + "\n")
	}
	b.WriteString("Medians where a benchmark ran more than once. The commands that made them, and this page:\n\n")
	b.WriteString("    go test -run '^$' -bench . ./bench > bench.txt\n")
	b.WriteString("    go run -C bench/kubescheduler . -bench > side.txt\n")
	b.WriteString("    go run ./bench/report bench.txt side.txt\n")
	for _, p := range plots {
		fmt.Fprintf(&b, "\n![%s](%s)\n", strings.TrimSuffix(p, ".svg"), p)
	}
	for _, name := range r.names() {
		fmt.Fprintf(&b, "\n## %s\n\n", name)
		table(&b, r.named(name))
	}
	return b.String()
}

// table has a column for each part of the names, and one for each unit.
func table(b *strings.Builder, ms []measurement) {
	var keys, units []string
	for _, m := range ms {
		for _, p := range m.parts {
			if !slices.Contains(keys, p.key) {
				keys = append(keys, p.key)
			}
		}
		for _, u := range slices.Sorted(maps.Keys(m.values)) {
			if !slices.Contains(units, u) {
				units = append(units, u)
			}
		}
	}
	slices.SortStableFunc(units, func(a, b string) int { return rank(a) - rank(b) })
	fmt.Fprintf(b, "| %s | %s |\n", strings.Join(keys, " | "), strings.Join(units, " | "))
	fmt.Fprintf(b, "|%s%s\n", strings.Repeat("---|", len(keys)), strings.Repeat("--:|", len(units)))
	for _, m := range ms {
		b.WriteString("|")
		for _, k := range keys {
			fmt.Fprintf(b, " %s |", m.get(k))
		}
		for _, u := range units {
			v, ok := m.values[u]
			if !ok {
				b.WriteString(" |")
				continue
			}
			fmt.Fprintf(b, " %s |", amount(v, u))
		}
		b.WriteString("\n")
	}
}

// rank puts the usual units first.
func rank(unit string) int {
	i := slices.Index([]string{"ns/op", "cpu-ns/op", "B/op", "allocs/op"}, unit)
	if i < 0 {
		return len(unit) + 4
	}
	return i
}

// amount writes times with their unit, and other numbers in full.
func amount(v float64, unit string) string {
	if strings.HasSuffix(unit, "ns/op") {
		return duration(v)
	}
	if v == float64(int64(v)) {
		return fmt.Sprint(int64(v))
	}
	return fmt.Sprintf("%.3g", v)
}

// duration writes nanoseconds with three digits.
func duration(ns float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.size {
			return fmt.Sprintf("%.3g %s", ns/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}

func or(s, fallback string) string {
	if s != "" {
		return s
	}
	return fallback
}
