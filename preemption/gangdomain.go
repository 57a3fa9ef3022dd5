package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// tryDomain evaluates the placements in d and keeps the best plan. The trial is
// left as it was.
func (s *gangSearch) tryDomain(d *domain.Domain) domain.Reason {
	potential := s.potential(d)
	if s.notes != nil {
		for _, step := range s.keepSteps(d.Nodes) {
			s.note(step)
		}
	}
	if len(potential) == 0 {
		return domain.Reason{Check: noVictims, Detail: s.whyNobodyIn(d)}
	}
	s.stats.Evaluated++
	if s.options.Explain {
		s.note(Step{Action: ActionPotential, Text: "potential " + s.unitNames(potential)})
		for _, step := range s.freeSteps(potential) {
			s.note(step)
		}
	}
	for _, u := range potential {
		s.inside[u] = true
		s.runner.Remove(s.trial, u)
	}
	defer func() {
		s.trial.UnplaceTo(0)
		for _, u := range potential {
			s.inside[u], s.charged[u] = false, 0
		}
		s.bringBack(potential)
	}()
	a := &attemptAt{gangSearch: s, domain: d, potential: potential, plain: s.plain(potential), decided: s.runner.Decided}
	stuck := a.leaveStuck()
	for _, c := range s.runner.Charge(s.budgeted(a.potential)) {
		s.charged[c.Unit] = int32(c.Violations)
	}
	if s.given != nil {
		if why := s.placeGiven(); !why.OK() {
			s.proved = s.proved && s.excluded(d)
			return why
		}
		a.giveBack(nil)
		if a.top == nil {
			s.proved = s.proved && !a.exhausted()
			return a.refuse
		}
		a.finish()
		return domain.Reason{}
	}
	for _, placer := range s.placers() {
		if s.place(d, placer, a.prices(placer), s.rules.members == MinCount) {
			if a.seatAll(placer); !a.dearer() {
				a.giveBack(placer)
			}
		}
		s.trial.UnplaceTo(0)
		if a.top != nil && a.counts() {
			break // the others have the same victims
		}
	}
	if a.top == nil && !a.refuse.OK() {
		a.repair()
	}
	if a.top == nil {
		s.proved = s.proved && s.excluded(d)
		switch {
		case !a.refuse.OK():
			return a.refuse
		case len(stuck) > 0:
			return beyond(stuck, reprieve.Refuted)
		}
		s.noteRoom(d)
		return domain.Reason{Check: noPlacement}
	}
	a.improve()
	a.finish()
	return domain.Reason{}
}

// bringBack returns those of list that are out.
func (s *gangSearch) bringBack(list []victims.UnitID) {
	if len(s.states) == 0 && len(list) > s.units.Len()/4 {
		s.trial.Home()
		s.runner.Forget()
		return
	}
	for _, u := range list {
		if s.outInPart(u) {
			s.runner.Return(s.trial, u)
		}
	}
	s.runner.Forget()
	s.trial.Settle()
}

// noteRoom remembers for how many members of a lone pod group there is room in d with
// every potential victim gone, where that is not enough.
func (s *gangSearch) noteRoom(d *domain.Domain) {
	if len(s.tree.Children) == 0 {
		n := domain.Pack{}.Place(s.trial, d, nil, s.tree.Members, len(s.tree.Members))
		s.room = max(s.room, n)
		s.trial.UnplaceTo(0)
	}
}

// out reports whether every pod of unit u is out, outInPart whether one is.
func (s *gangSearch) out(u victims.UnitID) bool {
	unit := s.units.Unit(u)
	if !unit.Elastic {
		return s.trial.Gone(unit.Pods[0])
	}
	return !slices.ContainsFunc(unit.Pods, func(p cluster.PodID) bool { return !s.trial.Gone(p) })
}

func (s *gangSearch) outInPart(u victims.UnitID) bool {
	unit := s.units.Unit(u)
	if !unit.Elastic {
		return s.trial.Gone(unit.Pods[0])
	}
	return slices.ContainsFunc(unit.Pods, s.trial.Gone)
}

// placers lists the placers to try, the first one wins ties.
func (s *gangSearch) placers() []domain.Placer {
	if h := s.options.Hooks; h != nil && h.Placer != nil {
		return []domain.Placer{checkedPlacer{h.Placer}}
	}
	switch s.options.Placement {
	case PlacePack:
		return []domain.Placer{domain.Pack{}}
	case PlaceSpread:
		return []domain.Placer{domain.Spread{}}
	}
	return []domain.Placer{domain.LeastDisruption{}, domain.Pack{}, domain.Spread{}}
}
