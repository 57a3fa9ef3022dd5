package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/examples/kubernetes/whatif/sheet"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// How many rows of a list that may be long are shown.
const (
	most     = 10
	mostPods = 20 // of one group
)

// report is an answer for people.
type report struct {
	question *question
	dump     *convert.Dump
	result   *preemption.Result
	explain  bool
	whyNot   []whyNot
	willRun  *WillRun // nil: nobody asked
	problems []string // nil: nobody looked

	limit int // of lines of the trace; 0: none

	sheet.Sheet
	classes func(*cluster.Pod) int32 // priorities of the dump, when first needed
}

// tell tells an answer: to machines all of it, to people what write writes to r.
func (c *config) tell(w io.Writer, answer any, r *report, write func()) error {
	switch c.output {
	case "json":
		return writeIndented(w, answer)
	case "yaml":
		return writeYAML(w, answer)
	}
	if r.Width = c.width; c.output == "markdown" {
		r.Form = sheet.Markdown
	}
	if c.sample {
		r.Printf("%s\n\n", sampleNote)
	}
	write()
	_, err := w.Write(r.Bytes())
	return err
}

// answer writes all about one question.
func (r *report) answer() {
	r.verdict()
	r.nominations()
	r.victims()
	r.places("MOVES\tTO", r.result.Moves)
	r.kept()
	r.others()
	r.rejected()
	r.unplaced()
	r.nearest()
	r.waiting()
	r.whyNots()
	r.trace()
	r.notes()
	r.verified()
}

// verdict is one sentence, and what the preemptor asks for.
func (r *report) verdict() {
	result := r.result
	said := " " + result.Message
	switch {
	case result.Verdict == preemption.NotEligible:
		said = " may not preempt: " + result.Message
	case result.Verdict == preemption.Waiting:
		said = " waits: " + result.Message
	case result.Verdict == preemption.Infeasible:
		said = " does not fit: " + result.Message
	case r.question.kind() != cluster.KindPod:
		said = ": " + result.Message
	}
	r.Printf("%s%s.\n", r.question.title, said)
	if pod := r.question.pod; pod != nil {
		it := "It asks"
		if r.question.kind() != cluster.KindPod {
			it = "Each pod of it asks"
		}
		r.Printf("%s for %s%s.\n", it, amounts(pod.Requests), priorityOf(pod))
	}
	if r.question.kind() == cluster.KindPod && (result.Verdict == preemption.Fits || result.Verdict == preemption.Infeasible) {
		r.Printf("%s\n", r.below())
	}
	for _, p := range result.Cleared {
		r.Printf("Pod %s loses its nomination.\n", podName(p))
	}
}

// below says how many pods a lone pod could evict at all.
func (r *report) below() string {
	n := 0
	level := r.priority(r.question.pod)
	for i := range r.dump.Snapshot.Pods {
		if p := &r.dump.Snapshot.Pods[i]; p.Node != "" && r.priority(p) < level {
			n++
		}
	}
	switch n {
	case 0:
		return "There is nobody below it: whatever happens, it can evict no one."
	case 1:
		return "1 running pod is below its priority."
	}
	return fmt.Sprintf("%d running pods are below its priority.", n)
}

// priority is the pod's own, 0 if it cannot be resolved.
func (r *report) priority(p *cluster.Pod) int32 {
	if r.classes == nil {
		r.classes = levels(&r.dump.Snapshot)
	}
	return r.classes(p)
}

// levels resolves the priorities of the pods of s, to 0 what cannot be resolved: of that the
// answers complain, if at all.
func levels(s *cluster.Snapshot) func(*cluster.Pod) int32 {
	classes, _ := priority.NewClasses(s.PriorityClasses)
	return func(p *cluster.Pod) int32 {
		e, _ := classes.Resolve(priority.Spec{Class: p.Class, Priority: p.Priority, Policy: p.Policy})
		return e.Priority
	}
}

// nominations lists where the members of a group go.
func (r *report) nominations() {
	if r.question.kind() != cluster.KindPod {
		r.places("MEMBER\tGOES TO", r.result.Nominations)
	}
}

