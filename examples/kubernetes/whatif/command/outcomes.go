package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/examples/kubernetes/whatif/course"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// direct reports whether o is part of the question, and not what follows from it.
func direct(o *course.Outcome) bool { return o.Because == "" || o.Because == course.Drained }

func indirect(o *course.Outcome) bool { return !direct(o) }

// tally counts the pods of some outcomes by what becomes of them: "2 fit, 1 waits".
func tally(outcomes []course.Outcome, of func(*course.Outcome) bool) string {
	n := map[course.Status]int{}
	for i := range outcomes {
		if o := &outcomes[i]; of(o) {
			n[o.Status] += o.Pods
			if short := o.Pods - len(o.Places); o.Status == course.Fits || o.Status == course.Preempts {
				n[o.Status] -= short
				n[course.Waits] += short
			}
		}
	}
	var parts []string
	for _, s := range []struct {
		course.Status
		one, many string
	}{
		{course.Fits, "fits", "fit"},
		{course.Preempts, "fits once others are evicted", "fit once others are evicted"},
		{course.Waits, "waits", "wait"},
		{course.Stays, "stays", "stay"},
		{course.Held, "is held", "are held"},
		{course.Gone, "is gone", "are gone"},
	} {
		switch count := n[s.Status]; count {
		case 0:
		case 1:
			parts = append(parts, "1 "+s.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", count, s.many))
		}
	}
	return strings.Join(parts, ", ")
}

// pods is a number of pods and a verb.
func pods(n int, one, many string) string {
	if n == 1 {
		return "1 pod" + one
	}
	return fmt.Sprintf("%d pods%s", n, many)
}

// outcomes lists some of what became of whom.
func (r *report) outcomes(header string, all []course.Outcome, of func(*course.Outcome) bool) {
	var rows []string
	for i := range all {
		if o := &all[i]; of(o) {
			cells := []string{o.Who()}
			if o.Kind != cluster.KindPod {
				cells[0] += fmt.Sprintf(" (%s)", pods(o.Pods, "", ""))
			}
			if header == "EVICTED" {
				cells = append(cells, o.Because)
			}
			rows = append(rows, strings.Join(append(cells, fmt.Sprint(o.Priority), becomes(o), few(podNames(o.Victims))), "\t"))
		}
	}
	if len(rows) == 0 {
		return
	}
	r.Printf("\n")
	if header == "EVICTED" {
		header += "\tBY"
	}
	r.Table(header+"\tPRIORITY\tWHAT BECOMES OF IT\tEVICTS", rows[:min(mostOutcomes, len(rows))])
	r.more(len(rows), mostOutcomes)
}

// mostOutcomes is how many rows of a list of outcomes are shown.
const mostOutcomes = 50

// becomes is what becomes of somebody, in words.
func becomes(o *course.Outcome) string {
	var nodes []string
	for _, n := range o.Places {
		nodes = append(nodes, n.Node)
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	where := "on " + few(nodes)
	if short := o.Pods - len(o.Places); len(o.Places) > 0 && short > 0 {
		where += ", but for " + pods(short, "", "")
	}
	switch o.Status {
	case course.Fits:
		return "fits " + where
	case course.Preempts:
		return "fits " + where + " once " + pods(len(podNames(o.Victims)), " is evicted", " are evicted")
	case course.Stays:
		return "stays: " + o.Why
	case course.Held:
		return "is held: " + o.Why
	case course.Gone:
		return "is gone: " + o.Why
	}
	return "waits: " + o.Why
}
