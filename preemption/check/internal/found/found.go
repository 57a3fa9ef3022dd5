package found

import (
	"cmp"
	"fmt"
	"slices"

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

// About notes a problem with one object.
func (l *List) About(rule Rule, kind cluster.Kind, namespace, name string, format string, args ...any) {
	l.problems = append(l.problems, Problem{rule, kind, namespace, name, fmt.Sprintf(format, args...)})
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
