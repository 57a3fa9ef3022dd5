package gang

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// tryDomain evaluates the placements in d and keeps the best plan. The trial is
// left as it was. counted is what counting makes of d; nil: nothing.
func (s *Search) tryDomain(d *domain.Domain, counted *Plan) domain.Reason {
	s.placements, s.back, s.begins = s.placements[:0], 0, 0
	if s.near.Spent() || s.q.NoBounds && s.Asked() > mostLooks { // then what would help is not told
		s.Proved = false
		s.leaveOpen(nil)
		return domain.Reason{Check: ask.NotLookedAt}
	}
	if s.q.Effort != ask.Greedy && (s.begun > mostBegun || s.Asked() > mostHarder || s.sumsLeft() <= 0) {
		return s.lookLessHard(d, counted)
	}
	defer s.bringBack()
	a := &attempt{Search: s, domain: d, decided: s.Runner.Decided}
	s.allow(s.looks())
	s.Runner.Share(s.shares)
	if a.takeOut(); a.numPotential() == 0 {
		return s.q.Nobody(d.Nodes...)
	}
	s.Stats.Evaluated++
	if s.q.Trace {
		s.note(ask.Step{Action: ask.TakesOut, More: &ask.More{Units: slices.Clone(a.potential)}})
	}
	stuck := a.excludeOverBound()
	s.charge(append(a.covered, a.potential...))
	if s.q.Given != nil {
		if why := s.PlaceGiven(); !why.OK() {
			s.doubt(func() bool { return s.excluded(d) })
			return why
		}
		a.giveBack(nil)
		if a.top == nil {
			s.doubt(func() bool { return !a.exhausted() })
			return a.refuse
		}
		if s.q.Effort != ask.Greedy && !a.proved {
			s.leaveOpen(a.bound)
		}
		a.finish()
		return domain.Reason{}
	}
	if a.against = a.rival(); a.against != nil && a.outdone(a.against) {
		return domain.Reason{}
	}
	if short := a.roomy <= 0 && s.short(d); short || s.q.Effort == ask.Greedy && s.crowded(d) {
		s.doubt(func() bool { return short || s.excluded(d) }) // whom spread keeps off may have a place where others stay
		s.noteRoom(d, len(stuck) == 0)
		return domain.Reason{Check: ask.NoPlacement}
	}
	s.begun += s.shares
	if s.q.Effort != ask.Greedy && a.allot(counted) {
		a.finish()
		return domain.Reason{}
	}
	late := s.q.Effort != ask.Greedy && a.searchable() // that settles most domains: then nobody has to look less hard
	if late {
		s.less.placements = nil
	} else {
		a.lookLess(counted)
	}
	hopeless := false
	for i, placer := range s.q.Placers {
		placed := a.placeOnce(i)
		if placed {
			if why := a.foreseen(); !why.OK() {
				a.refuse, hopeless = why, true
			} else if a.seatAll(placer); !a.dearer() {
				a.giveBack(placer)
			}
		}
		s.Trial.UnplaceTo(0)
		if hopeless || a.top != nil && a.counts() || a.top == nil && !placed && s.seater.PlacersAgree() {
			break // the others have the same victims, or no place for enough members either
		}
		if hopeless = a.top == nil && a.hopeless(); hopeless {
			a.refuse = ask.Beyond(a.over, reprieve.Refuted)
			break
		}
	}
	if late && a.top == nil {
		late = false
		a.lookLess(counted)
	}
	if a.top == nil && a.against != nil {
		return domain.Reason{}
	}
	settled := hopeless || (s.q.Effort != ask.Greedy || a.top == nil && !a.refuse.OK()) && a.everywhere()
	if own := a.top; late && !settled {
		if a.lookLess(counted); a.top != own { // a search that begins with less may come to the end
			settled = a.everywhere()
		}
	}
	if a.top == nil && !a.refuse.OK() && !settled {
		a.repair()
	}
	if s.q.Effort != ask.Greedy && !settled {
		s.leaveOpen(a.bound)
	}
	if a.top == nil {
		s.doubt(func() bool { return s.excluded(d) })
		switch {
		case !a.refuse.OK():
			return a.refuse
		case len(stuck) > 0:
			return ask.Beyond(stuck, reprieve.Refuted)
		}
		s.noteRoom(d, true)
		return domain.Reason{Check: ask.NoPlacement}
	}
	if !settled {
		a.improve()
	}
	a.seatLeftOut()
	a.finish()
	return domain.Reason{}
}

