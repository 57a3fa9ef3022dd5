package domain

import "slices"

// OrderMatters reports whether members that fit one after the other may not fit in another order.
func (t *GangTrial) OrderMatters() bool {
	return slices.ContainsFunc(t.states, func(s State) bool {
		o, ok := s.(Orderer)
		return !s.Scope().Monotone || ok && o.OrderMatters()
	})
}

// anyShape reports whether ok holds for the first member of any shape.
func (t *GangTrial) anyShape(ok func(MemberID) bool) bool {
	for m := range t.members {
		if t.shapes[m] == m && ok(MemberID(m)) {
			return true
		}
	}
	return false
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
