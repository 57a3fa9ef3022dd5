package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/answer"
)

// trace tells each decision, of the chosen domain first, then of those where preemption helps, then
// of the others, as far as the limit of lines goes.
func (r *report) trace() {
	if !r.explain {
		return
	}
	if len(r.result.Trace) == 0 {
		r.Printf("\nIt was decided without looking at any victim.\n")
		return
	}
	list := slices.Clone(r.result.Trace)
	slices.SortStableFunc(list, func(a, b preemption.DomainTrace) int {
		return cmp.Compare(r.place(&a), r.place(&b))
	})
	r.Printf("\nHow it was decided:\n")
	left := r.limit
	for i, d := range list {
		if r.limit > 0 && left < 2 {
			r.Printf("and %s (-explain-limit 0 tells all)\n", unsaid(list[i:]))
			return
		}
		left -= 1 + len(d.Steps)
		var leaves []string
		for _, s := range d.Steps {
			leaves = append(leaves, s.Text)
		}
		more := ""
		if r.limit > 0 && left < 0 {
			leaves = leaves[:len(leaves)+left]
			more = fmt.Sprintf("and %d more steps (-explain-limit 0 tells all)", -left)
		}
		r.Tree(d.Domain, leaves, more)
	}
}

// place is where a domain comes among those that are told of.
func (r *report) place(d *preemption.DomainTrace) int {
	switch {
	case d.Domain == r.result.Domain:
		return 0
	case slices.ContainsFunc(d.Steps, func(s preemption.Step) bool { return s.Action == answer.ActionScore }):
		return 1
	}
	return 2
}

// unsaid counts domains that are not told of, and those among them that helped.
func unsaid(list []preemption.DomainTrace) string {
	help := 0
	for i := range list {
		if (&report{result: &preemption.Result{}}).place(&list[i]) == 1 {
			help++
		}
	}
	text := fmt.Sprintf("%d more domains", len(list))
	if help > 0 {
		text += fmt.Sprintf(", %d of which help", help)
	}
	return strings.TrimSpace(text)
}
