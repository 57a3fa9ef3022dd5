package domain

import (
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// OrderMatters reports whether members that fit one after the other may not fit in another order.
func (t *GangTrial) OrderMatters() bool {
	return slices.ContainsFunc(t.states, func(s State) bool {
		o, ok := s.(Orderer)
		return !s.Scope().Monotone || ok && o.OrderMatters()
	})
}

// Interchangeable reports whether no check can tell any two members apart, and nothing but the node and its room decides where they go:
// then only their number matters.
func (t *GangTrial) Interchangeable() bool { return t.OnlyRoom() && t.PlacersAgree() }

// PlacersAgree reports whether as many members find a place whoever chooses their nodes, as long as they are placed
// one after the other until nobody fits: nothing tells them apart, and how many a node takes is a matter of that
// node, but for one spread constraint. A place that it leaves open stays open until it is taken, since whoever is placed
// elsewhere can only raise the fewest, and counts where he is: so every order ends with the same numbers.
func (t *GangTrial) PlacersAgree() bool {
	for _, s := range t.states {
		spread, is := s.(*spreadState)
		if !s.Scope().NodeLocal && (!is || len(spread.plan.of[0]) != 1 || len(t.expected) > 0) {
			return false
		}
	}
	for m := range t.members {
		if !t.FitAlike(0, MemberID(m)) {
			return false
		}
	}
	return true
}

// SpreadOver is at most how many members a spread constraint lets onto nodes, where [GangTrial.PlacersAgree]; it may be less than
// that, and enough or more.
func (t *GangTrial) SpreadOver(nodes []cluster.NodeID, enough int64) int64 {
	at := slices.IndexFunc(t.states, func(s State) bool { _, is := s.(*spreadState); return is })
	if at < 0 {
		return enough
	}
	s := t.states[at].(*spreadState)
	own := s.plan.of[0][0]
	c, counts := &s.plan.constraints[own.constraint], s.counts.Tally(own.constraint)
	if !own.selfMatch || c.empty {
		return enough
	}
	rooms := make([]int64, 1+len(c.isDomain)) // where nobody counts, and by value: for so many members
	most := func() int64 { return rooms[0] + counts.Even(c.isDomain, rooms[1:], int64(c.maxSkew)) }
	for k, n := range nodes {
		if t.HasRoom(0, n) {
			rooms[1+c.domainOf[n]] += min(t.Slots(0, n), enough)
		}
		if k >= 64 && bits.OnesCount(uint(k)) == 1 && most() >= enough {
			break
		}
	}
	return most()
}

// Equals reports whether no built-in check can tell m and o apart, wherever they go
// together: they are alike and ask for no ports. A member that asks for ports does not equal itself.
func (m *Member) Equals(o *Member) bool {
	return len(m.Pod.Ports) == 0 && len(o.Pod.Ports) == 0 && (m == o || m.alike(o))
}
