package reprieve

import (
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// item is what a search decides on: a unit, or a member of an elastic one.
type item struct {
	unit victims.UnitID
	pods []cluster.PodID
	part bool // a member: the unit goes on, or goes whole with all of its items

	out    []cluster.PodID // of the first member of a unit: the pods without whom
	goesOn bool            // it was asked last whether the unit goes on, and whether it does

	priced priced // of the first of a unit
}

// priced is what a unit adds to each cap of one search, and then to the price, where these pods go; below zero: it was not asked.
type priced struct {
	by   *chooser
	out  []cluster.PodID
	adds []int64
}

// of asks for one of them, unless it is known.
func (p *priced) of(at int, ask func() int64) int64 {
	if p.adds[at] < 0 {
		p.adds[at] = ask()
	}
	return p.adds[at]
}

// pricedOf is that of the unit whose items begin with it.
func (s *chooser) pricedOf(it *item, out []cluster.PodID) *priced {
	if p := &it.priced; p.by != s || !slices.Equal(p.out, out) {
		*p = priced{s, append(p.out[:0], out...), append(p.adds[:0], s.unasked...)}
	}
	return &it.priced
}

// itemize lists what is to be decided, in order. Members that do not matter to the
// trial stay unless their unit goes whole.
func (s *chooser) itemize(order []victims.UnitID) {
	s.items = make([]item, 0, len(order))
	for _, u := range order {
		unit := s.r.Units.Unit(u)
		if !unit.Elastic || s.r.Whole {
			s.items = append(s.items, item{unit: u, pods: s.r.here(u)})
			continue
		}
		s.parts = true
		members := s.r.decides(s.trial, u)
		s.items = slices.Grow(s.items, len(members))
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

// kind is equal for items of which one may stand for another: single pods on one node, or pods of one
// elastic unit; below zero for the others.
func (s *chooser) kind(i int) int {
	if i >= len(s.items) {
		return -1
	}
	it, ix := &s.items[i], s.r.Units.Index()
	switch pods := s.r.Units.Unit(it.unit).Pods; {
	case it.part && s.AlikePods != nil:
		return ix.NumNodes() + int(it.unit)
	case it.part || s.Instead == nil || len(pods) != 1:
		return -1
	default:
		return int(ix.NodeOf(pods[0]))
	}
}

// alike reports whether any set in which item a is out and item b, of its kind, is not is as good
// with b out instead, as far as prices and caps do not tell.
func (s *chooser) alike(a, b int) bool {
	x, y := &s.items[a], &s.items[b]
	if !x.part {
		return s.Instead(x.unit, y.unit)
	}
	us, p, q := s.r.Units, x.pods[0], y.pods[0]
	ix := us.Index()
	return s.AlikePods(p, q) && ix.GroupOf(p) == ix.GroupOf(q) && us.Leads(p) == us.Leads(q) && ix.Pod(p).Terminating == ix.Pod(q).Terminating
}

// whole says what the items that are out cost, fines included, and whether they will do:
// elastic units go on or go whole, within the caps.
func (s *chooser) whole(chosen []bool) (cost int64, ok bool) {
	s.moved += len(s.items) * (1 + len(s.Caps))
	s.used = slices.Grow(s.used[:0], len(s.Caps))[:len(s.Caps)]
	clear(s.used)
	used, price := s.used, len(s.Caps)
	if s.unasked == nil {
		s.unasked = slices.Repeat([]int64{-1}, price+1)
	}
	seen := kinds{of: s.kinOf()}
	for i := 0; i < len(s.items); {
		u, from := s.items[i].unit, i
		out := s.pods[:0]
		for ; i < len(s.items) && s.items[i].unit == u; i++ {
			if chosen[i] {
				out = append(out, s.items[i].pods...)
			}
		}
		if s.pods = out; len(out) == 0 {
			continue
		}
		part, ok := s.part(u, out, s.items[from:i])
		if !ok {
			return 0, false
		}
		first, priced := seen.first(u), s.pricedOf(&s.items[from], out)
		for c, bound := range s.Caps {
			if first || bound.Kin == nil {
				used[c] = checked.Add(used[c], priced.of(c, func() int64 { return bound.of(u, part) }))
			}
			if used[c] > bound.Room && bound.Fine == 0 {
				return 0, false
			}
		}
		if first || s.PriceKin == nil {
			cost = checked.Add(cost, priced.of(price, func() int64 { return s.pricePart(u, part) }))
		}
	}
	for c, bound := range s.Caps {
		if bound.Fine > 0 && used[c] > bound.Room {
			cost = checked.Add(cost, checked.Mul(used[c]-bound.Room, bound.Fine))
		}
	}
	return cost, true
}

// part is which pods of unit u go when out does, nil for all of them; ok is false
// if it neither goes on nor goes whole.
func (s *chooser) part(u victims.UnitID, out []cluster.PodID, items []item) (part []cluster.PodID, ok bool) {
	first := &items[0]
	switch {
	case !first.part, len(out) == len(s.r.Units.Unit(u).Pods):
		return nil, true
	case !slices.Equal(out, first.out):
		first.out, first.goesOn = append(first.out[:0], out...), s.r.goesOn(u, slices.Values(out))
	}
	if first.goesOn {
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

// out lists the units of which some items are chosen, and the pods of those that go in part. Both are good until the next call.
func (s *chooser) out(chosen []bool) (list []victims.UnitID, _ victims.Parts) {
	list, s.pods = s.list[:0], s.pods[:0]
	clear(s.some)
	defer func() { s.list = list }()
	for i := 0; i < len(s.items); {
		if it := &s.items[i]; !it.part {
			if chosen[i] && len(it.pods) > 0 {
				list = append(list, it.unit)
			}
			i++
			continue
		}
		u, from, before := s.items[i].unit, i, len(s.pods)
		for ; i < len(s.items) && s.items[i].unit == u; i++ {
			if chosen[i] {
				s.pods = append(s.pods, s.items[i].pods...)
			}
		}
		out := s.pods[before:]
		if len(out) == 0 {
			continue
		}
		list = append(list, u)
		if part, _ := s.part(u, out, s.items[from:i]); part != nil {
			if s.some == nil {
				s.some = victims.Parts{}
			}
			s.some[u] = part
		}
	}
	return list, s.some
}

// settle puts everybody back who is not chosen, and lists the others.
func (s *chooser) settle(order []victims.UnitID, chosen []bool) (list []victims.UnitID) {
	i := 0
	for _, u := range order {
		var out []cluster.PodID
		from := i
		for ; i < len(s.items) && s.items[i].unit == u; i++ {
			if chosen[i] {
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
	return list
}
