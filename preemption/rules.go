package preemption

import (
	"cmp"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
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
	ofPod    []domain.Constraint // made of it, for a lone pod, and then the user's own
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
	if o.Hooks != nil {
		own := o.Hooks.constraints()
		g.ofPod, g.ofGang = append(g.ofPod, own...), append(g.ofGang, own...)
	}
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
	spread := domain.TopologySpread
	if gang {
		spread = domain.TopologySpreadAnew
	}
	return []domain.Constraint{domain.ExclusiveTokens(), domain.Devices(), spread(), g.affinity()}
}

// eligible is the user's own rule, nil for the default.
func (o Options) eligible() victims.Eligible {
	if o.Hooks == nil {
		return nil
	}
	return o.Hooks.eligible()
}
