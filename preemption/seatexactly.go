package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// seatExactly seats as many members as are needed if it finds any way to do so, and
// notes if that they cannot be seated is not proved.
func (w *seating) seatExactly(d *domain.Domain) bool {
	seated, proved := w.gangSearch.seatExactly(d)
	if seated && w.inVain(w.team) && !w.dropVain() {
		seated, proved = false, false
	}
	w.proved = w.proved && (seated || proved)
	if seated && w.offers != nil {
		w.offers.Reset()
	}
	return seated
}

// seatExactly looks at every placement of as many members as are needed where they
// are few or alike. It says whether it seated them, and whether a no is proved.
func (s *gangSearch) seatExactly(d *domain.Domain) (seated, proved bool) {
	leaves := s.team.leaves(nil)
	if s.trial.Interchangeable() && !slices.ContainsFunc(s.team.children, (*team).wishes) { // who gets a place does not matter, only how many do
		leaves, _, _ = s.team.cheapest(nil)
	}
	s.team.leaveOut()
	seated, proved = s.seatParts(d, leaves, func(leaf *team) int { return leaf.need() }, s.team.satisfied)
	if seated {
		for _, c := range s.team.children {
			s.narrow(c, d)
		}
	}
	return seated, proved
}

// narrow keeps the members of t that get a place later in the region where the others
// are, and if there are none in the first one.
func (s *gangSearch) narrow(t *team, d *domain.Domain) {
	if d = s.regionOf(t, d); d == nil {
		t.leaveOut()
		return
	}
	if len(t.children) == 0 && t.within != nil {
		t.within = d
	}
	for _, c := range t.children {
		s.narrow(c, d)
	}
}

// regionOf is the region of d that t requires and that holds every member of it with a
// place: d where it requires none, nil if there is no such region.
func (s *gangSearch) regionOf(t *team, d *domain.Domain) *domain.Domain {
	if len(t.topology) == 0 {
		return d
	}
	rounds := s.regions(t, d)
	required := rounds[len(rounds)-1]
	for i := range required {
		outside := func(m domain.MemberID) bool {
			n := s.trial.At(m)
			return n != cluster.NoNode && !slices.Contains(required[i].Nodes, n)
		}
		if !slices.ContainsFunc(t.leaves(nil), func(leaf *team) bool { return slices.ContainsFunc(leaf.members, outside) }) {
			return &required[i]
		}
	}
	return nil
}

// seatParts looks for a placement of need members of each of leaves, or of none of a
// leaf, that is enough.
func (s *gangSearch) seatParts(d *domain.Domain, leaves []*team, need func(*team) int, enough func(func(*team) bool) bool) (seated, proved bool) {
	groups := map[*team][]*domain.Together{}
	for _, c := range s.team.children {
		s.together(c, d, nil, groups)
	}
	parts := make([]domain.Part, len(leaves))
	for i, leaf := range leaves {
		parts[i] = domain.Part{Members: leaf.members, Need: need(leaf), Groups: groups[leaf]}
	}
	return s.trial.SeatExact(d, parts, func(in []bool) bool {
		for i, leaf := range leaves {
			leaf.within = nil
			if in[i] {
				leaf.within = d
			}
		}
		return enough(func(leaf *team) bool { return leaf.within != nil })
	})
}

// together notes for each pod group beneath t which groups, those above and t's own, keep
// its members in one region of d.
func (s *gangSearch) together(t *team, d *domain.Domain, above []*domain.Together, groups map[*team][]*domain.Together) {
	if len(t.topology) > 0 {
		g := &domain.Together{Region: make([]int32, s.ix.NumNodes())}
		for n := range g.Region {
			g.Region[n] = -1
		}
		rounds := s.regions(t, d)
		for i, region := range rounds[len(rounds)-1] { // what is required
			for _, n := range region.Nodes {
				g.Region[n] = int32(i)
			}
		}
		for _, leaf := range t.leaves(nil) {
			g.Members = append(g.Members, leaf.members...)
		}
		above = append(slices.Clip(above), g)
	}
	if len(t.children) == 0 {
		groups[t] = above
	}
	for _, c := range t.children {
		s.together(c, d, above, groups)
	}
}

// runs reports whether t may run with the members that have a place.
func (s *gangSearch) runs(t *team) bool {
	return t.satisfied(func(leaf *team) bool { return s.seatedOf(leaf) >= leaf.need() })
}

// inVain reports whether a member beneath t has a place in a group that may not run.
func (s *gangSearch) inVain(t *team) bool {
	if s.runs(t) {
		return slices.ContainsFunc(t.children, s.inVain)
	}
	return slices.ContainsFunc(t.leaves(nil), func(leaf *team) bool { return s.seatedOf(leaf) > 0 })
}

// dropVain takes those members off again, and reports whether the others fit without them.
func (s *gangSearch) dropVain() bool {
	list := s.trial.Assignments()
	var drop func(t *team)
	drop = func(t *team) {
		if s.runs(t) {
			for _, c := range t.children {
				drop(c)
			}
			return
		}
		t.leaveOut()
		for _, leaf := range t.leaves(nil) {
			list = slices.DeleteFunc(list, func(a domain.Assignment) bool { return slices.Contains(leaf.members, a.Member) })
		}
	}
	drop(s.team)
	s.trial.UnplaceTo(0)
	_, why := s.trial.PlaceInTurn(list)
	return why.OK()
}

// excluded reports whether it is proved that with fewer of the potential victims gone,
// too, the members find no place in d, after they found none with all of them gone: where
// constraints are not monotone, somebody who stays may open one.
func (s *gangSearch) excluded(d *domain.Domain) (proved bool) {
	if s.monotone() {
		return true
	}
	s.trial.Untied(func() {
		if s.given != nil {
			_, why := s.trial.PlaceInTurn(s.given)
			proved = !why.OK()
		} else {
			seated, known := s.seatExactly(d)
			proved = !seated && known
		}
		s.trial.UnplaceTo(0)
	})
	return proved
}