// lookLess considers the plan that is found where one looks less hard.
func (a *attempt) lookLess(counted *Plan) {
	less, _ := a.lessHard(a.domain, counted)
	a.consider(less)
}

// mostRooms is how often it is asked how many members of a shape have room on a node before anybody is placed.
const mostRooms = 1 << 22

// short reports whether, for lack of room alone, fewer members than a lone pod group needs
// could be in d, those of each shape by themselves. Of many shapes in many nodes it does not know.
func (s *Search) short(d *domain.Domain) bool {
	if len(s.q.Tree.Children) > 0 {
		return false
	}
	spare, left := len(s.q.Tree.Members)-s.q.Tree.Need(), mostRooms
	for _, members := range s.Trial.ByShape(s.q.Tree.Members) {
		missing := int64(len(members))
		if s.Trial.Offered(members[0]) {
			for _, n := range d.Nodes {
				if left--; left < 0 || missing <= 0 {
					break
				}
				if s.Trial.HasRoom(members[0], n) {
					missing -= s.Trial.Slots(members[0], n)
				}
			}
		}
		if spare -= int(max(missing, 0)); spare < 0 || left < 0 {
			break
		}
	}
	return spare < 0 && left >= 0
}

// crowded reports whether fewer members than a lone pod group needs could be in d, where these are equal and
// spread over topology values.
func (s *Search) crowded(d *domain.Domain) bool {
	need := int64(s.q.Tree.Need())
	return len(s.q.States) > 0 && s.seater.PlacersAgree() && s.Trial.SpreadOver(d.Nodes, need) < need
}

// charge notes what the loss of each of potential adds to the violations.
func (s *Search) charge(potential []victims.UnitID) {
	violating := s.Runner.Charge(s.budgeted(potential))
	for _, c := range violating {
		s.charged[c.Unit] = int32(c.Violations)
		s.removed = append(s.removed, c.Unit)
	}
	s.harmful = len(violating) > 0
}

// takeOut takes the potential victims out of the trial. Where the columns tell of all members,
// nodes are vacant of which they tell, and nobody is taken out there before somebody looks.
func (a *attempt) takeOut() {
	a.prepare()
	nodes := a.domain.Nodes
	a.near.To(nodes)
	if f := a.firstSeats(); f.vacates {
		vacant, others := f.empty[:0], []cluster.NodeID(nil)
		for _, n := range nodes {
			units, ok := f.vacant(n)
			if !ok {
				others = append(others, n)
				continue
			}
			vacant = append(vacant, n)
			if a.unseen += units; a.q.Columns.Budgeted(n) {
				a.covered = append(a.covered, a.q.Evictable(n)...)
			}
		}
		f.empty = vacant
		a.Trial.Vacate(f, vacant)
		nodes = others
	}
	if len(nodes) > 0 {
		a.near.Remember()
	}
	a.potential = a.potentialOn(nodes)
	a.plain = a.Search.plain(a.potential)
	a.remove(a.potential)
}

// remove takes units out, which are potential victims.
func (s *Search) remove(list []victims.UnitID) {
	for _, u := range list {
		s.inside[u] = true
		s.Runner.Remove(s.Trial, u)
		s.moved += len(s.near.Pods(u))
	}
	s.removed = append(s.removed, list...)
}

