package preemption

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/preemption/internal/ask"
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

	says           ask.Settings // what they say to the searches
	members        Members      // how many members get room
	repeatGroups   bool         // further passes of the reprieve for groups
	refuseBasicAll bool         // mode All on a basic group is an error
}

var generations = map[Rules]generation{
	Kubernetes136: {
		podUnits: victims.Pods136, podBudgets: disruption.PodRule136,
		groupUnits: victims.Groups136, groupBudgets: disruption.GroupRule136,
		affinity: domain.InterPodAffinity136,
		says:     ask.Settings{Mobile: true},
		members:  MinCount,
	},
	Kubernetes137: {
		podUnits: victims.Units137, podBudgets: disruption.Rule137,
		groupUnits: victims.Units137, groupBudgets: disruption.Rule137,
		affinity:     domain.InterPodAffinity,
		says:         ask.Settings{MembersWait: true, GroupPolicy: true, UniformMembers: true, Composites: true, Topology: true, WaitsForVictims: true},
		members:      AllThatFit,
		repeatGroups: true,
	},
	KEP5710Alpha: {
		podUnits: victims.UnitsKEP, podBudgets: disruption.Rule137,
		groupUnits: victims.UnitsKEP, groupBudgets: disruption.Rule137,
		affinity:       domain.InterPodAffinity,
		says:           ask.Settings{MembersWait: true, GroupPolicy: true, UniformMembers: true, Composites: true, Topology: true, WaitsForVictims: true, Lowest: true},
		members:        AllThatFit,
		repeatGroups:   true,
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
	if o.PreemptionPriority.Apart {
		g.podUnits.PreemptionPriority, g.groupUnits.PreemptionPriority = true, true
	}
	return g
}

// searchChecks is how many feasibility checks one question may spend on placements
// beyond those that the placers find. Steps, not seconds: the same answer everywhere.
const searchChecks = 50_000

// settings are what rules and o say to the searches.
func (o Options) settings(rules *generation) ask.Settings {
	s := rules.says
	s.Fewest, s.Lowest = rules.members == MinCount, s.Lowest || o.LowestLevel
	s.RepeatOfPod, s.RepeatOfGang = o.repeat(false), o.repeat(rules.repeatGroups)
	if o.Sampling != nil {
		s.Sampling = (*ask.Sampling)(o.Sampling)
	}
	s.Candidates, s.Trace, s.BrokenFree, s.NoCascade = o.Candidates, o.Explain, o.BrokenGroupsFree, o.NoCascade
	s.Cheapest, s.Steps, s.WaitSeconds, s.Ranking = o.Cost.Objective, o.SearchSteps, o.WaitSeconds, o.ranking()
	s.Improves, s.Checks = o.Placement == "" || o.Placement == PlaceLeastDisruption, searchChecks
	switch o.Placement {
	case PlacePack:
		s.Placers = []domain.Placer{domain.Pack{}}
	case PlaceSpread:
		s.Placers = []domain.Placer{domain.Spread{}}
	default:
		s.Placers = []domain.Placer{domain.LeastDisruption{}, domain.Pack{}, domain.Spread{}}
	}
	h := o.Hooks
	if h == nil {
		return s
	}
	s.Hooks, s.OwnConstraints, s.OwnPrices, s.Compare = true, len(h.Constraints) > 0, h.Cost != nil, h.Compare
	if h.Placer != nil {
		s.Placers, s.OwnPlacer, s.Improves = []domain.Placer{checkedPlacer{h.Placer}}, true, false
	}
	if h.Splitter != nil {
		s.Splitter = checkedSplitter{h.Splitter}
	}
	return s
}

// traits are those of rules and options.
func (o *Options) traits(s *ask.Settings) ask.Traits {
	t := s.Traits()
	t.Set(ask.TraitTuned, !reflect.DeepEqual(*o, Options{Rules: o.Rules}))
	return t
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
