package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

// CostOptions say what an eviction costs, and where that counts. What is known of a
// pod's or group's price is in the snapshot; the tariff says what counts of it.
type CostOptions struct {
	Tariff disruption.Tariff `json:"tariff,omitzero"`

	// Criterion makes the cost of the victims a criterion for the choice among
	// domains: 1 is before violations, 6 after the earliest start. 0: it is none. It is
	// short for an Options.Objective of upstream's criteria and the cost.
	Criterion int `json:"criterion,omitempty"`

	// Importance makes the dearer of two units of equal priority more important.
	Importance bool `json:"importance,omitempty"`

	// Objective looks for the cheapest victims: on each node, or for a gang where it
	// is placed, by a complete search, and then among domains. Priorities only say
	// who may be a victim, and break ties. It is short for an Options.Objective of the
	// cost and then upstream's criteria, with Options.Search Exact.
	Objective bool `json:"objective,omitempty"`
}

// priced reports whether evictions have a price.
func (o Options) priced() bool {
	return !o.Cost.Tariff.Free() || o.Hooks != nil && o.Hooks.Cost != nil
}

// worth is what units are worth beyond what the rules look at.
func (o Options) worth() victims.Worth {
	w := victims.Worth{ByCost: o.Cost.Importance, ByPlace: o.PreferMovable}
	if o.priced() {
		w.Cost = victims.Tariff{Tariff: o.Cost.Tariff}
	}
	if h := o.Hooks; h != nil {
		w.Order = h.order()
		if h.Cost != nil {
			w.Cost = h.cost()
		}
	}
	return w
}

// ranking is the order of the criteria, empty where it is upstream's. With LowestLevel the highest
// priority comes before all others but budgets.
func (o Options) ranking() victims.Ranking {
	at, list := o.Cost.Criterion, o.Objective
	if o.Cost.Objective {
		at = 1
	}
	switch {
	case len(list) > 0:
	case at == 0:
		return nil
	default:
		list = slices.Insert(slices.Clone(victims.Criteria[:]), at-1, victims.CriterionCost)
	}
	if !o.LowestLevel {
		return list
	}
	var first, rest victims.Ranking
	for _, c := range list {
		switch c {
		case victims.CriterionViolations, victims.CriterionOverruns:
			first = append(first, c)
		case victims.CriterionHighest:
		default:
			rest = append(rest, c)
		}
	}
	return slices.Concat(first, victims.Ranking{victims.CriterionHighest}, rest)
}

// effort is how hard the least disruption is looked for.
func (o Options) effort() ask.Effort {
	switch {
	case o.Search == Exact || o.Search == "" && o.Cost.Objective:
		return ask.Exact
	case o.Search == Improved:
		return ask.Improved
	}
	return ask.Greedy
}
