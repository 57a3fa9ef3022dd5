package seating

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// The sizes up to which SeatExact looks at every placement, as far as its steps go.
const (
	ExactNodes   = 8
	WideNodes    = 128 // where Seating.Wide; their numbers fit a byte
	ExactMembers = 8
)

// How far a SeatExact goes whose members differ in many ways: maxSeatSteps in one order
// of the members, maxTurnSteps where every order is tried.
const (
	maxSeatSteps = 1 << 20
	maxTurnSteps = 1 << 12
	maxWideSteps = 1 << 15 // in both, on more than ExactNodes
)

// Part is a group of members of which Need get a place together, or none.
type Part struct {
	Members []domain.MemberID
	Need    int
	Groups  []*Together // those that keep its members together, also with those of other parts
}

// Together are members that go to nodes of one region, wherever any of them goes.
type Together struct {
	Members []domain.MemberID
	Region  []int32 // by node: the region that it is in; below zero: nobody of them may go there
}

// SeatExact places members of parts on nodes of d if any placement exists that is
// enough and keeps together who wants that. enough is told which parts have their
// members placed, and must not say no where it says yes for fewer of them.
//
// It returns whether it placed them, and whether the answer is proved: it is when no more
// than ExactMembers members, and no more than nodes that have room for any of them, are to
// be looked at, or if all members are [domain.GangTrial.Interchangeable], enough asks for every
// part and nobody is kept together, as long as steps last. With constraints for which it matters, see [domain.Orderer],
// members are tried in every order, since one may fit only after another, or only before
// it; then it is proved as far as some 4,000 steps go. Steps are taken from left, as far as there are any; nil: no matter.
func SeatExact(t *domain.GangTrial, d *domain.Domain, parts []Part, nodes int, enough func(seated []bool) bool, left *int) (seated, proved bool) {
	if left == nil {
		all := maxTurnSteps + maxSeatSteps
		left = &all
	}
	s := exact{t: t, nodes: d.Nodes, parts: parts, enough: enough, in: make([]bool, len(parts))}
	members := 0
	for i, p := range parts {
		members += len(p.Members)
		s.in[i] = p.Need <= len(p.Members)
		for _, g := range p.Groups {
			if !slices.Contains(s.together, g) {
				s.together = append(s.together, g)
			}
		}
	}
	if !enough(s.in) {
		return false, true
	}
	if t.Interchangeable() && !s.optional() && len(s.together) == 0 {
		return s.seatAlike(), true
	}
	if members > ExactMembers {
		return false, false
	}
	if s.nodes = usable(t, d.Nodes, nodes+1); len(s.nodes) > nodes {
		return false, false
	}
	if len(s.nodes) > ExactNodes {
		all, most := left, min(maxWideSteps, *left)
		few := most
		left = &few
		defer func() { *all -= most - few }()
	}
	if t.OrderMatters() {
		if !s.hasRoom(left) {
			return false, true
		}
		turns := turns{exact: &s, failed: map[string]bool{}, steps: min(maxTurnSteps, *left)}
		*left -= turns.steps
		seated = turns.seat()
		if *left += turns.steps; seated || turns.steps > 0 {
			return seated, true
		}
		for i, p := range s.parts { // turns has left something else there
			s.in[i] = p.Need <= len(p.Members)
		}
		return s.inOneOrder(left), false
	}
	seated = s.inOneOrder(left)
	return seated, seated || s.steps > 0
}

// inOneOrder seats the parts one after the other, with as many steps as are left.
func (s *exact) inOneOrder(left *int) bool {
	s.steps = min(maxSeatSteps, *left)
	*left -= s.steps
	seated := s.seatPart(0)
	*left += s.steps
	return seated
}

// usable returns the first of nodes, up to so many, that have room for some member as
// things stand.
func usable(t *domain.GangTrial, nodes []cluster.NodeID, most int) []cluster.NodeID {
	var list []cluster.NodeID
	for _, n := range nodes {
		if len(list) == most {
			break
		}
		for m := range t.Members() {
			if t.Shape(domain.MemberID(m)) == m && t.HasRoom(domain.MemberID(m), n) {
				list = append(list, n)
				break
			}
		}
	}
	return list
}

// exact is a depth-first search over placements.
type exact struct {
	t        *domain.GangTrial
	nodes    []cluster.NodeID
	parts    []Part
	together []*Together
	enough   func([]bool) bool
	in       []bool // by part: seated, or not looked at yet and able to be
	steps    int
}

// step is what to look for a place for a member takes, in steps that look at ExactNodes.
func (s *exact) step() int { return 1 + (len(s.nodes)-1)/ExactNodes }

