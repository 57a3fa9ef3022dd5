package simulator

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// column is a column of a report: its name, what it means, and its text for a row.
type column struct {
	name, means string
	text        func(r *Row) string
}

func count(of func(r *Row) int64) func(r *Row) string {
	return func(r *Row) string { return fmt.Sprint(of(r)) }
}

func percent(of func(r *Row) float64) func(r *Row) string {
	return func(r *Row) string { return fmt.Sprintf("%.2f", 100*of(r)) }
}

func hours(of func(r *Row) time.Duration) func(r *Row) string {
	return func(r *Row) string { return fmt.Sprintf("%.2f", of(r).Hours()) }
}

// columns are the same in the table, the CSV and the page.
var columns = []column{
	{"policy", "", func(r *Row) string { return r.Policy }},
	{"priority", "", func(r *Row) string { return r.Priority }},
	{"jobs", "that have come", count(func(r *Row) int64 { return r.Jobs })},
	{"done", "", count(func(r *Row) int64 { return r.Done })},
	{"unfinished", "ran, and were not done at the end", count(func(r *Row) int64 { return r.Unfinished })},
	{"refused", "never ran", count(func(r *Row) int64 { return r.Refused })},
	{"preemptions", "how often a job evicted others", count(func(r *Row) int64 { return r.Preemptions })},
	{"evictions", "", count(func(r *Row) int64 { return r.Evictions })},
	{"again", "evictions of a job that had been evicted before", count(func(r *Row) int64 { return r.Again })},
	{"cascades", "evictions for a job that had been evicted before", count(func(r *Row) int64 { return r.Cascades })},
	{"deepest", "most evictions in a chain in which each is for the victim of the one before", count(func(r *Row) int64 { return r.Deepest })},
	{"failures", "nodes that failed under a job", count(func(r *Row) int64 { return r.Failures })},
	{"wait p50 h", "hours that half of the jobs waited at most, evictions included", hours(func(r *Row) time.Duration { return r.WaitP50 })},
	{"wait p95 h", "", hours(func(r *Row) time.Duration { return r.WaitP95 })},
	{"wait max h", "", hours(func(r *Row) time.Duration { return r.WaitMax })},
	{"used %", "of what there was", percent(func(r *Row) float64 { return r.Used })},
	{"work", "that was kept, or is going on", func(r *Row) string { return fmt.Sprintf("%.1f", r.Useful) }},
	{"wasted", "work that was lost", func(r *Row) string { return fmt.Sprintf("%.1f", r.Wasted) }},
	{"wasted %", "of all work", percent(func(r *Row) float64 { return r.WastedShare() })},
}

// cells are the texts of a row.
func (r *Row) cells() []string {
	list := make([]string, len(columns))
	for i := range columns {
		list[i] = columns[i].text(r)
	}
	return list
}

func names() []string {
	list := make([]string, len(columns))
	for i := range columns {
		list[i] = columns[i].name
	}
	return list
}

// WriteCSV writes every row: a policy and a priority, or all of them.
func WriteCSV(w io.Writer, outcomes []*Outcome) error {
	out := csv.NewWriter(w)
	if err := out.Write(names()); err != nil {
		return err
	}
	for _, o := range outcomes {
		for i := range o.Rows {
			if err := out.Write(o.Rows[i].cells()); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// WriteTable writes the same for people.
func WriteTable(w io.Writer, outcomes []*Outcome) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(cells []string) { fmt.Fprintln(out, strings.Join(cells, "\t")+"\t") }
	line(names())
	for _, o := range outcomes {
		for i := range o.Rows {
			line(o.Rows[i].cells())
		}
	}
	return out.Flush()
}
