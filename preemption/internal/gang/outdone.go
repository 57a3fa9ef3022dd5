package gang

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// rival is the plan of another domain if a placement in this one is of no use that costs more; nil if
// it may be all the same, or if this domain may be one in which the gang finds no place.
func (a *attempt) rival() *Plan {
	if !a.full(a.Best) || a.q.Candidates || a.Each || !a.decides() || !a.ample() {
		return nil
	}
	return a.Best
}

// bar is the plan that a placement must not cost more than to be of use; nil if there is none.
func (a *attempt) bar() *Plan {
	if a.top == nil && !a.improves() {
		return a.against
	}
	return a.top
}

// decides reports whether the price of a placement decides on the plan that comes of it: the columns
// tell of all members, every unit is one pod, and the gang is one group.
func (a *attempt) decides() bool {
	return a.firstSeats().vacates && a.plain && len(a.q.Tree.Children) == 0
}

// ample reports whether it is known that every placer finds a place for all members: nothing but room keeps them off some nodes,
// and with every potential victim gone there is room on those for as many as they are, each as large as any
// of them in every resource.
func (a *attempt) ample() bool {
	if a.roomy == 0 {
		a.roomy = -1
		if a.Trial.OnlyRoom() && a.takesAll() {
			a.roomy = 1
		}
	}
	return a.roomy > 0
}

// mostAmple is how many shapes times nodes there may be where it is asked whether all have ample room: else that is not known.
const mostAmple = 1 << 23

func (a *attempt) takesAll() bool {
	var firsts []domain.MemberID // of each shape
	largest := make([]int64, a.q.Index.NumResources())
	for m := range domain.MemberID(len(a.q.Members)) {
		if a.Trial.Shape(m) != int(m) {
			continue
		}
		firsts = append(firsts, m)
		for r, v := range a.q.Members[m].Request() {
			largest[r] = max(largest[r], v)
		}
	}
	if len(firsts)*a.q.Index.NumNodes() > mostAmple {
		return false
	}
	left := a.domain.Nodes
	for slots := 0; ; {
		var nodes []cluster.NodeID
		var room []int // by position in nodes
		for ; slots < len(a.q.Members) && len(left) > 0; left = left[1:] {
			if k := a.slots(left[0], largest); k > 0 {
				nodes, room = append(nodes, left[0]), append(room, k)
				slots += k
			}
		}
		if slots < len(a.q.Members) {
			return false
		}
		for _, m := range firsts {
			for i, n := range nodes {
				if room[i] > 0 && !a.Trial.HasRoom(m, n) {
					slots, room[i] = slots-room[i], 0
				}
			}
		}
		if slots >= len(a.q.Members) {
			return true
		}
	}
}

// slots is how often row fits on node n with every potential victim gone; no more than there are members.
func (a *attempt) slots(n cluster.NodeID, row []int64) int {
	if a.row = a.row[:0]; a.Trial.Vacant(n) {
		a.row = a.firsts.Room(a.row, n)
	} else {
		a.row = append(a.row, a.Trial.Free(n)...)
	}
	slots := int64(len(a.q.Members))
	for r, v := range row {
		if v > 0 {
			slots = min(slots, max(a.row[r], 0)/v)
		}
	}
	return int(slots)
}

// dearer reports whether the members that are placed cost more than the best plan so
// far, as far as that can be told without giving anybody back.
func (a *attempt) dearer() bool {
	bar := a.bar()
	if bar == nil || !a.plain || !ask.ByPriceFirst.Leads(a.q.AllTraits()) || a.looksAtMembers() {
		return false
	}
	if seats := len(a.Trial.Placed()) - len(bar.Places); seats != 0 && !a.q.Fewest {
		return seats < 0
	}
	return a.anew().Total().Compare(priceOf(bar.Score)) > 0
}

// full reports whether nothing but the price of a plan is better than that of p: it seats everybody
// and violates no budget.
func (a *attempt) full(p *Plan) bool {
	return p != nil && len(p.Places) == len(a.q.Members) && p.Score.Violations == 0
}

// outdone reports whether all plans in the domain cost more than best: with everybody gone who is no
// more important than its victims there is too little room for all members.
func (a *attempt) outdone(best *Plan) bool {
	missing := a.seater.LeastOf(len(a.q.Members))
	lack := func(v int64) bool { return v > 0 }
	for _, n := range a.domain.Nodes {
		if !slices.ContainsFunc(missing, lack) {
			return false
		}
		for r, v := range a.q.Index.Free(n) {
			missing[r] -= max(v, 0)
		}
		for _, p := range a.q.Index.PodsOn(n) {
			if a.q.Index.Priority(p) <= best.Score.Highest {
				for r, v := range a.q.Index.Request(p)[:len(missing)] {
					missing[r] -= v
				}
			}
		}
	}
	return slices.ContainsFunc(missing, lack)
}

// placeUsefully is Place, which ends without a placement as soon as somebody has to go who is more
// important than the victims of the plan that it would have to be better than.
func (a *attempt) placeUsefully(placer domain.Placer) bool {
	if bar := a.bar(); a.full(bar) && a.decides() && a.ample() {
		a.Trial.Dear = func(n cluster.NodeID) bool { return a.lacks(n, bar.Score.Highest) }
	}
	placed := a.Place(a.domain, placer, a.prices(placer), a.q.Fewest)
	a.Trial.Dear, a.Trial.Vain = nil, false
	return placed
}

// lacks reports whether the members on node n have no room beside those potential victims who are more
// important than highest.
func (a *attempt) lacks(n cluster.NodeID, highest int32) bool {
	a.row = append(a.row[:0], a.Trial.Free(n)...)
	for _, u := range a.q.Evictable(n) {
		if p := a.q.Units.Unit(u).Pods[0]; a.q.Index.Priority(p) > highest {
			for r, v := range a.q.Index.Request(p)[:len(a.row)] {
				a.row[r] -= v
			}
		}
	}
	return slices.ContainsFunc(a.Trial.On(n), func(m domain.MemberID) bool {
		for r, v := range a.q.Members[m].Request() {
			if v > 0 && a.row[r] < 0 {
				return true
			}
		}
		return false
	})
}
