package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// others lists the candidates that were not chosen, the best first.
func (r *report) others() {
	candidates := slices.DeleteFunc(slices.Clone(r.result.Candidates), func(c preemption.Candidate) bool { return c.Domain == r.result.Domain })
	switch {
	case len(candidates) == 0:
		return
	case r.result.Verdict == preemption.Fits:
		names := make([]string, len(candidates))
		for i, c := range candidates {
			names[i] = c.Domain
		}
		r.Printf("\nIt fits in %d more, too: %s\n", len(names), few(names))
		return
	}
	slices.SortFunc(candidates, func(a, b preemption.Candidate) int {
		return cmp.Or(slices.CompareFunc(a.Score, b.Score, func(x, y preemption.Criterion) int { return cmp.Compare(x.Value, y.Value) }),
			strings.Compare(a.Domain, b.Domain))
	})
	var rows []string
	for _, c := range candidates[:min(most, len(candidates))] {
		names := few(podNames(c.Victims))
		if n := unlisted(c.Victims); n > 0 {
			names += fmt.Sprintf(", and %d elsewhere", n)
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%d\t%s", c.Domain, names, c.Violations, r.worse(c)))
	}
	r.Printf("\n")
	header := "OTHER NODE"
	if r.question.kind() != cluster.KindPod {
		header = "OTHER DOMAIN"
	}
	r.Table(header+"\tVICTIMS\tVIOLATIONS\tWHY IT IS NOT CHOSEN", rows)
	r.more(len(candidates), most)
}

// more says how many rows are not shown.
func (r *report) more(all, shown int) {
	if all > shown {
		r.Printf("and %d more (-o json lists all)\n", all-shown)
	}
}

// worse names the first criterion by which c loses.
func (r *report) worse(c preemption.Candidate) string {
	for i, s := range c.Score[:min(len(c.Score), len(r.result.Score))] {
		best := r.result.Score[i]
		switch {
		case s.Value <= best.Value:
		case s.Name == "sum of priorities":
			return "its victims' priorities add up to more"
		case s.Name == "earliest start":
			return "its most important victims have run longer"
		default:
			return fmt.Sprintf("%s: %d, not %d", s.Name, s.Value, best.Value)
		}
	}
	return "as good; its name comes later"
}

// rejected counts the nodes on which preemption does not help.
func (r *report) rejected() {
	list := r.result.Rejected
	if len(list) == 0 {
		return
	}
	var rows []string
	for _, x := range list[:min(most, len(list))] {
		rows = append(rows, fmt.Sprintf("%d\t%s", x.Domains, x.Reason))
	}
	r.Printf("\n")
	r.Table(rejectedHeader(r.question.kind())+"\tWHY PREEMPTION DOES NOT HELP THERE", rows)
	r.more(len(list), most)
}

func rejectedHeader(kind cluster.Kind) string {
	if kind == cluster.KindPod {
		return "NODES"
	}
	return "DOMAINS"
}

// nearest says what would have to change.
func (r *report) nearest() {
	n := r.result.Nearest
	if n == nil {
		return
	}
	what := "The least that would have to change"
	if n.Unproved {
		what = "What would have to change, and less may do"
	}
	r.Printf("\n%s, on %s:\n", what, n.Domain)
	for _, x := range n.Relaxations {
		r.Printf("  - %s\n", relaxation(x))
	}
}

func relaxation(x preemption.Relaxation) string {
	switch x.Kind {
	case preemption.RelaxResource:
		return fmt.Sprintf("%s: %s more", x.Name, amount(x.Name, x.Amount))
	case preemption.RelaxTaint:
		return "the taint " + x.Name + " gone, or tolerated"
	case preemption.RelaxCordon:
		return "the node uncordoned"
	case preemption.RelaxSelector:
		return "node selector and required node affinity dropped"
	case preemption.RelaxNodeName:
		return "the required node dropped"
	case preemption.RelaxPort:
		return "the host port " + x.Name + " dropped"
	case preemption.RelaxPriority:
		return fmt.Sprintf("a priority of at least %d", x.Amount)
	case preemption.RelaxBudget:
		return fmt.Sprintf("%d more disruptions allowed by budget %s", x.Amount, x.Name)
	case preemption.RelaxMinCount:
		return fmt.Sprintf("a minCount lower by %d", x.Amount)
	case preemption.RelaxLimit:
		return fmt.Sprintf("%d more by the limit of %s", x.Amount, x.Name)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %d", x.Kind, x.Name, x.Amount))
}

// unplaced lists the members of a gang that find no node where most of it would.
func (r *report) unplaced() {
	if len(r.result.Unplaced) == 0 {
		return
	}
	var rows []string
	for _, u := range r.result.Unplaced {
		names := make([]string, len(u.Pods))
		for i, p := range u.Pods {
			names[i] = podName(p)
		}
		why := make([]string, len(u.Rejected))
		for i, n := range u.Rejected {
			why[i] = fmt.Sprintf("%s on %d", n.Reason, n.Domains)
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s", few(names), u.Domain, strings.Join(why, ", ")))
	}
	r.Printf("\n")
	r.Table("WITHOUT A PLACE\tIN\tWHY, ON HOW MANY NODES", rows)
}
