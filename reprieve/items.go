package reprieve

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// item is what a search decides on: a unit, or a member of an elastic one.
type item struct {
	unit victims.UnitID
	pods []cluster.PodID
	part bool // a member: the unit goes on, or goes whole with all of its items
}

// itemize lists what is to be decided, in order. Members that do not matter to the
// trial stay unless their unit goes whole.
func (s *chooser) itemize() {
	s.items = make([]item, 0, len(s.order))
	for _, u := range s.order {
		unit := s.r.Units.Unit(u)
		if !unit.Elastic || s.r.Whole {
			s.items = append(s.items, item{unit: u, pods: unit.Pods})
			continue
		}
		s.parts = true
		members := s.r.Units.Members(u)
		if selective, ok := s.trial.(domain.Selective); ok {
			members = s.r.Units.Deciders(u, selective.Matters)
		}
		for i := range members {
			s.items = append(s.items, item{unit: u, pods: members[i : i+1], part: true})
		}
	}
}

// weighs is what an item adds to a cap at least.
func (s *chooser) weighs(bound Cap, it *item) int64 {
	switch {
	case !it.part:
		return bound.Weight(it.unit)
	case bound.Once || bound.Part == nil:
		return 0
	}
	return bound.Part(it.unit, it.pods)
}

// costs is what an item costs at least.
func (s *chooser) costs(it *item) int64 {
	switch {
	case s.Price == nil, it.part && (s.PriceFree || s.PricePart == nil):
		return 0
	case it.part:
		return s.PricePart(it.unit, it.pods)
	}
	return s.Price(it.unit)
}

// put returns the pods of item i, take removes them.
func (s *chooser) put(i int) {
	for _, p := range s.items[i].pods {
		s.trial.Return(p)
	}
}

func (s *chooser) take(i int) {
	for _, p := range s.items[i].pods {
		s.trial.Remove(p)
	}
}

// compareItems finds for each item those after it that are better evicted instead.
func (s *chooser) compareItems() {
	ix := s.r.Units.Index()
	on := map[cluster.NodeID][]int{} // items of one pod: others are not compared
	for i := range s.items {
		if len(s.items[i].pods) != 1 {
			continue
		}
		n := ix.NodeOf(s.items[i].pods[0])
		for _, j := range on[n][max(0, len(on[n])-compared):] {
			if s.instead(j, i) {
				s.better[j] = append(s.better[j], i)
			}
		}
		on[n] = append(on[n], i)
	}
}

// compared is with how many others of its node an item is compared at most.
const compared = 128

// instead reports whether any set in which item a is out and item b is not is as good
// with b out instead.
func (s *chooser) instead(a, b int) bool {
	if s.price[b] > s.price[a] {
		return false
	}
	for c := range s.Caps {
		if s.weight[c][b] > s.weight[c][a] {
			return false
		}
	}
	x, y := &s.items[a], &s.items[b]
	switch {
	case x.part != y.part:
		return false
	case !x.part:
		return s.Instead != nil && s.Instead(x.unit, y.unit)
	}
	us, p, q := s.r.Units, x.pods[0], y.pods[0]
	ix := us.Index()
	return x.unit == y.unit && s.AlikePods != nil && s.AlikePods(p, q) &&
		ix.GroupOf(p) == ix.GroupOf(q) && us.Leads(p) == us.Leads(q) && ix.Pod(p).Terminating == ix.Pod(q).Terminating
}

// whole says what the items that are out cost, and whether they will do: elastic
// units go on or go whole, within the caps.
func (s *chooser) whole() (cost int64, ok bool) {
	if !s.parts {
		return s.cost, true
	}
	used := make([]int64, len(s.Caps))
	for i := 0; i < len(s.items); {
		u, from := s.items[i].unit, i
		var out []cluster.PodID
		for ; i < len(s.items) && s.items[i].unit == u; i++ {
			if s.out[i] {
				out = append(out, s.items[i].pods...)
			}
		}
		if len(out) == 0 {
			continue
		}
		part, ok := s.part(u, out, s.items[from:i])
		if !ok {
			return 0, false
		}
		for c, bound := range s.Caps {
			if used[c] = checked.Add(used[c], bound.of(u, part)); used[c] > bound.Room {
				return 0, false
			}
		}
		cost = checked.Add(cost, s.pricePart(u, part))
	}
	return cost, true
}

// part is which pods of unit u go when out does, nil for all of them; ok is false
// if it neither goes on nor goes whole.
func (s *chooser) part(u victims.UnitID, out []cluster.PodID, items []item) (part []cluster.PodID, ok bool) {
	switch {
	case !items[0].part, len(out) == len(s.r.Units.Unit(u).Pods):
		return nil, true
	case s.r.Units.GoesOn(u, func(p cluster.PodID) bool { return !slices.Contains(out, p) }):
		return out, true
	}
	return nil, len(out) == len(items)
}

// of is what unit u adds to a cap if part of it goes; nil: all of it.
func (c *Cap) of(u victims.UnitID, part []cluster.PodID) int64 {
	if part == nil || c.Part == nil {
		return c.Weight(u)
	}
	return c.Part(u, part)
}

func (c *Choice) pricePart(u victims.UnitID, part []cluster.PodID) int64 {
	switch {
	case c.Price == nil:
		return 0
	case part == nil || c.PricePart == nil:
		return c.Price(u)
	}
	return c.PricePart(u, part)
}

// settle puts everybody back who is not in the best set.
func (s *chooser) settle() ([]victims.UnitID, Proof) {
	if s.best == nil {
		if s.stopped {
			return nil, Exhausted
		}
		return nil, Refuted
	}
	var list []victims.UnitID
	i := 0
	for _, u := range s.order {
		var out []cluster.PodID
		from := i
		for ; i < len(s.items) && s.items[i].unit == u; i++ {
			if s.best[i] {
				out = append(out, s.items[i].pods...)
			}
		}
		if len(out) == 0 {
			s.r.Return(s.trial, u)
			continue
		}
		list = append(list, u)
		if part, _ := s.part(u, out, s.items[from:i]); part != nil {
			s.r.restore(s.trial, u, part)
		}
	}
	if s.stopped {
		return list, FoundSome
	}
	return list, Found
}
