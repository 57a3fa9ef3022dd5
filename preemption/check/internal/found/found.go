package found

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Rule names what an answer has to keep; package check documents each.
type Rule string

// The rules, in the order in which problems are told.
const (
	Question   Rule = "question"
	Form       Rule = "form"
	Verdict    Rule = "verdict"
	Fits       Rule = "fits"
	Whole      Rule = "whole"
	Eligible   Rule = "eligible"
	Minimal    Rule = "minimal"
	Reason     Rule = "reason"
	Violations Rule = "violations"
	Overruns   Rule = "overruns"
	Bounds     Rule = "bounds"
	Cost       Rule = "cost"
	Score      Rule = "score"
	Budgets    Rule = "budgets"
	Cleared    Rule = "cleared"
	Kept       Rule = "kept"
	Candidates Rule = "candidates"
	Best       Rule = "best"
	Proof      Rule = "proof"
	Infeasible Rule = "infeasible"
	Exact      Rule = "exact"
	Nearest    Rule = "nearest"
	Quota      Rule = "quota"
	Hook       Rule = "hook"
)

// Order lists the rules in the order in which problems are told.
var Order = []Rule{
	Question, Form, Verdict, Fits, Whole, Eligible, Minimal, Reason, Violations, Overruns, Bounds, Cost, Score,
	Budgets, Cleared, Kept, Candidates, Best, Proof, Infeasible, Exact, Nearest, Quota,
}

// Problem is one thing that is not so. Kind and names are those of the object that it
// is about, empty where it is about the answer as a whole.
type Problem struct {
	Rule            Rule
	Kind            cluster.Kind
	Namespace, Name string
	Text            string
}

// List collects problems. The zero List is empty.
type List struct{ problems []Problem }

// Add notes a problem with the answer as a whole.
func (l *List) Add(rule Rule, format string, args ...any) {
	l.About(rule, "", "", "", format, args...)
}

// About notes a problem with one object. Of the names and values in args the text has the beginning.
func (l *List) About(rule Rule, kind cluster.Kind, namespace, name string, format string, args ...any) {
	for i, arg := range args {
		args[i] = short(arg)
	}
	l.problems = append(l.problems, Problem{rule, kind, namespace, name, fmt.Sprintf(format, args...)})
}

const longest = 100 // bytes of a name or value

// Short is s as a text has it: what is longer than 100 bytes ends there, with how many bytes it has in all.
func Short(s string) string {
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + fmt.Sprintf("... (%d bytes)", len(s))
}

// short is arg with names and values in short, alone or in a list. What has a blank is a sentence, which may be longer.
func short(arg any) any {
	if p, is := arg.(preemption.PodRef); is {
		return preemption.PodRef{Namespace: Short(p.Namespace), Name: Short(p.Name)}
	}
	switch v := reflect.ValueOf(arg); v.Kind() {
	case reflect.String:
		if s := v.String(); len(s) > 8*longest || !strings.Contains(s, " ") {
			return Short(s)
		}
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = short(v.Index(i).Interface())
		}
		return list
	}
	return arg
}

// Relaxations notes what is wrong with a list of them, for a preemptor of that priority.
func (l *List) Relaxations(list []preemption.Relaxation, priority int32, isNode func(string) bool) {
	if len(list) == 0 {
		l.Add(Nearest, "nothing would have to change")
	}
	for i, x := range list {
		amount := x.Kind == preemption.RelaxResource || x.Kind == preemption.RelaxBudget || x.Kind == preemption.RelaxLimit || x.Kind == preemption.RelaxMinCount
		switch {
		case x.Node != "" && !isNode(x.Node):
			l.Add(Nearest, "there is no node %q", x.Node)
		case amount && x.Amount <= 0, !amount && x.Kind != preemption.RelaxPriority && x.Amount != 0:
			l.Add(Nearest, "%s %s by %d", x.Kind, x.Name, x.Amount)
		case x.Kind == preemption.RelaxPriority && x.Amount <= int64(priority):
			l.Add(Nearest, "the priority %d is none that is higher", x.Amount)
		case i > 0 && (list[i-1].Kind > x.Kind || list[i-1].Kind == x.Kind && list[i-1].Name > x.Name):
			l.Add(Nearest, "they are not in order of kind and name")
		}
	}
}

// Sorted returns the problems in order of rule, object and text, each once.
func (l *List) Sorted() []Problem {
	slices.SortFunc(l.problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Order, a.Rule), slices.Index(Order, b.Rule)),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Text, b.Text))
	})
	return slices.Compact(l.problems)
}
