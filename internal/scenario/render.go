package scenario

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// render writes an answer: a line for each domain that was looked at, one for each
// warning, and the verdict.
func render(b *strings.Builder, s *Scenario, q Question, r *preemption.Result) {
	for _, t := range r.Trace {
		fmt.Fprintf(b, "%s: %s\n", t.Domain, strings.Join(domainLine(q, t, r), "; "))
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(b, "warning: %s %s: %s %s: %s\n", w.Kind, short(w.Namespace, w.Name), w.Field, w.Value, w.Text)
	}
	fmt.Fprintln(b, strings.Join(verdictLine(q, r), "; "))
}

func preemptorName(q Question) string {
	if q.Preemptor.Name != "" {
		return q.Preemptor.Name
	}
	return q.Preemptor.Pods[0].Name
}

// domainLine is what happened in a domain: who could go, where the preemptor went,
// who came back, who didn't and why, and how the domain scored if there are others
// to compare it with.
func domainLine(q Question, t preemption.DomainTrace, r *preemption.Result) []string {
	var parts, potential []string
	placed, emptied := q.Preemptor.Kind != cluster.KindPod, false // a group's places are steps of their own
	for _, st := range t.Steps {
		if st.Action != answer.ActionPotential && len(potential) > 0 {
			parts = append(parts, "potential "+strings.Join(potential, " "))
			potential = nil
		}
		switch st.Action {
		case answer.ActionPotential:
			emptied = true
			potential = append(potential, unqualified(strings.TrimPrefix(st.Text, "potential ")))
		case answer.ActionKeep, answer.ActionFree:
			parts = append(parts, unqualified(st.Text))
		case answer.ActionPlace:
			parts, placed = append(parts, unqualified(st.Text)), true
		case answer.ActionReturn, answer.ActionKeepOut:
			if !placed { // one pod in a domain of one node
				parts, placed = append(parts, "place "+preemptorName(q)), true
			}
			parts = append(parts, reprieve(st, t.Domain))
		case answer.ActionReject:
			parts = append(parts, rejected(st, t.Domain, emptied))
		case answer.ActionReturnPart:
			parts = append(parts, unqualified(st.Text))
		case answer.ActionLevel:
			parts = append(parts, unqualified(st.Text))
		}
	}
	for _, c := range r.Candidates {
		if c.Domain == t.Domain && len(r.Candidates) > 1 {
			parts = append(parts, "score "+score(c.Score))
		}
	}
	return parts
}

func reprieve(st preemption.Step, domain string) string {
	what := "reprieve " + unqualified(st.Unit)
	if st.Violates {
		what = "reprieve violating " + unqualified(st.Unit)
	}
	if st.Reason == nil {
		return what + " yes"
	}
	return fmt.Sprintf("%s no (%s)", what, reason(*st.Reason, domain))
}

func rejected(st preemption.Step, domain string, emptied bool) string {
	if st.Reason == nil {
		return "no (" + unqualified(st.Text) + ")"
	}
	why := reason(*st.Reason, domain)
	switch {
	case st.Reason.Unresolvable:
		return "no, whatever is evicted (" + why + ")"
	case emptied:
		return "no, with all of them gone (" + why + ")"
	}
	return "no (" + why + ")"
}

// reason names the check that fails, and the node where it is not the domain.
func reason(r preemption.Reason, name string) string {
	text := string(r.Check)
	switch {
	case r.Check == domain.CheckResource:
		text = fmt.Sprintf("%s %s short", r.Resource, quantity(r.Resource, r.Missing))
	case r.Check == domain.CheckSlots:
		text = fmt.Sprintf("slots %d short", r.Missing)
	case r.Check == "no potential victims" && r.Detail != "":
		text = r.Detail
	case r.Detail != "":
		text += " " + r.Detail
	}
	if r.Node != "" && r.Node != name {
		text = r.Node + " " + text
	}
	return text
}

// verdictLine says what is to be done, or why nothing is.
func verdictLine(q Question, r *preemption.Result) []string {
	switch r.Verdict {
	case preemption.Feasible:
		return feasible(q, r)
	case preemption.Fits:
		return append([]string{"fits on " + r.Domain}, places(q, r)...)
	case preemption.Infeasible:
		parts := []string{"infeasible"}
		if !r.Stats.Exact {
			parts = []string{"infeasible, not proved"}
		}
		if len(r.Rejected) == 0 {
			parts = append(parts, r.Message)
		}
		for _, x := range r.Rejected {
			parts = append(parts, fmt.Sprintf("%dx %s", x.Domains, x.Reason))
		}
		if r.Nearest != nil {
			doubt := ""
			if r.Nearest.Unproved {
				doubt = " or less"
			}
			parts = append(parts, "nearest "+r.Nearest.Domain+" with "+strings.Join(relaxations(r.Nearest), ", ")+doubt)
		}
		return parts
	}
	return append([]string{string(r.Verdict), unqualified(r.Message)}, places(q, r)...)
}

