package preemption

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/victims"
)

// QuotaOptions choose how workloads preempt each other for quota. The zero value
// is Kueue's classical preemption. Guards, hard budgets, limits and costs of
// [Options] are about pods: they do not bound what a [Workload] evicts, and the result
// warns of those that are set.
//
// Kueue's own pass goes by the order of victims, not by their sizes, and stays the default. With
// Options.Search those workloads go whose going disrupts least by Options.Objective, of all sets
// that the rules of the queue let go in some order: in its own queue by its policy; in others as
// long as they, and the cohorts around them, borrow; whether the preemptor may borrow or
// not as in any of the attempts of that pass. It begins with the victims of that pass, which stay where nothing is
// better, and finds some where that pass finds none. Flavors, and for how many pods, are the
// queue's to choose, as without a search. Exact proves it, as far as Options.SearchSteps
// go; Improved looks around the bound. Under fair sharing, of pods and groups that need a
// place, too, and with Hooks.Compare, either search spares one victim after the other, of workloads the small ones first, and lets the
// same rules choose among the rest: what it finds is no worse, and not proved.
//
// To an objective a workload counts with its priority, boost included, as one pod, or as its pods where these
// are known, since it has held its quota; what its pods and its work since then cost by
// Cost.Tariff; and not at all where it has been told to stop already. Criteria about nodes and budgets
// are 0 of it, and the result warns of those that are named.
type QuotaOptions struct {
	// FairSharing lets shares decide whose workloads go. nil: priorities and
	// nominal quota do.
	FairSharing *FairSharing `json:"fairSharing,omitempty"`

	// KueueFloat computes shares in float64, in Kueue's order of operations; they
	// are exact fractions otherwise. It matters where two shares are equal, or
	// differ by less than a float64 can hold.
	KueueFloat bool `json:"kueueFloat,omitempty"`
}

// FairSharing says how shares decide.
type FairSharing struct {
	// Strategies are one or two different ones: the second is for workloads that the
	// first spared. None: LessThanOrEqualToFinalShare, then LessThanInitialShare.
	Strategies []FairStrategy `json:"strategies,omitempty"`
}

// FairStrategy compares the share P that the preemptor's side will have with the
// share that the other side has now, O, or will have, N.
type FairStrategy string

// The strategies of fair sharing.
const (
	LessThanOrEqualToFinalShare FairStrategy = "LessThanOrEqualToFinalShare" // P <= N
	LessThanInitialShare        FairStrategy = "LessThanInitialShare"        // P < O
)

// rules are the options as the room of workloads heeds them.
func (o QuotaOptions) rules() workload.Rules {
	r := workload.Rules{Precision: quota.Exact}
	if o.KueueFloat {
		r.Precision = quota.KueueFloat
	}
	if o.FairSharing != nil {
		r.Fair, r.Strategies = true, quotasearch.Strategies(o.FairSharing.Strategies)
	}
	return r
}

// beyondWorkloads names the options that are set, and are about pods.
func (o Options) beyondWorkloads() (names []string) {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"Cost", o.priced() && !(o.effort() != ask.Greedy && slices.Contains(o.ranking(), victims.CriterionCost))},
		{"Guards", o.Guards != (Guards{})},
		{"HardBudgets", o.HardBudgets.All || len(o.HardBudgets.Names) > 0},
		{"Limits", o.Limits != (Limits{})},
		{"NoCascade", o.NoCascade},
		{"PreferMovable", o.PreferMovable},
		{"WaitSeconds", o.WaitSeconds > 0},
	} {
		if f.set {
			names = append(names, f.name)
		}
	}
	return names
}

// uncounted names the criteria that workloads know nothing of, where they are asked for.
func (o Options) uncounted() (names []string) {
	if o.effort() == ask.Greedy {
		return nil
	}
	for _, c := range o.Objective {
		pods := []CriterionName{CriterionViolations, CriterionOverruns, CriterionStranded, CriterionCascade}
		if c.InUse() || slices.Contains(pods, c) {
			names = append(names, string(c))
		}
	}
	return names
}

func (o QuotaOptions) validate(ps *optionProblems) {
	if o.FairSharing == nil {
		return
	}
	for i, s := range o.FairSharing.Strategies {
		field := fmt.Sprintf("Quota.FairSharing.Strategies[%d]", i)
		switch s {
		case LessThanOrEqualToFinalShare, LessThanInitialShare:
		default:
			ps.name(field, string(s), "LessThanOrEqualToFinalShare or LessThanInitialShare")
			continue
		}
		if i > 0 && (i > 1 || s != LessThanInitialShare || o.FairSharing.Strategies[0] == s) {
			ps.name(field, string(s), "absent: the second of two may be LessThanInitialShare only")
		}
	}
}

// QuotaReason says on what ground a workload is evicted; see [victims.QuotaReason].
type QuotaReason = victims.QuotaReason

// The grounds.
const (
	InClusterQueue                = victims.InClusterQueue
	InCohortReclamation           = victims.InCohortReclamation
	InCohortFairSharing           = victims.InCohortFairSharing
	InCohortReclaimWhileBorrowing = victims.InCohortReclaimWhileBorrowing
)
