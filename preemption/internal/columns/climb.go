package columns

import (
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// climbed is how laying out the units of a node ended.
type climbed int

const (
	laidOut   climbed = iota
	notPlain          // a unit has several pods, and more to it than their number, or asks for more than lanes hold
	notPacked         // a unit asks for a part of a grain
)

// climb lays out the units of node n, but for the rooms.
func (l *NodeColumns) climb(n cluster.NodeID, at *positions) climbed {
	ix, units := l.us.Index(), l.us.On(n)
	l.resize(at, len(units))
	at.level, at.uneven, at.several, at.mixed, at.budgeted, at.elastic = at.level[:0], false, nil, false, false, false
	_, asks, started := l.parts(at.data, len(units))
	words := l.lanes.words
	for i, u := range units {
		unit := l.us.Unit(u)
		p, ask := unit.Pods[0], asks[i*words:][:words]
		switch {
		case len(unit.Pods) > 1:
			even, known := l.uniform(u)
			if !known || !l.lanes.packRequest(ask, l.requestOn(n, u)) {
				return notPlain
			}
			if at.mixed = at.mixed || !even; at.several == nil {
				at.several = new(PositionSet)
			}
			at.several.Add(victims.Position(i))
		case l.lanes.packRequest(ask, ix.Request(p)):
		case l.lanes.divides(ix.Request(p)): // more than any node offers: other lanes would not do either
			return notPlain
		default:
			return notPacked
		}
		at.level, started[i] = append(at.level, unit.Level), uint64(unit.Started)
		at.uneven = at.uneven || len(unit.Pods) == 1 && unit.Level != ix.Priority(p)
		at.elastic = at.elastic || unit.Elastic
		at.budgeted = at.budgeted || len(l.budgets.Of(p)) > 0
	}
	if at.uneven && at.several != nil {
		return notPlain
	}
	if at.uneven {
		for _, u := range units {
			at.level = append(at.level, ix.Priority(l.us.Unit(u).Pods[0]))
		}
	}
	return laidOut
}

// uniform reports whether nothing tells the pods of u apart when they are scored: even
// if all have its priority; known if besides that no budget covers one, and it goes
// whole.
func (l *NodeColumns) uniform(u victims.UnitID) (even, known bool) {
	unit := l.us.Unit(u)
	many := len(unit.Pods) > manyPods
	if formed := l.us.Formed(); l.formed != formed {
		clear(l.looked)
		l.formed = formed
	}
	if look, looked := l.looked[u]; many && looked {
		return look.even, look.known
	}
	even, known = true, !unit.Elastic
	for _, p := range unit.Pods {
		even = even && l.us.Index().Priority(p) == unit.Level
		known = known && len(l.budgets.Of(p)) == 0
	}
	if many {
		if l.looked == nil {
			l.looked = map[victims.UnitID]uniformity{}
		}
		l.looked[u] = uniformity{even, known}
	}
	return even, known
}

// uniformity is what uniform says of a unit of more than manyPods, which may be on many nodes.
type uniformity struct{ even, known bool }

const manyPods = 8

// requestOn returns the row of what the pods of u on node n ask for together; it is
// good until the next.
func (l *NodeColumns) requestOn(n cluster.NodeID, u victims.UnitID) []int64 {
	clear(l.asked)
	addRequests(l.asked, l.us, n, u, +1)
	return l.asked
}

// addRequests adds what the pods of u on node n ask for to row, or with sign -1 takes it off.
func addRequests(row []int64, us *victims.Units, n cluster.NodeID, u victims.UnitID, sign int64) {
	pods := us.Unit(u).Pods
	if here := us.Index().PodsOn(n); len(here) < len(pods) {
		pods = here
	}
	for _, p := range pods {
		if of, _ := us.UnitOf(p); of == u && us.Index().NodeOf(p) == n {
			for c, v := range us.Index().Request(p) {
				row[c] += sign * v
			}
		}
	}
}
