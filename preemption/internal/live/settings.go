package live

import (
	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

// Settings are what options say of a cluster and of questions about it. They never change.
type Settings struct {
	Pods, Groups Rule         // what a lone pod, and what a group meets
	Ask          ask.Settings // what is said to the searches

	// OfPod and OfGang are the constraints of every question of a lone pod or of a gang: the
	// built-in ones, then the user's.
	OfPod, OfGang []domain.Constraint

	Worth    victims.Worth    // beyond what the rules look at
	Guards   victims.Guards   // who may not go
	Eligible victims.Eligible // of preemptors without a queue
	Hard     HardBudgets
	Limits   Limits

	NoBasicAll bool  // mode All on a basic group is an error
	MaxLead    int32 // how far a preemption priority may lie above the priority; 0: no bound
	Strict     bool  // warnings are errors

	// Unranked is what Ask.Ranking is where nobody looks for the least disruption.
	Unranked victims.Ranking

	// Uncounted names the criteria that are asked for, and are 0 of what a workload evicts.
	Uncounted []string

	// Unheeded names the options that are set and do not bound what a workload evicts.
	Unheeded []string
}

// Rule is how units are formed and budgets charged for one kind of preemptor.
type Rule struct {
	Units   victims.UnitRule
	Budgets disruption.Rule
}