// agrees reports whether member m may go to node n, where those are whom it goes together
// with.
func (s *exact) agrees(m domain.MemberID, n cluster.NodeID) bool {
	for _, g := range s.together {
		if !slices.Contains(g.Members, m) {
			continue
		}
		if g.Region[n] < 0 {
			return false
		}
		for _, o := range g.Members {
			if at := s.t.At(o); at != cluster.NoNode && g.Region[at] != g.Region[n] {
				return false
			}
		}
	}
	return true
}

// turns is a search in any order of the members. What leads on from some of them placed
// is a function of where they are.
type turns struct {
	*exact
	failed map[string]bool // placements from which nothing leads on
	steps  int
}

// seat places members until what is placed is enough.
func (s *turns) seat() bool {
	if s.done() {
		return true
	}
	var key []byte
	for _, p := range s.parts {
		for _, m := range p.Members {
			key = append(key, byte(slices.Index(s.nodes, s.t.At(m))+1))
		}
	}
	if s.steps <= 0 || s.failed[string(key)] {
		return false
	}
	s.steps -= s.step()
	for _, p := range s.parts {
		if p.Need > len(p.Members) {
			continue
		}
		for _, m := range p.Members {
			if s.t.At(m) != cluster.NoNode {
				continue
			}
			for _, n := range s.nodes {
				if !s.agrees(m, n) || !s.t.CanPlace(m, n).OK() {
					continue
				}
				s.t.Place(m, n)
				if s.seat() {
					return true
				}
				s.t.Unplace()
			}
		}
	}
	s.failed[string(key)] = true
	return false
}

// done reports whether what is placed is enough, and no part has less than it needs.
func (s *turns) done() bool {
	for i, p := range s.parts {
		have := 0
		for _, m := range p.Members {
			if s.t.At(m) != cluster.NoNode {
				have++
			}
		}
		if s.in[i] = have >= p.Need; have > 0 && !s.in[i] {
			return false
		}
	}
	return s.enough(s.in)
}

// optional reports whether enough does without some part that could be seated.
func (s *exact) optional() bool {
	for i, in := range s.in {
		if !in {
			continue
		}
		s.in[i] = false
		without := s.enough(s.in)
		s.in[i] = true
		if without {
			return true
		}
	}
	s.enough(s.in)
	return false
}

// seatAlike fills node after node: exact, since only the number of members matters.
func (s *exact) seatAlike() bool {
	var members []domain.MemberID
	for i, p := range s.parts {
		if s.in[i] {
			members = append(members, p.Members[:p.Need]...)
		}
	}
	before := len(s.t.Placed())
	for _, n := range s.nodes {
		for len(members) > 0 && s.t.CanPlace(members[0], n).OK() {
			s.t.Place(members[0], n)
			members = members[1:]
		}
	}
	if len(members) > 0 {
		s.t.UnplaceTo(before)
		return false
	}
	return true
}

// seatPart seats the parts from k on, or leaves them out.
func (s *exact) seatPart(k int) bool {
	if k == len(s.parts) {
		return s.enough(s.in)
	}
	if s.in[k] {
		var members []domain.MemberID
		for _, shape := range s.t.ByShape(s.parts[k].Members) {
			members = append(members, shape...)
		}
		if s.seat(k, members, s.parts[k].Need, 0) {
			return true
		}
		s.in[k] = false
		defer func() { s.in[k] = true }()
		if !s.enough(s.in) {
			return false
		}
	}
	return s.seatPart(k + 1)
}

// seat places need of the members of part k, equal ones side by side,
// then the parts after it. An equal member before the first went to the node at
// position from, or was left out if from is past the end: its equals need not try the
// nodes before.
func (s *exact) seat(k int, members []domain.MemberID, need, from int) bool {
	if need == 0 {
		return s.seatPart(k + 1)
	}
	if len(members) < need || s.steps <= 0 {
		return false
	}
	s.steps -= s.step()
	m := members[0]
	for at := from; at < len(s.nodes); at++ {
		n := s.nodes[at]
		if !s.agrees(m, n) || !s.t.CanPlace(m, n).OK() {
			continue
		}
		s.t.Place(m, n)
		if s.seat(k, members[1:], need-1, s.from(members, at)) {
			return true
		}
		s.t.Unplace()
	}
	return s.seat(k, members[1:], need, s.from(members, len(s.nodes)))
}

// from is where the member after the first begins to look.
func (s *exact) from(members []domain.MemberID, at int) int {
	if len(members) > 1 && s.t.Alike(members[0], members[1]) {
		return at
	}
	return 0
}

// hasRoom reports whether members have room, as far as is known, where constraints that are not monotone have no say: without it there is
// no order in which they fit.
func (s *exact) hasRoom(left *int) (may bool) {
	before := len(s.t.Placed())
	s.t.Untied(func() {
		may = s.t.OrderMatters() || s.inOneOrder(left) || s.steps <= 0
		s.t.UnplaceTo(before)
	})
	for i, p := range s.parts {
		s.in[i] = p.Need <= len(p.Members)
	}
	return may
}
