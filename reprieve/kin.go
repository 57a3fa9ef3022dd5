package reprieve

import (
	"github.com/preempt-go/preempt/internal/cover"
	"github.com/preempt-go/preempt/victims"
)

// kinds tells which unit is the first of its kind.
type kinds struct {
	of   func(victims.UnitID) int // nil: every unit is
	seen map[int]bool
}

func (k *kinds) first(u victims.UnitID) bool {
	if k.of == nil {
		return true
	}
	kind := k.of(u)
	if kind < 0 {
		return true
	}
	if k.seen == nil {
		k.seen = map[int]bool{}
	}
	defer func() { k.seen[kind] = true }()
	return !k.seen[kind]
}

// kin are items that add together what one of them does. To a problem, which knows sums
// alone, they are two items more: touched, which adds it, and spared, with which none of them
// may be chosen. A row asks for one of the two.
type kin struct {
	items   []int
	touched int // spared is the next
}

// kinOf says which units are kin, for the price or a cap; nil: none.
func (s *chooser) kinOf() func(victims.UnitID) int {
	of := s.PriceKin
	for _, c := range s.Caps {
		if c.Kin != nil {
			of = c.Kin
		}
	}
	return of
}

// relate adds the items, rows and sides of kin to p, whose prices and sides are those of items
// by themselves. An item that is a member is of no kin.
func (s *chooser) relate(p *cover.Problem) {
	of := s.kinOf()
	if of == nil {
		return
	}
	at := map[int]int{}
	for i := range s.items {
		kind := of(s.items[i].unit)
		if kind < 0 || s.items[i].part {
			continue
		}
		k, known := at[kind]
		if !known {
			k = len(s.kin)
			at[kind], s.kin = k, append(s.kin, kin{touched: len(p.Price) + 2*k})
		}
		s.kin[k].items = append(s.kin[k].items, i)
	}
	n := len(p.Price) + 2*len(s.kin)
	move := func(amounts []int64, shared bool) []int64 { // from the items to touched
		wide := make([]int64, n)
		copy(wide, amounts)
		for _, k := range s.kin {
			if shared {
				wide[k.touched] = wide[k.items[0]]
				for _, i := range k.items {
					wide[i] = 0
				}
			}
		}
		return wide
	}
	p.Items, p.Price = n, move(p.Price, s.PriceKin != nil)
	for c := range p.Sides {
		if s.Caps[c].Kin != nil {
			p.Sides[c].Weight = cover.RowOf(move(s.weights(s.Caps[c]), true))
		}
	}
	for _, k := range s.kin {
		side := cover.Side{Fine: cover.Hard, Room: int64(len(k.items))}
		p.Need, p.Frees = append(p.Need, 1), append(p.Frees, cover.Row{{Item: k.touched, Amount: 1}, {Item: k.touched + 1, Amount: 1}})
		for _, i := range k.items {
			side.Weight = append(side.Weight, cover.Cell{Item: i, Amount: 1})
		}
		side.Weight = append(side.Weight, cover.Cell{Item: k.touched + 1, Amount: side.Room})
		p.Sides = append(p.Sides, side)
	}
}

// withKin says of each kin whether a set of items touches it.
func (s *chooser) withKin(set []bool) []bool {
	for _, k := range s.kin {
		if set == nil {
			break
		}
		set[k.touched+1] = true
		for _, i := range k.items {
			if set[i] {
				set[k.touched], set[k.touched+1] = true, false
			}
		}
	}
	return set
}
