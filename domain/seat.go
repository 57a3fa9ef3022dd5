package domain

import "slices"

// The sizes up to which SeatExact looks at every placement.
const (
	ExactNodes   = 8
	ExactMembers = 8
)

// maxSeatSteps bounds a SeatExact whose members differ in many ways.
const maxSeatSteps = 1 << 20

// Part is a group of members of which Need get a place together, or none.
type Part struct {
	Members []MemberID
	Need    int
	Regions []Domain // where they may go: all of them in one of these; nil: anywhere in the domain
}

// SeatExact places members of parts on nodes of d if any placement exists that is
// enough. enough is told which parts have their members placed, and must not say no
// where it says yes for fewer of them.
//
// It returns whether it placed them, and whether the answer is proved: it is when
// no more than ExactNodes nodes and ExactMembers members are to be looked at, or if
// all members are [GangTrial.Interchangeable] and enough asks for every part.
func (t *GangTrial) SeatExact(d *Domain, parts []Part, enough func(seated []bool) bool) (seated, proved bool) {
	s := seating{t: t, d: d, parts: parts, enough: enough, in: make([]bool, len(parts)), steps: maxSeatSteps}
	members := 0
	for i, p := range parts {
		members += len(p.Members)
		s.in[i] = p.Need <= len(p.Members)
	}
	if !enough(s.in) {
		return false, true
	}
	if t.Interchangeable() && !s.optional() && !slices.ContainsFunc(parts, func(p Part) bool { return p.Regions != nil }) {
		return s.seatAlike(), true
	}
	if len(d.Nodes) > ExactNodes || members > ExactMembers {
		return false, false
	}
	seated = s.seatPart(0)
	return seated, seated || s.steps > 0
}

// Interchangeable reports whether no check can tell any two members apart, and
// nothing but the node and its room decides where they go: then only their number
// matters.
func (t *GangTrial) Interchangeable() bool {
	if len(t.states) > 0 {
		return false
	}
	for m := range t.members {
		if t.shapes[m] != t.shapes[0] || len(t.members[m].ports) > 0 {
			return false
		}
	}
	return true
}

// Equal reports whether no built-in check can tell members apart, wherever they go
// together: they are alike and ask for no ports.
func Equal(members []*Member) bool {
	for _, m := range members {
		if len(m.ports) > 0 || m != members[0] && !m.alike(members[0]) {
			return false
		}
	}
	return true
}

// seating is a depth-first search over placements.
type seating struct {
	t      *GangTrial
	d      *Domain
	parts  []Part
	enough func([]bool) bool
	in     []bool // by part: seated, or not looked at yet and able to be
	steps  int
}

// optional reports whether enough does without some part that could be seated.
func (s *seating) optional() bool {
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
func (s *seating) seatAlike() bool {
	var members []MemberID
	for i, p := range s.parts {
		if s.in[i] && p.Need > 0 {
			members = append(members, p.Members[:p.Need]...)
		}
	}
	before := len(s.t.placed)
	for _, n := range s.d.Nodes {
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
func (s *seating) seatPart(k int) bool {
	if k == len(s.parts) {
		return s.enough(s.in)
	}
	if s.in[k] {
		var members []MemberID
		for _, shape := range s.t.byShape(s.parts[k].Members) {
			members = append(members, shape...)
		}
		regions := s.parts[k].Regions
		if regions == nil {
			regions = []Domain{*s.d}
		}
		for i := range regions {
			if s.seat(k, &regions[i], members, s.parts[k].Need, 0) {
				return true
			}
		}
		s.in[k] = false
		defer func() { s.in[k] = true }()
		if !s.enough(s.in) {
			return false
		}
	}
	return s.seatPart(k + 1)
}

// seat places need of the members of part k on nodes of d, equal ones side by side,
// then the parts after it. An equal member before the first went to the node at
// position from, or was left out if from is past the end: its equals need not try the
// nodes before.
func (s *seating) seat(k int, d *Domain, members []MemberID, need, from int) bool {
	if need == 0 {
		return s.seatPart(k + 1)
	}
	if len(members) < need || s.steps <= 0 {
		return false
	}
	s.steps--
	m := members[0]
	for at := from; at < len(d.Nodes); at++ {
		n := d.Nodes[at]
		if !s.t.CanPlace(m, n).OK() {
			continue
		}
		s.t.Place(m, n)
		if s.seat(k, d, members[1:], need-1, s.from(members, at)) {
			return true
		}
		s.t.Unplace()
	}
	return s.seat(k, d, members[1:], need, s.from(members, len(d.Nodes)))
}

// from is where the member after the first begins to look.
func (s *seating) from(members []MemberID, at int) int {
	if len(members) > 1 && s.t.shapes[members[0]] == s.t.shapes[members[1]] && len(s.t.states) == 0 {
		return at
	}
	return 0
}
