package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// most is how many rows of a list that may be long are shown.
const most = 10

// report is an answer for people.
type report struct {
	question *question
	dump     *convert.Dump
	result   *preemption.Result
	explain  bool

	out bytes.Buffer
}

// writeTable writes the report to w.
func writeTable(w io.Writer, r *report) error {
	r.verdict()
	r.victims()
	r.others()
	r.rejected()
	r.nearest()
	r.trace()
	r.notes()
	_, err := w.Write(r.out.Bytes())
	return err
}

func (r *report) printf(format string, args ...any) { fmt.Fprintf(&r.out, format, args...) }

// table writes rows of cells that are separated by tabs.
func (r *report) table(header string, rows []string) {
	t := tabwriter.NewWriter(&r.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, header)
	for _, row := range rows {
		fmt.Fprintln(t, row)
	}
	_ = t.Flush() // to a buffer in memory
}

// verdict is one sentence, and what the preemptor asks for.
func (r *report) verdict() {
	result := r.result
	said := result.Message
	switch result.Verdict {
	case preemption.NotEligible:
		said = "may not preempt: " + said
	case preemption.Waiting:
		said = "waits: " + said
	case preemption.Infeasible:
		said = "does not fit: " + said
	}
	r.printf("%s %s.\n", r.question.title, said)
	if pod := r.question.pod; pod != nil {
		r.printf("It asks for %s%s.\n", amounts(pod.Requests), priorityOf(pod))
	}
	for _, p := range result.Cleared {
		r.printf("Pod %s loses its nomination to %s.\n", podName(p), result.Domain)
	}
}

// victims lists who has to go.
func (r *report) victims() {
	if r.result.Quota != nil {
		r.quota()
		return
	}
	if len(r.result.Victims) == 0 {
		return
	}
	var rows []string
	for _, v := range r.result.Victims {
		for i, p := range v.Pods {
			why, budgets := "as part of "+string(v.Kind)+" "+v.Name, ""
			if i == 0 {
				why, budgets = r.reason(v.Reason), r.budgets(&v)
			}
			rows = append(rows, strings.Join([]string{
				podName(p.PodRef), p.Node, fmt.Sprint(p.Priority), r.age(p.Started), why, budgets,
			}, "\t"))
		}
	}
	r.printf("\n")
	r.table("VICTIM\tNODE\tPRIORITY\tAGE\tWHY IT CANNOT STAY\tBUDGETS", rows)
}

func (r *report) budgets(v *preemption.Victim) string {
	list := strings.Join(v.Budgets, ",")
	switch {
	case list == "":
		return "-"
	case v.Violates:
		return list + " (violated)"
	}
	return list
}

// others lists the candidates that were not chosen, the best first.
func (r *report) others() {
	candidates := slices.DeleteFunc(slices.Clone(r.result.Candidates), func(c preemption.Candidate) bool { return c.Domain == r.result.Domain })
	if len(candidates) == 0 {
		return
	}
	slices.SortFunc(candidates, func(a, b preemption.Candidate) int {
		return cmp.Or(slices.CompareFunc(a.Score, b.Score, func(x, y preemption.Criterion) int { return cmp.Compare(x.Value, y.Value) }),
			strings.Compare(a.Domain, b.Domain))
	})
	var rows []string
	for _, c := range candidates[:min(most, len(candidates))] {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%d\t%s", c.Domain, few(podNames(c.Victims)), c.Violations, r.worse(c)))
	}
	r.printf("\n")
	r.table("OTHER NODE\tVICTIMS\tVIOLATIONS\tWHY IT IS NOT CHOSEN", rows)
	r.more(len(candidates))
}

// more says how many rows are not shown.
func (r *report) more(all int) {
	if all > most {
		r.printf("and %d more (-o json lists all)\n", all-most)
	}
}

// worse names the first criterion by which c loses.
func (r *report) worse(c preemption.Candidate) string {
	for i, s := range c.Score {
		best := r.result.Score[i]
		switch {
		case s.Value <= best.Value:
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
	r.printf("\n")
	r.table("NODES\tWHY PREEMPTION DOES NOT HELP THERE", rows)
	r.more(len(list))
}

// nearest says what would have to change.
func (r *report) nearest() {
	n := r.result.Nearest
	if n == nil {
		return
	}
	r.printf("\nThe least that would have to change, on %s:\n", n.Domain)
	for _, x := range n.Relaxations {
		r.printf("  - %s\n", relaxation(x))
	}
}

func relaxation(x preemption.Relaxation) string {
	switch x.Kind {
	case preemption.RelaxResource:
		return fmt.Sprintf("%s more of %s", amount(x.Name, x.Amount), x.Name)
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
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %d", x.Kind, x.Name, x.Amount))
}

// trace tells each decision.
func (r *report) trace() {
	if !r.explain {
		return
	}
	r.printf("\nHow it was decided:\n")
	for _, d := range r.result.Trace {
		r.printf("%s\n", d.Domain)
		for _, s := range d.Steps {
			r.printf("  %s\n", s.Text)
		}
	}
}

// notes says what about the input may matter and was not asked about.
func (r *report) notes() {
	var notes []string
	for _, field := range slices.Sorted(maps.Keys(r.dump.Unread)) {
		notes = append(notes, fmt.Sprintf("%s is not read (set in %d pods)", field, r.dump.Unread[field]))
	}
	warnings := r.result.Warnings
	for _, w := range warnings[:min(most, len(warnings))] {
		notes = append(notes, fmt.Sprintf("%s %s/%s: %s %s: %s", w.Kind, w.Namespace, w.Name, w.Field, w.Value, w.Text))
	}
	if len(warnings) > most {
		notes = append(notes, fmt.Sprintf("%d more warnings (-o json lists all)", len(warnings)-most))
	}
	if n := len(r.dump.Problems); n > 0 {
		notes = append(notes, fmt.Sprintf("%d objects could not be read and were left out", n))
	}
	if len(notes) == 0 {
		return
	}
	r.printf("\nNote:\n")
	for _, note := range notes {
		r.printf("  - %s\n", note)
	}
}

// reason is a reason with amounts as Kubernetes writes them.
func (r *report) reason(why preemption.Reason) string {
	if why.Resource != "" {
		return fmt.Sprintf("%s is short by %s", why.Resource, amount(why.Resource, why.Missing))
	}
	why.Node = ""
	return why.String()
}

// age is how long ago t was, as kubectl writes it.
func (r *report) age(t time.Time) string {
	now := r.dump.Snapshot.Time
	if t.IsZero() || now.IsZero() || t.After(now) {
		return "-"
	}
	return duration.HumanDuration(now.Sub(t))
}

// amounts lists what a pod asks for.
func amounts(r cluster.Resources) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if r[name] != 0 {
			parts = append(parts, name+" "+amount(name, r[name]))
		}
	}
	if len(parts) == 0 {
		return "nothing but a place"
	}
	return strings.Join(parts, ", ")
}

// amount writes n of a resource as Kubernetes does.
func amount(name string, n int64) string {
	switch {
	case name == cluster.CPU:
		return resource.NewMilliQuantity(n, resource.DecimalSI).String()
	case name == cluster.Memory, name == "ephemeral-storage", strings.HasPrefix(name, "hugepages-"):
		return resource.NewQuantity(n, resource.BinarySI).String()
	}
	return fmt.Sprint(n)
}

func priorityOf(p *cluster.Pod) string {
	switch {
	case p.Priority != nil:
		return fmt.Sprintf(" at priority %d", *p.Priority)
	case p.Class != "":
		return " at the priority of class " + p.Class
	}
	return ""
}

// few joins names, but not too many.
func few(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
