package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// potential returns the units with a pod in d that may be evicted, in no order.
// Units of the gang itself are not among them.
func (s *gangSearch) potential(d *domain.Domain) []victims.UnitID {
	most := 0
	for _, n := range d.Nodes {
		most += len(s.units.On(n))
	}
	list := make([]victims.UnitID, 0, most)
	s.lists++
	for _, n := range d.Nodes {
		list = s.addFrom(list, n)
	}
	if s.tree.ID == cluster.NoGroup {
		return list
	}
	return slices.DeleteFunc(list, func(u victims.UnitID) bool { return s.ownUnit(s.units.Unit(u)) })
}

// addFrom appends the potential victims on node n that are not in the list yet.
func (s *gangSearch) addFrom(list []victims.UnitID, n cluster.NodeID) []victims.UnitID {
	for _, u := range s.evictable(n) {
		if s.seen[u] != s.lists {
			s.seen[u] = s.lists
			list = append(list, u)
		}
	}
	return list
}

// plain reports whether what has to go on a node is a matter of that node alone, and
// is priced as it is scored: every unit is one pod of its own priority.
func (s *gangSearch) plain(list []victims.UnitID) bool {
	if len(s.states) > 0 {
		return false
	}
	for _, u := range list {
		if unit := s.units.Unit(u); len(unit.Pods) > 1 || unit.Priority != s.ix.Priority(unit.Pods[0]) {
			return false
		}
	}
	return true
}

// ownUnit reports whether unit holds running pods of the gang.
func (q *question) ownUnit(unit *victims.Unit) bool {
	g := q.ix.GroupOf(unit.Pods[0])
	if g == cluster.NoGroup || q.tree.ID == cluster.NoGroup {
		return false
	}
	for ; g != cluster.NoGroup; g = q.ix.Group(g).Parent {
		if g == q.tree.ID {
			return true
		}
	}
	return false
}

// budgeted returns those of potential that a budget covers, most important first.
func (s *gangSearch) budgeted(potential []victims.UnitID) []victims.UnitID {
	var list []victims.UnitID
	for _, u := range potential {
		for _, p := range s.units.Unit(u).Pods {
			if len(s.budgets.Of(p)) > 0 {
				list = append(list, u)
				break
			}
		}
	}
	return s.units.Sorted(list)
}
