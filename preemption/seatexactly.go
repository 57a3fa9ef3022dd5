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
	w.proved = w.proved && (seated || proved)
	if seated && w.inVain(w.team) {
		w.dropVain()
	}
	if seated && w.offers != nil {
		w.offers.Reset()
	}
	return seated
}

// seatExactly looks at every placement of as many members as are needed where they
// are few or alike. It says whether it seated them, and whether a no is proved.
func (s *gangSearch) seatExactly(d *domain.Domain) (seated, proved bool) {
	if slices.ContainsFunc(s.team.children, (*team).innerWishes) {
		return false, false
	}
	leaves := s.team.leaves(nil)
	if s.trial.Interchangeable() && !slices.ContainsFunc(s.team.children, (*team).wishes) { // who gets a place does not matter, only how many do
		leaves, _, _ = s.team.cheapest(nil)
	}
	s.team.leaveOut()
	seated, proved = s.seatParts(d, leaves, func(leaf *team) int { return leaf.need() }, s.team.satisfied)
	if seated {
		s.narrow(d, leaves)
	}
	return seated, proved
}

// narrow keeps the members of child groups that get a place later in the region where
// the others are.
func (s *gangSearch) narrow(d *domain.Domain, leaves []*team) {
	for _, leaf := range leaves {
		if leaf == s.team || len(leaf.topology) == 0 || leaf.within == nil {
			continue
		}
		leaf.within = nil
		rounds := s.regions(leaf, d)
		for i := range rounds[len(rounds)-1] {
			region := &rounds[len(rounds)-1][i]
			outside := func(m domain.MemberID) bool {
				n := s.trial.At(m)
				return n != cluster.NoNode && !slices.Contains(region.Nodes, n)
			}
			if !slices.ContainsFunc(leaf.members, outside) {
				leaf.within = region
				break
			}
		}
	}
}

// seatParts looks for a placement of need members of each of leaves, or of none of a
// leaf, that is enough.
func (s *gangSearch) seatParts(d *domain.Domain, leaves []*team, need func(*team) int, enough func(func(*team) bool) bool) (seated, proved bool) {
	parts := make([]domain.Part, len(leaves))
	for i, leaf := range leaves {
		parts[i] = domain.Part{Members: leaf.members, Need: need(leaf)}
		if leaf != s.team && len(leaf.topology) > 0 && parts[i].Need > 0 {
			rounds := s.regions(leaf, d)
			parts[i].Regions = append([]domain.Domain{}, rounds[len(rounds)-1]...) // what is required
		}
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

// dropVain takes those members off again.
func (s *gangSearch) dropVain() {
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
	s.trial.PlaceAll(list)
}
