package preemption

import (
	"cmp"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/victims"
)

// generation is one generation of upstream rules as data: nothing else in this
// package asks which one is in force.
type generation struct {
	pods   live.Rule // when a single pod preempts
	groups live.Rule // when a group preempts

	affinity func() domain.Constraint

	says           ask.Settings // what they say to the searches
	members        Members      // how many members get room
	repeatGroups   bool         // further passes of the reprieve for groups
	refuseBasicAll bool         // mode All on a basic group is an error
}

var generations = map[Rules]generation{
	Kubernetes136: {
		pods:     live.Rule{Units: victims.Pods136, Budgets: disruption.PodRule136},
		groups:   live.Rule{Units: victims.Groups136, Budgets: disruption.GroupRule136},
		affinity: domain.InterPodAffinity136,
		says:     ask.Settings{Mobile: true},
		members:  MinCount,
	},
	Kubernetes137: {
		pods:         live.Rule{Units: victims.Units137, Budgets: disruption.Rule137},
		groups:       live.Rule{Units: victims.Units137, Budgets: disruption.Rule137},
		affinity:     domain.InterPodAffinity,
		says:         ask.Settings{MembersWait: true, GroupPolicy: true, UniformMembers: true, Composites: true, Topology: true, WaitsForVictims: true},
		members:      AllThatFit,
		repeatGroups: true,
	},
	KEP5710Alpha: {
		pods:           live.Rule{Units: victims.UnitsKEP, Budgets: disruption.Rule137},
		groups:         live.Rule{Units: victims.UnitsKEP, Budgets: disruption.Rule137},
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
	if o.Members != "" {
		g.members = o.Members
	}
	if o.PreemptionPriority.Apart {
		g.pods.Units.PreemptionPriority, g.groups.Units.PreemptionPriority = true, true
	}
	return g
}

// searchChecks is how many feasibility checks one question may spend on placements
// beyond those that the placers find. Steps, not seconds: the same answer everywhere.
const searchChecks = 50_000

// settings are what o, which is valid, says in integers.
func (o Options) settings() *live.Settings {
	g := o.generation()
	unranked := o
	unranked.Cost.Objective = false
	s := &live.Settings{
		Pods: g.pods, Groups: g.groups, Ask: o.toSearches(&g),
		OfPod: g.constraints(false), OfGang: g.constraints(true),
		Worth: o.worth(), Guards: o.Guards, Eligible: o.eligible(),
		Hard: live.HardBudgets(o.HardBudgets), Limits: o.Limits.settings(),
		NoBasicAll: g.refuseBasicAll, MaxLead: o.PreemptionPriority.MaxLead, Strict: o.Strict,
		Unranked: unranked.ranking(), Unheeded: o.beyondWorkloads(), Uncounted: o.uncounted(),
	}
	if o.Hooks != nil {
		own := o.Hooks.constraints()
		s.OfPod, s.OfGang = append(s.OfPod, own...), append(s.OfGang, own...)
	}
	return s
}

// toSearches is what rules and o say to the searches.
func (o Options) toSearches(rules *generation) ask.Settings {
	s := rules.says
	s.Fewest, s.Lowest = rules.members == MinCount, s.Lowest || o.LowestLevel
	s.RepeatOfPod, s.RepeatOfGang = o.repeat(false), o.repeat(rules.repeatGroups)
	if o.Sampling != nil {
		s.Sampling = (*ask.Sampling)(o.Sampling)
	}
	s.Candidates, s.Trace, s.Proof = o.Candidates, o.Explain, o.Proof
	s.BrokenFree, s.NoCascade, s.Chain = o.BrokenGroupsFree, o.NoCascade, o.Chain
	s.Effort, s.Steps, s.WaitSeconds, s.Ranking = o.effort(), o.SearchSteps, o.WaitSeconds, o.ranking()
	s.Prefer = o.Prefer
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
	s.Hooks, s.Declared = h.Decide(), h.declared()
	s.OwnConstraints, s.OwnPrices, s.Compare = h.constraints(), h.Cost != nil, h.compare()
	s.OwnLiking, s.Filter = h.prefer(), h.filter()
	if h.Placer != nil {
		s.Placers, s.OwnPlacer, s.Improves = []domain.Placer{checkedPlacer{h.Placer}}, true, false
	}
	if h.Splitter != nil {
		s.Splitter = checkedSplitter{h.Splitter}
	}
	return s
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

// constraints returns the built-in constraints that look at other pods, in the order
// in which upstream evaluates them.
func (g *generation) constraints(gang bool) []domain.Constraint {
	list := []domain.Constraint{domain.ExclusiveTokens(), domain.Devices(), domain.TopologySpread(), g.affinity()}
	for i, c := range list {
		if gang {
			list[i] = domain.Anew(c)
		}
	}
	return list
}

// eligible is the rule of eligibility for preemptors without a queue.
func (o Options) eligible() victims.Eligible {
	if o.Hooks != nil {
		if own := o.Hooks.eligible(); own != nil {
			return victims.Unqueued{Base: own}
		}
	}
	return victims.Unqueued{Base: victims.LowerPriority{EqualAfterSeconds: o.Guards.EqualAfterSeconds}}
}
