package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// direct reports whether o is part of the question, and not what follows from it.
func direct(o *cascade.Outcome) bool { return o.Because == "" || o.Because == cascade.Drained }

func indirect(o *cascade.Outcome) bool { return !direct(o) }

// tally counts the pods of some outcomes by what becomes of them: "2 fit, 1 waits".
func tally(outcomes []cascade.Outcome, of func(*cascade.Outcome) bool) string {
	n := map[cascade.Status]int{}
	for i := range outcomes {
		if o := &outcomes[i]; of(o) {
			n[o.Status] += o.Pods
			if short := o.Pods - len(o.Places); o.Status == cascade.Fits || o.Status == cascade.Preempts {
				n[o.Status] -= short
				n[cascade.Waits] += short
			}
		}
	}
	var parts []string
	for _, s := range []struct {
		cascade.Status
		one, many string
	}{
		{cascade.Fits, "fits", "fit"},
		{cascade.Preempts, "fits once others are evicted", "fit once others are evicted"},
		{cascade.Waits, "waits", "wait"},
		{cascade.Stays, "stays", "stay"},
		{cascade.Held, "is held", "are held"},
		{cascade.Gone, "is gone", "are gone"},
		{cascade.NotAsked, "is not asked about", "are not asked about"},
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
func (r *report) outcomes(header string, all []cascade.Outcome, of func(*cascade.Outcome) bool) {
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
func becomes(o *cascade.Outcome) string {
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
	case cascade.Fits:
		return "fits " + where
	case cascade.Preempts:
		return "fits " + where + " once " + pods(len(podNames(o.Victims)), " is evicted", " are evicted")
	case cascade.Stays:
		return "stays: " + o.Why
	case cascade.Held:
		return "is held: " + o.Why
	case cascade.Gone:
		return "is gone: " + o.Why
	case cascade.NotAsked:
		return "is not asked about: " + o.Why
	}
	return "waits: " + o.Why
}
