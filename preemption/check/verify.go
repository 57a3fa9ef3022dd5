package check

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/check/internal/verify"
	"github.com/preempt-go/preempt/preemption/check/internal/verifyquota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Rule names what an answer has to keep.
type Rule string

// The rules, in the order in which [Verify] tells of them.
const (
	RuleQuestion   = Rule(found.Question)   // the question itself can't be read
	RuleForm       = Rule(found.Form)       // the answer names what is not there, or lacks what its verdict needs
	RuleVerdict    = Rule(found.Verdict)    // the preemptor fits, waits or may not preempt, other than is said
	RuleFits       = Rule(found.Fits)       // it fits where it is nominated once the victims are gone
	RuleWhole      = Rule(found.Whole)      // units go whole, or what stays of an elastic one goes on and is the most that can
	RuleEligible   = Rule(found.Eligible)   // every victim may be evicted for it
	RuleMinimal    = Rule(found.Minimal)    // no victim can come back alone
	RuleReason     = Rule(found.Reason)     // the reason why it can't is true
	RuleViolations = Rule(found.Violations) // the count of budget violations
	RuleOverruns   = Rule(found.Overruns)   // how far the victims take budgets below zero
	RuleBounds     = Rule(found.Bounds)     // hard budgets and limits, and where victims move
	RuleCost       = Rule(found.Cost)       // prices
	RuleScore      = Rule(found.Score)      // the score, criterion by criterion
	RuleBudgets    = Rule(found.Budgets)    // the budgets that are listed
	RuleCleared    = Rule(found.Cleared)    // the nominations that are withdrawn
	RuleKept       = Rule(found.Kept)       // whom guards keep
	RuleCandidates = Rule(found.Candidates) // every domain where preemption helps, and no other
	RuleBest       = Rule(found.Best)       // no domain disrupts less than the one chosen
	RuleProof      = Rule(found.Proof)      // what is proved of the least disruption adds up
	RuleInfeasible = Rule(found.Infeasible) // it fits in no domain with everybody gone who may be evicted
	RuleExact      = Rule(found.Exact)      // what is called proved is so
	RuleNearest    = Rule(found.Nearest)    // what would have to change
	RuleQuota      = Rule(found.Quota)      // quota
	RuleHook       = Rule(found.Hook)       // a hook that panicked, so that the answer could not be read; see Problem.Err
)

// Problem is one thing that is not true of an answer. Kind, Namespace and Name are those
// of the object that it is about, empty where it is about the answer as a whole.
type Problem struct {
	Rule      Rule         `json:"rule"`
	Kind      cluster.Kind `json:"kind,omitempty"`
	Namespace string       `json:"namespace,omitempty"`
	Name      string       `json:"name,omitempty"`
	Text      string       `json:"text"` // a sentence

	Err error `json:"-"` // of RuleHook the [*preemption.HookError]; else nil
}

// String is the problem in words: the rule, the object, and what is not so.
func (p Problem) String() string {
	if p.Kind == "" {
		return fmt.Sprintf("%s: %s", p.Rule, p.Text)
	}
	return fmt.Sprintf("%s: %s %s/%s: %s", p.Rule, p.Kind, found.Short(p.Namespace), found.Short(p.Name), p.Text)
}

// Verify reads result, the answer for preemptor in snapshot under options, and returns
// what is not true of it, in a fixed order; nil if nothing is wrong. It changes none of
// its arguments and shares no code with the searches, so that one may be checked by the
// other. Where a hook panics, that is the only problem. A nil snapshot is an empty cluster; a nil result is a problem.
//
// An answer of PreemptAll about several pods is read as one about those that it names, whatever
// preemptor is, in the snapshot where the answers before it are carried out, and
// budgets charged.
//
// See the package's page for what is checked and what is not.
func Verify(snapshot *preemption.Snapshot, options preemption.Options, preemptor preemption.Preemptor, result *preemption.Result) (problems []Problem) {
	defer caught(&problems)
	if snapshot == nil {
		snapshot = &preemption.Snapshot{}
	}
	var l found.List
	switch {
	case result == nil:
		l.Add(found.Form, "there is no answer")
	case len(result.Preemptor.Gathered) > 0:
		verify.Together(&l, snapshot, options, result)
	case preemptor.Kind == cluster.KindWorkload || verify.Answer(&l, snapshot, options, &preemptor, result):
		verifyquota.Answer(&l, snapshot, options, &preemptor, result)
	}
	for _, p := range l.Sorted() {
		problems = append(problems, Problem{Rule: Rule(p.Rule), Kind: p.Kind, Namespace: p.Namespace, Name: p.Name, Text: p.Text})
	}
	return problems
}

// caught makes what a hook panicked with the only problem.
func caught(problems *[]Problem) {
	switch e := recover().(type) {
	case nil:
	case *preemption.HookError:
		*problems = []Problem{{Rule: RuleHook, Text: e.Error(), Err: e}}
	default:
		panic(e)
	}
}
