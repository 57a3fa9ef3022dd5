package domain

// The sizes up to which SeatExact looks at every placement.
const (
	ExactNodes   = 8
	ExactMembers = 8
)

// maxSeatSteps bounds a SeatExact whose members differ in many ways.
const maxSeatSteps = 1 << 20

// SeatExact places need of members on nodes of d if any placement of that many
// exists. It returns whether it did, and whether the answer is proved: it is when
// no more than ExactNodes nodes and ExactMembers members are to be looked at, or
// all members are alike and nothing but room decides.
func (t *GangTrial) SeatExact(d *Domain, members []MemberID, need int) (seated, proved bool) {
	if need <= 0 {
		return true, true
	}
	if len(t.states) == 0 && t.uniform(members) {
		return t.seatUniform(d, members, need), true
	}
	if len(d.Nodes) > ExactNodes || len(members) > ExactMembers {
		return false, false
	}
	s := seating{t: t, d: d, steps: maxSeatSteps}
	for _, shape := range t.byShape(members) {
		s.members = append(s.members, shape...)
	}
	seated = s.seat(0, need, 0)
	return seated, seated || s.steps > 0
}

// uniform reports whether members are alike and ask for no host port.
func (t *GangTrial) uniform(members []MemberID) bool {
	for _, m := range members {
		if t.shapes[m] != t.shapes[members[0]] || len(t.members[m].ports) > 0 {
			return false
		}
	}
	return true
}

// seatUniform fills node after node with equal members: exact, since only their
// number matters.
func (t *GangTrial) seatUniform(d *Domain, members []MemberID, need int) bool {
	before := len(t.placed)
	next := 0
	for _, n := range d.Nodes {
		for next < need && t.CanPlace(members[next], n).OK() {
			t.Place(members[next], n)
			next++
		}
	}
	if next < need {
		t.UnplaceTo(before)
	}
	return next == need
}

// seating is a depth-first search over placements.
type seating struct {
	t       *GangTrial
	d       *Domain
	members []MemberID // equal ones side by side
	steps   int
}

// seat places need of the members from i on. An equal member before i went to the
// node at position from, or was left out if from is past the end: its equals need
// not try the nodes before that.
func (s *seating) seat(i, need, from int) bool {
	if need == 0 {
		return true
	}
	if len(s.members)-i < need || s.steps <= 0 {
		return false
	}
	s.steps--
	m := s.members[i]
	for at := from; at < len(s.d.Nodes); at++ {
		n := s.d.Nodes[at]
		if !s.t.CanPlace(m, n).OK() {
			continue
		}
		s.t.Place(m, n)
		if s.seat(i+1, need-1, s.from(i, at)) {
			return true
		}
		s.t.Unplace()
	}
	return s.seat(i+1, need, s.from(i, len(s.d.Nodes)))
}

// from is where the member after i begins to look.
func (s *seating) from(i, at int) int {
	if i+1 < len(s.members) && s.t.shapes[s.members[i+1]] == s.t.shapes[s.members[i]] && len(s.t.states) == 0 {
		return at
	}
	return 0
}
