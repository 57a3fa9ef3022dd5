package gang

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// rival is the plan of another domain if a placement in this one is of no use that costs more; nil if
// it may be all the same, or if this domain may be one in which the gang finds no place. Members whom
// nothing tells apart are counted, which stands for trials in all domains.
func (a *attempt) rival() *Plan {
	if !a.full(a.Best) || a.q.Candidates || a.Each || a.Trial.Interchangeable() || !a.decides() || !a.ample() {
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
	slots := 0
	for _, n := range a.domain.Nodes {
		keepsOff := func(m domain.MemberID) bool { return !a.Trial.Admits(m, n) }
		if k := a.slots(n, largest); k > 0 && !slices.ContainsFunc(firsts, keepsOff) {
			slots += k
		}
		if slots >= len(a.q.Members) {
			return true
		}
	}
	return false
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
func (s *Search) full(p *Plan) bool {
	return p != nil && len(p.Places) == len(s.q.Members) && p.Score.Violations == 0
}

// outdone reports whether all plans in the domain cost more than best.
func (a *attempt) outdone(best *Plan) bool {
	p := a.promise(best.Score.Highest)
	return p.highest > int64(best.Score.Highest) || p.highest == int64(best.Score.Highest) && p.sum > best.Score.Sum
}

// promise is what every plan in a domain costs at least.
type promise struct {
	known   bool
	highest int64 // with everybody gone who is less important there is too little room for all members; see [domain.Price]
	sum     int64 // where nobody goes who is more important
}

func (p promise) compare(o promise) int {
	return cmp.Or(cmp.Compare(p.highest, o.highest), cmp.Compare(p.sum, o.sum))
}

// promise is that of the domain, math.MaxInt64 where somebody has to go who is more important than most. It is kept for who asks with less.
func (a *attempt) promise(most int32) promise {
	if len(a.promises) > 0 && a.promises[a.turn].known {
		return a.promises[a.turn]
	}
	missing := a.seater.LeastOf(len(a.q.Members))
	a.freeing = a.freeing[:0] // what each frees, behind its priority
	for _, n := range a.domain.Nodes {
		lower(missing, a.q.Index.Free(n))
		if units, simple := a.q.Columns.NumBelow(n, most+1); simple {
			a.freeing = a.q.Columns.Asks(a.freeing, n, units)
			continue
		}
		for _, u := range a.upTo(n, most) {
			unit := a.q.Units.Unit(u)
			a.freeing = append(append(a.freeing, int64(unit.Priority)), a.q.Index.Request(unit.Pods[0])[:len(missing)]...)
		}
	}
	freed := map[int32][]int64{} // by priority of who frees it, and behind that by how many
	var at []int64
	var of int32
	for one := range slices.Chunk(a.freeing, 1+len(missing)) {
		if at == nil || one[0] != int64(of) {
			of = int32(one[0])
			if at = freed[of]; at == nil {
				at = make([]int64, len(missing)+1)
				freed[of] = at
			}
		}
		for r, v := range one[1:] {
			at[r] = checked.Add(at[r], v)
		}
		at[len(missing)]++
	}
	lacks := func(missing []int64) bool { return slices.Max(missing) > 0 }
	p, left := promise{known: true, highest: math.MinInt64}, slices.Clone(missing)
	priorities := slices.Sorted(maps.Keys(freed))
	for _, level := range priorities {
		if !lacks(left) {
			break
		}
		lower(left, freed[level])
		p.highest = int64(level)
	}
	if lacks(left) {
		p.highest = math.MaxInt64
	} else if lacks(missing) {
		units := a.fewest(missing, p.highest)
		for _, level := range priorities { // the least important of them
			of := min(units, freed[level][len(missing)])
			p.sum += of * priority.Raised(level)
			units -= of
		}
	}
	if len(a.promises) > 0 {
		a.promises[a.turn] = p
	}
	return p
}

// fewest bounds from below how many have to go who are no more important than highest: as many as would if whoever asks
// for most of a resource went first.
func (a *attempt) fewest(missing []int64, highest int64) (units int64) {
	for r, left := range missing {
		if left <= 0 {
			continue
		}
		a.row = a.row[:0]
		for one := range slices.Chunk(a.freeing, 1+len(missing)) {
			if one[0] <= highest {
				a.row = append(a.row, one[1+r])
			}
		}
		slices.Sort(a.row)
		freed := 0 // by so many
		for ; left > 0 && freed < len(a.row); freed++ {
			left -= a.row[len(a.row)-1-freed]
		}
		units = max(units, int64(freed))
	}
	return units
}

// sortTurns lets domains be looked at first that promise most, now that there is a full plan: the
// others are outdone then, if price decides. Nothing is told of each domain that depends on the order.
func (s *Search) sortTurns(turns []int, domains []domain.Domain) {
	if len(turns) < 2 || s.Counting != nil || s.q.Effort != ask.Greedy || s.q.Candidates || s.Each || s.Trial.Interchangeable() ||
		!s.firstSeats().vacates || len(s.q.Tree.Children) > 0 || !s.Trial.OnlyRoom() {
		return
	}
	s.promises = make([]promise, len(domains))
	for _, s.turn = range turns {
		s.q.GoOn()
		a := attempt{Search: s, domain: &domains[s.turn]}
		a.promise(s.Best.Score.Highest)
	}
	slices.SortStableFunc(turns, func(i, j int) int { return s.promises[i].compare(s.promises[j]) })
}

// lower takes room from what is missing of each resource.
func lower(missing, room []int64) {
	for r, v := range missing {
		if v > 0 {
			missing[r] -= max(room[r], 0)
		}
	}
}

// upTo are the potential victims on node n who are no more important than highest, where a placement's price decides.
func (a *attempt) upTo(n cluster.NodeID, highest int32) []victims.UnitID {
	return a.q.Units.Potential(n, highest+1)
}

// placeUsefully is Place, which ends without a placement as soon as somebody has to go who is more
// important than the victims of the plan that it would have to be better than.
func (a *attempt) placeUsefully(placer domain.Placer) bool {
	if bar := a.bar(); a.full(bar) && a.decides() && (a.ample() || bar == a.top && a.seater.PlacersAgree()) {
		a.Trial.Dear = func(n cluster.NodeID) bool { return a.lacks(n, bar.Score.Highest) }
	}
	placed := a.Place(a.domain, placer, a.prices(placer), a.q.Fewest)
	a.Trial.Dear, a.Trial.Vain = nil, false
	return placed
}

// lacks reports whether the members on node n have no room beside those potential victims who are more
// important than highest.
func (a *attempt) lacks(n cluster.NodeID, highest int32) bool {
	a.row = append(a.row[:0], a.Trial.AtHome(n)...)
	for _, u := range a.upTo(n, highest) {
		for r, v := range a.q.Index.Request(a.q.Units.Unit(u).Pods[0])[:len(a.row)] {
			a.row[r] += v
		}
	}
	for _, m := range a.Trial.On(n) {
		for r, v := range a.q.Members[m].Request()[:len(a.row)] {
			a.row[r] -= v
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
