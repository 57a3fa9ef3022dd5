package domain

import "slices"

// OrderMatters reports whether members that fit one after the other may not fit in another order.
func (t *GangTrial) OrderMatters() bool {
	return slices.ContainsFunc(t.states, func(s State) bool {
		o, ok := s.(Orderer)
		return !s.Scope().Monotone || ok && o.OrderMatters()
	})
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

// Equals reports whether no built-in check can tell m and o apart, wherever they go
// together: they are alike and ask for no ports. A member that asks for ports does not equal itself.
func (m *Member) Equals(o *Member) bool {
	return len(m.ports) == 0 && len(o.ports) == 0 && (m == o || m.alike(o))
}
