package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/counting"
)

// newCount returns the search that counts members, nil if they can't be counted.
func (s *gangSearch) newCount() *counting.Search {
	if !s.countable() {
		return nil
	}
	return counting.New(counting.Question{
		Index: s.ix, Units: s.units, Budgets: s.budgets, Columns: s.ladder,
		Gang: s.tree, Members: s.members, Priority: s.priority,
		Placers: s.placers(), Improves: !s.rules.mobile && (s.options.Placement == "" || s.options.Placement == PlaceLeastDisruption),
		Mobile: s.rules.mobile, Fewest: s.rules.members == MinCount,
		Checks: s.compiled.searchChecks, Goroutines: s.goroutines, Tools: s.countTools,
	})
}

// countable reports whether members can be counted.
func (s *gangSearch) countable() bool {
	t := s.question.traits()
	if byCounting.leads(t) {
		t.set(traitUnequal, !domain.Equal(s.members))
		t.set(traitOwn, s.ownVictims())
	}
	return byCounting.leads(t)
}

// ownVictims reports whether a running pod of the gang might be evicted for it.
func (s *gangSearch) ownVictims() bool {
	if s.tree.ID == cluster.NoGroup {
		return false
	}
	return slices.ContainsFunc(s.ix.PodsUnder(nil, s.tree.ID), func(p cluster.PodID) bool {
		u, runs := s.units.UnitOf(p)
		return runs && s.units.Unit(u).Level < s.priority
	})
}

// adopt notes what counting made of domain d.
func (s *gangSearch) adopt(d *domain.Domain, out *counting.Outcome) {
	s.counted += out.Checks
	s.room = max(s.room, out.Room)
	if out.Refusal != counting.NoVictims {
		s.stats.Evaluated++
	}
	switch out.Refusal {
	case counting.NoVictims:
		s.rejected = append(s.rejected, rejectedDomain{*d, domain.Reason{Check: noVictims, Detail: s.whyNobodyIn(d)}})
	case counting.NoPlacement:
		s.rejected = append(s.rejected, rejectedDomain{*d, domain.Reason{Check: noPlacement}})
	default:
		p := out.Plan
		kept := &plan{domain: p.Domain, places: p.Places, score: p.Score, victims: p.Victims, charged: p.Charged}
		if !p.Joint { // else trials tell of it
			kept.counted = p
		}
		s.keepPlan(kept)
	}
}

// settleAll finds the victims of the plans that are told.
func (s *gangSearch) settleAll() {
	if s.brief {
		return
	}
	for i := range s.found {
		s.settle(&s.found[i])
	}
	if s.best != nil {
		s.settle(s.best)
	}
}

func (s *gangSearch) settle(p *plan) {
	if p.counted != nil {
		s.counting.Settle(p.counted)
		p.victims, p.charged = p.counted.Victims, p.counted.Charged
	}
}

// endCount ends the use of the buffers for counting. The question is over.
func (s *gangSearch) endCount() {
	if s.counting != nil {
		s.counting.Close()
	}
}
