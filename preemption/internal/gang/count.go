package gang

import (
	"slices"
	"sync"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/counting"
)

// newCount returns the search that counts members, nil if they can't be counted.
func (s *Search) newCount(tools *sync.Pool) *counting.Search {
	if !s.countable() {
		return nil
	}
	goroutines := s.q.Goroutines
	if s.q.Hooks {
		goroutines = 1 // the caller's filter is asked
	}
	return counting.New(counting.Question{
		Index: s.q.Index, Units: s.q.Units, Budgets: s.q.Budgets, Columns: s.q.Columns,
		Gang: s.q.Tree, Members: s.q.Members, Priority: s.q.Priority,
		Placers: s.q.Placers, Improves: !s.q.Mobile && s.q.Improves,
		Mobile: s.q.Mobile, Fewest: s.q.Fewest,
		Checks: s.q.Checks, Goroutines: goroutines, Tools: tools, Poll: s.q.Poll,
	})
}

// countable reports whether members can be counted.
func (s *Search) countable() bool {
	t := s.q.AllTraits()
	if s.q.Effort != ask.Greedy { // a search begins with what is counted, of which a trace is told
		t &^= ask.TraitTrace
	}
	if ask.ByCounting.Leads(t) {
		t.Set(ask.TraitUnequal, slices.ContainsFunc(s.q.Members, func(m *domain.Member) bool { return !m.Equals(s.q.Members[0]) }))
		t.Set(ask.TraitOwn, s.ownVictims())
	}
	return ask.ByCounting.Leads(t)
}

// ownVictims reports whether a running pod of the gang might be evicted for it.
func (s *Search) ownVictims() bool {
	if s.q.Tree.ID == cluster.NoGroup {
		return false
	}
	return slices.ContainsFunc(s.q.Index.PodsUnder(nil, s.q.Tree.ID), func(p cluster.PodID) bool {
		u, runs := s.q.Units.UnitOf(p)
		return runs && s.q.Units.Unit(u).Level < s.q.Priority
	})
}

// adopt notes what counting made of domain d.
func (s *Search) adopt(d *domain.Domain, out *counting.Outcome) {
	s.counted += out.Checks
	s.hasRoom(d, out.Room)
	if out.Refusal != counting.NoVictims {
		s.Stats.Evaluated++
	}
	switch out.Refusal {
	case counting.NoVictims:
		s.reject(d, s.q.Nobody(d.Nodes...), nil)
	case counting.NoPlacement:
		var steps []ask.Step
		if s.q.Trace {
			steps = []ask.Step{{Action: ask.TakesOut, More: &ask.More{Units: s.Potential(d)}}}
		}
		s.reject(d, domain.Reason{Check: ask.NoPlacement}, steps)
	default:
		s.keepPlan(s.planOf(out))
	}
}

// tellOf notes, where a trace is asked for, who returns beside the members of a counted plan.
func (s *Search) tellOf(p *Plan) {
	if !s.q.Trace {
		return
	}
	s.Equip()
	defer s.aside()()
	a := &attempt{Search: s, domain: &p.Domain}
	a.takeOut()
	s.charge(append(a.covered, a.potential...))
	s.Trial.PlaceAll(p.Places)
	a.settleOn(p.Victims)
	p.steps = a.top.steps
	s.bringBack()
}

// planOf is the plan that counting made.
func (s *Search) planOf(out *counting.Outcome) *Plan {
	p := out.Plan
	kept := &Plan{Domain: p.Domain, Places: p.Places, Score: p.Score, Victims: p.Victims, Charged: p.Charged}
	if !p.Joint { // else trials tell of it
		kept.Counted = p
	}
	return kept
}

// settleAll finds the victims of the plans that are told.
func (s *Search) settleAll() {
	if s.Brief {
		return
	}
	for i := range s.Found {
		s.settle(&s.Found[i])
	}
	if s.Best != nil {
		s.settle(s.Best)
	}
}

func (s *Search) settle(p *Plan) {
	if p.Counted != nil {
		s.Counting.Settle(p.Counted)
		p.Victims, p.Charged = p.Counted.Victims, p.Counted.Charged
	}
}