// places says where the members of a group go.
func places(q Question, r *preemption.Result) []string {
	if q.Preemptor.Kind == cluster.KindPod || len(r.Nominations) == 0 {
		return nil
	}
	return []string{"at " + nominations(r.Nominations)}
}

// nominations says which pod goes where.
func nominations(list []preemption.Nomination) string {
	var names []string
	for _, n := range list {
		names = append(names, short(n.Pod.Namespace, n.Pod.Name)+"@"+n.Node)
	}
	return strings.Join(names, " ")
}

func feasible(q Question, r *preemption.Result) []string {
	parts := append([]string{"feasible on " + r.Domain}, places(q, r)...)
	parts = append(parts, "victims "+victims(r.Victims), fmt.Sprintf("violations %d", r.Violations))
	if len(r.Moves) > 0 {
		parts = append(parts, "moves "+nominations(r.Moves))
	}
	if r.Overruns > 0 {
		parts = append(parts, fmt.Sprintf("overruns %d", r.Overruns))
	}
	if r.Cost > 0 {
		parts = append(parts, fmt.Sprintf("cost %d", r.Cost))
	}
	var ties []string
	for _, c := range r.Candidates {
		if c.Best && c.Domain != r.Domain {
			ties = append(ties, c.Domain)
		}
	}
	if len(ties) > 0 {
		parts = append(parts, "as good "+strings.Join(ties, " "))
	}
	if len(r.Cleared) > 0 {
		var names []string
		for _, p := range r.Cleared {
			names = append(names, short(p.Namespace, p.Name))
		}
		parts = append(parts, "clears "+strings.Join(names, " "))
	}
	return parts
}

// victims lists units in order; those of several pods with their pods.
func victims(list []preemption.Victim) string {
	var names []string
	for _, v := range list {
		name := short(v.Namespace, v.Name)
		if v.Kind != cluster.KindPod {
			var pods []string
			for _, p := range v.Pods {
				pods = append(pods, short(p.Namespace, p.Name))
			}
			if v.Surplus {
				name += " surplus"
			}
			name += "(" + strings.Join(pods, " ") + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func relaxations(n *preemption.Nearest) []string {
	var out []string
	for _, x := range n.Relaxations {
		text := string(x.Kind)
		switch x.Kind {
		case preemption.RelaxResource:
			text = quantity(x.Name, x.Amount) + " more " + x.Name
		case preemption.RelaxPriority:
			text = fmt.Sprintf("priority %d", x.Amount)
		case preemption.RelaxBudget:
			text = fmt.Sprintf("%d more allowed by %s", x.Amount, unqualified(x.Name))
		case preemption.RelaxMinCount:
			text = fmt.Sprintf("%d fewer", x.Amount)
		case preemption.RelaxLimit:
			text = fmt.Sprintf("%d more by the limit of %s", x.Amount, x.Name)
		default:
			text = "no " + text
			if x.Name != "" {
				text += " " + x.Name
			}
		}
		out = append(out, text)
	}
	return out
}

// score writes the numbers in the order of comparison: violations, highest
// priority, sum of priorities (each raised by 2^31: the raises are counted apart),
// pods, and the time of the earliest start.
func score(list []preemption.Criterion) string {
	var out []string
	for _, c := range list {
		switch c.Name {
		case "sum of priorities":
			const raise = 1 << 31
			times := (c.Value + raise/2) / raise
			out = append(out, fmt.Sprintf("sum %d+%dx2^31", c.Value-times*raise, times))
		case "earliest start":
			at := time.Unix(0, -c.Value).UTC()
			switch {
			case c.Value == -math.MaxInt64:
				out = append(out, "start unknown")
			case at.Truncate(24 * time.Hour).Equal(morning.Truncate(24 * time.Hour)):
				out = append(out, "start "+at.Format("15:04:05"))
			default:
				out = append(out, "start "+at.Format(time.RFC3339))
			}
		case "highest priority":
			out = append(out, fmt.Sprintf("highest %d", c.Value))
		default:
			out = append(out, fmt.Sprintf("%s %d", c.Name, c.Value))
		}
	}
	return strings.Join(out, ", ")
}

// quantity writes an amount as the question would.
func quantity(resource string, v int64) string {
	if resource == cluster.CPU {
		if v%1000 == 0 {
			return fmt.Sprint(v / 1000)
		}
		return fmt.Sprintf("%dm", v)
	}
	if resource == cluster.Memory || resource == "ephemeral-storage" {
		for _, s := range suffixes {
			if v != 0 && v%s.factor == 0 {
				return fmt.Sprintf("%d%s", v/s.factor, s.suffix)
			}
		}
	}
	return fmt.Sprint(v)
}

func short(namespace, name string) string {
	if namespace == "" || namespace == "default" {
		return name
	}
	return namespace + "/" + name
}

// unqualified is text without the default namespace before names.
func unqualified(text string) string { return strings.ReplaceAll(text, "default/", "") }