// places lists which pod goes where.
func (r *report) places(head string, list []preemption.Nomination) {
	if len(list) == 0 {
		return
	}
	var rows []string
	for _, n := range list[:min(mostPods, len(list))] {
		rows = append(rows, podName(n.Pod)+"\t"+n.Node)
	}
	r.Printf("\n")
	r.Table(head, rows)
	r.more(len(list), mostPods)
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
	row := func(cells ...string) { rows = append(rows, strings.Join(cells, "\t")) }
	for i := range r.result.Victims {
		v := &r.result.Victims[i]
		if v.Kind == cluster.KindPod && len(v.Pods) == 1 {
			p := &v.Pods[0]
			row(podName(p.PodRef), p.Node, fmt.Sprint(p.Priority), r.age(p.Started), r.reason(v.Reason), budgets(v))
			continue
		}
		whole := fmt.Sprintf("%s %s/%s, all %d pods", v.Kind, v.Namespace, v.Name, len(v.Pods))
		if v.Surplus {
			whole = fmt.Sprintf("%s %s/%s, %d pods that it can do without", v.Kind, v.Namespace, v.Name, len(v.Pods))
		}
		row(whole, "", fmt.Sprint(v.Priority), "", r.reason(v.Reason), budgets(v))
		for _, p := range v.Pods[:min(mostPods, len(v.Pods))] {
			row("  "+podName(p.PodRef), p.Node, fmt.Sprint(p.Priority), r.age(p.Started), "", "")
		}
		if n := len(v.Pods) - mostPods; n > 0 {
			row(fmt.Sprintf("  and %d more", n), "", "", "", "", "")
		}
	}
	r.Printf("\n")
	r.Table("VICTIM\tNODE\tPRIORITY\tAGE\tWHY IT CANNOT STAY\tBUDGETS", rows)
	r.bound()
}

// bound says how far the victims may be from the least, where that was looked for.
func (r *report) bound() {
	r.proof()
	if r.result.Optimal {
		where := "on any node"
		if r.result.Quota != nil {
			where = "of those that its queue allows"
		}
		r.Printf("\nNo evictions disrupt less, %s: that is proved.\n", where)
		return
	}
	for i, least := range r.result.Bound {
		if have := r.result.Score[i]; have != least {
			r.Printf("\nPerhaps less would do: any evictions have %s of at least %d, these have %d.\n", least.Name, least.Value, have.Value)
			return
		}
	}
	if len(r.result.Bound) > 0 {
		r.Printf("\nNothing less is possible as far as %s goes.\n", r.result.Bound[len(r.result.Bound)-1].Name)
	}
}

// proof says how far it is shown in numbers that nothing less will do.
func (r *report) proof() {
	p := r.result.Proof
	if p == nil || len(p.Bound) == 0 {
		return
	}
	last, by := len(p.Bound)-1, "node by node"
	if r.result.Preemptor.Kind == preemption.KindWorkload {
		by = "attempt by attempt of its queue"
	}
	least, have := p.Bound[last], r.result.Score[last]
	switch {
	case least != have:
		r.Printf("\nShown in numbers, %s (-o json): any evictions have %s of at least %d, these have %d.\n", by, least.Name, least.Value, have.Value)
	case last+1 < len(r.result.Score):
		r.Printf("\nShown in numbers, %s (-o json): nothing less is possible as far as %s goes.\n", by, least.Name)
	default:
		r.Printf("\nShown in numbers, %s (-o json): no evictions disrupt less.\n", by)
	}
}

// budgets lists what a victim charges.
func budgets(v *preemption.Victim) string {
	list := strings.Join(v.Budgets, ",")
	switch {
	case list == "":
		return "-"
	case v.Violates:
		return list + " (violated)"
	}
	return list
}

// kept lists who stays although it is less important, and why.
func (r *report) kept() {
	list := r.result.Kept
	if len(list) == 0 {
		return
	}
	var rows []string
	for _, k := range list[:min(most, len(list))] {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%d\t%s", podName(preemption.PodRef{Namespace: k.Namespace, Name: k.Name}), k.Node, k.Priority, k.Text))
	}
	r.Printf("\n")
	r.Table("KEPT\tNODE\tPRIORITY\tWHY IT MAY NOT BE EVICTED", rows)
	r.more(len(list), most)
}

// whyNots answers about what the user has in mind.
func (r *report) whyNots() {
	for i, w := range r.whyNot {
		if i == 0 {
			r.Printf("\n")
		}
		r.Printf("Why not %s: %s.\n", w.Target, strings.TrimSuffix(w.Why.Text, "."))
	}
}

// notes says what about the input may matter and was not asked about.
func (r *report) notes() {
	notes := clusterNotes(r.dump, most)
	warnings := r.result.Warnings
	for _, w := range warnings[:min(most, len(warnings))] {
		notes = append(notes, fmt.Sprintf("%s %s/%s: %s %s: %s", w.Kind, w.Namespace, w.Name, w.Field, w.Value, w.Text))
	}
	if len(warnings) > most {
		notes = append(notes, fmt.Sprintf("%d more warnings (-o json lists all)", len(warnings)-most))
	}
	r.listed(notes)
}

// listed writes notes, if there are any.
func (r *report) listed(notes []string) {
	if len(notes) == 0 {
		return
	}
	r.Printf("\nNote:\n")
	for _, note := range notes {
		r.Printf("  - %s\n", note)
	}
}

// verified says what is not true of the answer, or that all of it is.
func (r *report) verified() {
	if r.problems == nil {
		return
	}
	if len(r.problems) == 0 {
		r.Printf("\nVerified: nothing is wrong with this answer.\n")
		return
	}
	r.Printf("\nNot true of this answer:\n")
	for _, problem := range r.problems {
		r.Printf("  - %s\n", problem)
	}
}
