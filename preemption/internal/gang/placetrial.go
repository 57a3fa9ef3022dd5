package gang

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// placeTrial tries who may stay on a place beside members, as far as constraints and ports decide: numbers tell of room. Everybody is
// out of the trial before and after.
type placeTrial struct {
	*allotting
	at  *place
	who []int // items of the place, of which the trial tells
}

// enter puts those back who stay on p, and the members of a mix there until one has no place, and
// returns how many have one.
func (t *placeTrial) enter(p *place, mix int) (seats int) {
	t.at, t.who = p, p.eligible()
	t.stay(t.Trial.Return)
	defer t.Trial.Fits() // yes; it wants to be asked
	for i, shape := range t.shapes {
		for _, m := range shape[:p.mixes.Count(mix, i)] {
			if !t.Trial.CanPlace(m, p.node).OK() {
				return seats
			}
			t.Trial.Place(m, p.node)
			seats++
		}
	}
	return seats
}

// leave takes back what enter has done.
func (t *placeTrial) leave() {
	t.Trial.UnplaceTo(0)
	t.stay(t.Trial.Remove)
	t.Trial.Settle()
}

// stay moves the pods of those who stay.
func (t *placeTrial) stay(move func(cluster.PodID)) {
	each(t.at.stays, move)
	for i := range t.at.items {
		if t.at.items[i].number > t.at.level {
			each(t.at.items[i].pods, move)
		}
	}
}

func each(pods []cluster.PodID, move func(cluster.PodID)) {
	for _, p := range pods {
		move(p)
	}
}

// Return puts back one who may go.
func (t *placeTrial) Return(i int) { each(t.at.items[t.who[i]].pods, t.Trial.Return) }

// Remove takes one out again.
func (t *placeTrial) Remove(i int) { each(t.at.items[t.who[i]].pods, t.Trial.Remove) }

// May reports whether the members fit beside those who are back: with fewer they do, too.
func (t *placeTrial) May() bool { return t.Trial.Fits().OK() }

// Will reports whether they fit beside all who are not chosen.
func (t *placeTrial) Will(chosen, returned []bool, price int64) (int64, bool) {
	others := func(move func(i int)) {
		for i := range chosen {
			if !chosen[i] && !returned[i] {
				move(i)
			}
		}
	}
	others(t.Return)
	ok := t.Trial.Fits().OK()
	others(t.Remove)
	return price, ok
}

// spares reports whether they fit without the chosen item i gone, too.
func (t *placeTrial) spares(chosen []bool, i int) bool {
	without := slices.Clone(chosen)
	without[i] = false
	_, ok := t.Will(without, make([]bool, len(chosen)), 0)
	return ok
}