// bringBack returns whoever is out, and takes everybody off who is placed.
func (s *Search) bringBack() {
	s.Proved = s.Proved && !(s.Runner.Cut && s.q.Effort == ask.Greedy)
	s.Trial.UnplaceTo(0)
	s.Trial.Vacate(nil, nil)
	for _, u := range s.removed {
		s.inside[u], s.charged[u] = false, 0
	}
	if s.moved > s.q.Index.NumPods()/4 {
		s.Trial.Home()
		s.near.Charge(s.moved)
	} else {
		for _, u := range s.removed {
			if s.outInPart(u) {
				s.Runner.Return(s.Trial, u)
			}
		}
		s.Trial.Settle()
	}
	s.Runner.Forget()
	s.removed, s.moved = s.removed[:0], 0
	s.near.To(nil)
}

// noteRoom remembers for how many members of a lone pod group there is room in d with
// every potential victim gone, where that is not enough, and if they are all gone now, where these members are.
func (s *Search) noteRoom(d *domain.Domain, allGone bool) {
	if len(s.q.Tree.Children) > 0 {
		return
	}
	if n := s.packAll(d); n > s.Room {
		s.hasRoom(d, n)
		if s.packed = nil; allGone {
			s.packed = s.Trial.Assignments()
		}
	}
	s.Trial.UnplaceTo(0)
}

// hasRoom notes that there is room for n members in d, which is not enough.
func (s *Search) hasRoom(d *domain.Domain, n int) {
	if n > s.Room {
		s.Room, s.roomiest = n, *d
	}
}

// out reports whether every pod of unit u is out, outInPart whether one is.
func (s *Search) out(u victims.UnitID) bool {
	return !slices.ContainsFunc(s.telling(u), func(p cluster.PodID) bool { return !s.Trial.Gone(p) })
}

func (s *Search) outInPart(u victims.UnitID) bool {
	return slices.ContainsFunc(s.telling(u), s.Trial.Gone)
}

// telling are pods of unit u that tell whether it is out: one of those that leave together.
func (s *Search) telling(u victims.UnitID) []cluster.PodID {
	pods := s.near.Pods(u)
	if !s.q.Units.Unit(u).Elastic {
		pods = pods[:1]
	}
	return pods
}

// PlaceCheapest places the gang on nodes of d as [domain.LeastDisruption] does, with every
// potential victim gone, and leaves it so: what counting comes to can be compared with it.
func (s *Search) PlaceCheapest(d *domain.Domain) []domain.Assignment {
	potential := s.Potential(d)
	s.remove(potential)
	s.charge(potential)
	a := &attempt{Search: s, domain: d, potential: potential}
	s.Place(d, domain.LeastDisruption{}, a.prices(domain.LeastDisruption{}), s.q.Fewest)
	return s.Trial.Assignments()
}

// ComparePrices places the gang as PlaceCheapest does and asks for the price of every place on
// the way, of the offers and of those with first seats, and for a bound from below: for tests. road says whether there are
// such, same is called with each of them.
func (s *Search) ComparePrices(d *domain.Domain, same func(offers, firsts, least domain.Price)) (road bool) {
	s.PlaceCheapest(d)
	places := s.Trial.Assignments()
	s.Trial.UnplaceTo(0)
	s.offers.Reset()
	firsts := s.withFirstSeats(s.offers)
	if firsts == seating.Prices(s.offers) {
		return false
	}
	for _, at := range append(places, domain.Assignment{Node: cluster.NoNode}) {
		for m := range s.q.Members {
			m := domain.MemberID(m)
			for _, n := range d.Nodes {
				if s.Trial.At(m) == cluster.NoNode && s.Trial.CanPlace(m, n).OK() {
					same(s.offers.Price(m, n), firsts.Price(m, n), s.firsts.least(m, n))
				}
			}
		}
		if at.Node != cluster.NoNode {
			s.Trial.Place(at.Member, at.Node)
			s.offers.Taken(at.Member, at.Node)
		}
	}
	return true
}
