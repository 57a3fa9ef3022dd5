package simulator

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
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

// row is what became of the jobs of one level, and how long each of them has waited.
func (s *Simulation) row(level int, capacity float64) (r Row, waits []time.Duration) {
	c := &s.Counts[level]
	r = Row{
		Policy: s.policy.Name, Priority: strconv.Itoa(int(s.levels[level])),
		Preemptions: c.Preemptions, Evictions: c.Evictions, Again: c.Again, Cascades: c.Cascades, Deepest: int64(c.Deepest), Failures: c.Failures,
	}
	useful := c.Useful
	for j := range s.jobs {
		l := &s.jobs[j]
		if s.amounts[j].level != level || l.State == coming {
			continue
		}
		r.Jobs++
		waited := l.Waited
		switch l.State {
		case done:
			r.Done++
		case waiting, leaving:
			if l.State == waiting {
				waited += s.now - l.Since
			}
			if l.Run == 0 {
				r.Refused++
			} else {
				r.Unfinished++
			}
		default:
			r.Unfinished++
			waited -= max(l.Since-s.now, 0)
			useful += float64(s.weight(int32(j))) * max(s.now-l.Since, 0).Seconds()
		}
		if s.list[j].Node == "" || l.Run > 0 && waited > 0 {
			waits = append(waits, waited)
		}
	}
	if capacity > 0 {
		r.Used = (useful + c.Wasted) / capacity
	}
	unit := 3600 * float64(max(s.farm.PerUnit, 1))
	r.Useful, r.Wasted = useful/unit, c.Wasted/unit
	r.waits(waits)
	return r, waits
}

// add adds what can be added of another row.
func (r *Row) add(x *Row) {
	r.Jobs += x.Jobs
	r.Done += x.Done
	r.Unfinished += x.Unfinished
	r.Refused += x.Refused
	r.Preemptions += x.Preemptions
	r.Evictions += x.Evictions
	r.Again += x.Again
	r.Cascades += x.Cascades
	r.Deepest = max(r.Deepest, x.Deepest)
	r.Failures += x.Failures
	r.Used += x.Used
	r.Useful += x.Useful
	r.Wasted += x.Wasted
}

// waits sets the waits: of a hundred jobs, fifty have waited at most so long as the median.
func (r *Row) waits(list []time.Duration) {
	if len(list) == 0 {
		return
	}
	slices.Sort(list)
	at := func(percent int) time.Duration { return list[(len(list)*percent+99)/100-1] }
	r.WaitP50, r.WaitP95, r.WaitMax = at(50), at(95), at(100)
}
