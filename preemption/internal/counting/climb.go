package counting

import (
	"github.com/preempt-go/preempt/domain"
)

// ClimbNodes is how many nodes a member is tried on when it is moved.
const ClimbNodes = 32

// climbs reports whether placements around the best are looked at.
func (t *attempt) climbs() bool { return t.Improves && t.potential <= t.Checks/t.shares }

// climb moves members of the best plan to other nodes, one of a node's or all of
// them, as long as that helps and the checks for it last.
func (t *attempt) climb() {
	budget := t.Checks / t.shares
	targets := t.cheapest[:min(ClimbNodes, len(t.cheapest))]
	for {
		from := t.top
		if !t.moveOne(from, targets, &budget) {
			return
		}
	}
}

// moveOne tries the moves away from plan from, and stops at the first that helps.
func (t *attempt) moveOne(from *draft, targets []nodeCost, budget *int) bool {
	for i := range from.spots {
		for _, to := range targets {
			if to.at == from.spots[i].at {
				continue
			}
			moves := []int32{1, from.spots[i].k}
			for _, k := range moves[:min(2, from.spots[i].k)] {
				if *budget <= 0 {
					return false
				}
				if t.tryMove(from, i, k, to.at, budget) {
					return true
				}
			}
		}
	}
	return false
}

// tryMove evaluates the plan from with k of the members of its i-th node on another
// one, and reports whether that is better.
func (t *attempt) tryMove(from *draft, i int, k, to int32, budget *int) bool {
	t.goOn()
	*budget -= len(from.seq) + t.potential/8
	if int64(from.on(to)+k) > t.slots[to] {
		return false
	}
	var price domain.Price
	if !t.joint {
		if price = t.movedPrice(from, i, k, to); price.Compare(t.top.price) > 0 {
			return false
		}
	}
	t.seq = append(t.seq[:0], from.seq...)
	left := k
	for j, at := range t.seq {
		if at == from.spots[i].at && left > 0 {
			t.seq[j] = to
			left--
		}
	}
	if t.joint {
		if p := t.weigh(t.seq); p != nil {
			t.consider(p)
		}
		return t.top != from
	}
	p := t.draft(t.seq)
	p.price = price
	for j := range p.spots {
		p.spots[j].cost = t.cost(p.spots[j].at, p.spots[j].k)
	}
	t.consider(p)
	return t.top != from
}

// movedPrice is what the plan costs that tryMove evaluates, where every unit is one pod.
func (t *attempt) movedPrice(from *draft, i int, k, to int32) domain.Price {
	price := domain.Free
	for j, s := range from.spots {
		if s.at != to && j != i {
			price.Add(s.cost.Price())
		}
	}
	if s := from.spots[i]; s.k > k {
		price.Add(t.cost(s.at, s.k-k).Price())
	}
	price.Add(t.cost(to, from.on(to)+k).Price())
	return price
}
