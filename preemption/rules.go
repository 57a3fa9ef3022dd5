package preemption

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/victims"
)

// generation is one generation of upstream rules as data: nothing else in this
// package asks which one is in force.
type generation struct {
	podUnits     victims.UnitRule // units when a single pod preempts
	podBudgets   disruption.Rule
	groupUnits   victims.UnitRule // units when a group preempts
	groupBudgets disruption.Rule

	affinity func() domain.Constraint
	ofPod    []domain.Constraint // made of it, for a lone pod
	ofGang   []domain.Constraint

	membersWait     bool    // a pod that belongs to a group does not preempt by itself
	groupPolicy     bool    // the group's own policy decides; otherwise Never of any pending member
	uniformMembers  bool    // members that differ from the group in priority or policy make it not eligible
	composites      bool    // composite groups may preempt, and do so for their child groups
	topology        bool    // groups with topology constraints may preempt
	waitsForVictims bool    // a group waits while victims on its nominated nodes terminate
	members         Members // how many members get room
	mobile          bool    // the gang may move while victims are given back
	repeatGroups    bool    // further passes of the reprieve for groups
	lowest          bool    // look for the lowest sufficient level of victims
	refuseBasicAll  bool    // mode All on a basic group is an error
}

var generations = map[Rules]generation{
	Kubernetes136: {
		podUnits: victims.Pods136, podBudgets: disruption.PodRule136,
		groupUnits: victims.Groups136, groupBudgets: disruption.GroupRule136,
		affinity: domain.InterPodAffinity136,
		members:  MinCount,
		mobile:   true,
	},
	Kubernetes137: {
		podUnits: victims.Units137, podBudgets: disruption.Rule137,
		groupUnits: victims.Units137, groupBudgets: disruption.Rule137,
		affinity:    domain.InterPodAffinity,
		membersWait: true, groupPolicy: true, uniformMembers: true, composites: true, topology: true, waitsForVictims: true,
		members:      AllThatFit,
		repeatGroups: true,
	},
	KEP5710Alpha: {
		podUnits: victims.UnitsKEP, podBudgets: disruption.Rule137,
		groupUnits: victims.UnitsKEP, groupBudgets: disruption.Rule137,
		affinity:    domain.InterPodAffinity,
		membersWait: true, groupPolicy: true, uniformMembers: true, composites: true, topology: true, waitsForVictims: true,
		members:        AllThatFit,
		repeatGroups:   true,
		lowest:         true,
		refuseBasicAll: true,
	},
}

// generation returns the rules that o, which is valid, chooses, with what o overrides.
func (o Options) generation() generation {
	g := generations[cmp.Or(o.Rules, Kubernetes137)]
	if o.Members != RulesDefault {
		g.members = o.Members
	}
	g.ofPod, g.ofGang = g.constraints(false), g.constraints(true)
	g.lowest = g.lowest || o.LowestLevel
	if o.PreemptionPriority.Apart {
		g.podUnits.PreemptionPriority, g.groupUnits.PreemptionPriority = true, true
	}
	return g
}

// repeat says whether reprieves make further passes.
func (o Options) repeat(byRules bool) bool {
	switch o.RepeatReprieve {
	case On:
		return true
	case Off:
		return false
	}
	return byRules
}

// OptionError says which option cannot be followed.
type OptionError struct {
	Field, Value, Want string
}

// Error names the option, its value and what was expected.
func (e *OptionError) Error() string {
	return fmt.Sprintf("preemption: Options.%s: %s is not %s", e.Field, e.Value, e.Want)
}

// optionProblems collects what cannot be followed.
type optionProblems []*OptionError

func (ps *optionProblems) bad(field, value, want string) {
	*ps = append(*ps, &OptionError{field, value, want})
}

// name complains about a value that is none of those that there are.
func (ps *optionProblems) name(field, value, want string) {
	ps.bad(field, fmt.Sprintf("%q", value), want)
}

// notNegative complains about a number below zero.
func (ps *optionProblems) notNegative(field string, value int64) {
	if value < 0 {
		ps.bad(field, fmt.Sprint(value), ">= 0")
	}
}

// validate checks o. The error joins an [*OptionError] for each problem, in order of
// the fields' names, and what is wrong with a selector.
func (o Options) validate() error {
	var ps optionProblems
	if _, ok := generations[o.Rules]; !ok && o.Rules != "" {
		ps.name("Rules", string(o.Rules), "Kubernetes137, Kubernetes136 or KEP5710Alpha")
	}
	switch o.Members {
	case RulesDefault, MinCount, AllThatFit:
	default:
		ps.name("Members", string(o.Members), "MinCount, AllThatFit or empty")
	}
	switch o.RepeatReprieve {
	case "", On, Off:
	default:
		ps.name("RepeatReprieve", string(o.RepeatReprieve), "on, off or empty")
	}
	switch o.Placement {
	case "", PlaceLeastDisruption, PlacePack, PlaceSpread:
	default:
		ps.name("Placement", string(o.Placement), "LeastDisruption, Pack, Spread or empty")
	}
	o.validateGuards(&ps)
	o.validateBounds(&ps)
	o.validateCost(&ps)
	if s := o.Sampling; s != nil {
		if s.Percent < 0 || s.Percent > 100 {
			ps.bad("Sampling.Percent", fmt.Sprint(s.Percent), "from 0 to 100")
		}
		ps.notNegative("Sampling.Minimum", int64(s.Minimum))
		if s.Percent == 0 && s.Minimum == 0 {
			ps.bad("Sampling.Minimum", "0", "> 0, as Sampling.Percent is 0")
		}
		ps.notNegative("Sampling.Offset", int64(s.Offset))
	}
	o.Quota.validate(&ps)
	o.Hooks.validate(&ps)
	slices.SortStableFunc(ps, func(a, b *OptionError) int { return cmp.Compare(a.Field, b.Field) })
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	_, err := o.Guards.Protect.Compile()
	return errors.Join(problems.Join(errs), err)
}
