package gang

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Potential returns the units with a pod in d that may be evicted, in no order.
// Units of the gang itself are not among them.
func (s *Search) Potential(d *domain.Domain) []victims.UnitID {
	s.prepare()
	return s.potentialOn(d.Nodes)
}

func (s *Search) potentialOn(nodes []cluster.NodeID) []victims.UnitID {
	most := 0
	for _, n := range nodes {
		most += len(s.q.Units.On(n))
	}
	list := make([]victims.UnitID, 0, most)
	s.lists++
	for _, n := range nodes {
		list = s.addFrom(list, n)
	}
	if s.q.Tree.ID == cluster.NoGroup {
		return list
	}
	return slices.DeleteFunc(list, func(u victims.UnitID) bool { return s.q.Own(s.q.Units.Unit(u)) })
}

// addFrom appends the potential victims on node n that are not in the list yet.
func (s *Search) addFrom(list []victims.UnitID, n cluster.NodeID) []victims.UnitID {
	for _, u := range s.q.Evictable(n) {
		if s.seen[u] != s.lists {
			s.seen[u] = s.lists
			list = append(list, u)
		}
	}
	return list
}

// plain reports whether what has to go on a node is a matter of that node alone, and
// is priced as it is scored: every unit is one pod of its own priority, and no order of one's own says which is the highest.
func (s *Search) plain(list []victims.UnitID) bool {
	if s.q.Units.OwnOrder() {
		return false
	}
	for _, u := range list {
		if unit := s.q.Units.Unit(u); len(unit.Pods) > 1 || unit.Priority != s.q.Index.Priority(unit.Pods[0]) {
			return false
		}
	}
	return true
}

// budgeted returns those of potential that a budget covers, most important first.
func (s *Search) budgeted(potential []victims.UnitID) []victims.UnitID {
	if s.q.Budgets.None() {
		return nil
	}
	var list []victims.UnitID
	for _, u := range potential {
		if w := s.q.Wholes().Of(u); w != nil {
			if len(w.Budgets) > 0 {
				list = append(list, u)
			}
			continue
		}
		for _, p := range s.q.Units.Unit(u).Pods {
			if len(s.q.Budgets.Of(p)) > 0 {
				list = append(list, u)
				break
			}
		}
	}
	return s.q.Units.Sorted(list)
}
