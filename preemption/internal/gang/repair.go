package gang

import (
	"maps"
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// choose looks for victims that keep within the bounds, or are cheapest, where the members were placed first: out, the greedy ones, do not or
// may not be. Without any, everybody may be in any place.
func (a *attempt) choose(first []domain.Assignment, violating []reprieve.Charged, rest []victims.UnitID, out reprieve.Outcome) (reprieve.Outcome, domain.Reason) {
	a.over = a.overruns(out.Victims)
	if len(a.over) == 0 && (a.q.Effort == ask.Greedy || a.spent() || a.late > mostLate) {
		return out, domain.Reason{}
	}
	if a.greedy = slices.Clone(out.Victims); len(a.over) > 0 && (a.late > mostLate || a.over[0].Together && a.q.NobodyLands(first)) {
		return out, ask.Beyond(a.over, reprieve.Exhausted)
	}
	if a.q.Given == nil && a.pastPods(a.over) {
		return out, ask.Beyond(a.over, reprieve.Refuted)
	}
	var from reprieve.Least
	if len(a.over) == 0 {
		from = reprieve.Least{Victims: append([]victims.UnitID{}, out.Victims...), Parts: maps.Clone(a.Runner.Parts())}
	}
	a.Trial.Mobile = false
	a.Trial.UnplaceTo(0)
	a.Trial.PlaceAll(first)
	a.steps = nil
	tellRest := a.tellAll(append(units(violating), rest...), true)
	if a.q.Mobile || a.q.Lowest {
		violating, rest = a.byViolations(a.q.Units.Sorted(a.around(nil)))
		a.leaveOut(append(units(violating), rest...), &from)
	}
	all := append(units(violating), rest...)
	for _, u := range all {
		if !a.out(u) {
			a.Runner.Remove(a.Trial, u)
		}
	}
	a.Trial.Settle()
	if a.q.Trace && (!a.q.Mobile || a.q.Given != nil) {
		a.notePlaces(0)
	}
	a.Stats.Searched++
	w := a.q.Within(all, a.Runner, a.Trial.Assignments)
	a.shareSteps(&w)
	if a.begins++; w.Steps == 0 {
		a.late += len(all)
		a.Proved = a.Proved && a.late <= mostLate
	}
	if a.q.Effort == ask.Greedy {
		trial := domain.Trial(a.Trial)
		if a.q.Hard == nil { // numbers tell soon that limits are too low; of many budgets they say little for what they take
			trial = seating.NewRows(a.Trial)
		}
		a.Runner.Enough = a.timesSince(a.work())
		out, proof := a.Runner.GiveBackWithin(trial, violating, rest, w)
		tellRest()
		a.Runner.Enough = nil
		return a.judge(out, proof)
	}
	aims, known := a.q.Aims(a.Runner, all, violating), a.q.Known(all)
	l := a.Runner.Least(seating.NewRows(a.Trial), violating, rest, from, w, aims, nil)
	if a.q.Given != nil { // nobody goes elsewhere
		a.proved, a.bound = l.Proof == reprieve.Found && known == len(aims), l.Bound[:min(known, len(l.Bound))]
	}
	if l.Victims != nil {
		out = a.Runner.Told(a.Trial, l.Victims, violating, rest)
		tellRest()
	}
	return a.judge(out, l.Proof)
}

// leaveOut takes those out for good who are in part, and off a set of victims, but are not among all who matter to members where they are.
func (a *attempt) leaveOut(all []victims.UnitID, from *reprieve.Least) {
	here := make(map[victims.UnitID]bool, len(all))
	for _, u := range all {
		here[u] = true
	}
	elsewhere := func(u victims.UnitID) bool { return !here[u] }
	from.Victims = slices.DeleteFunc(from.Victims, elsewhere)
	maps.DeleteFunc(from.Parts, func(u victims.UnitID, _ []cluster.PodID) bool { return elsewhere(u) })
	for u := range maps.Clone(a.Runner.Parts()) {
		if elsewhere(u) {
			a.Runner.Remove(a.Trial, u)
		}
	}
}

// overruns are those of victims where the members are placed as they are.
func (a *attempt) overruns(list []victims.UnitID) []ask.Excess {
	return a.q.OverrunsAt(a.Trial.Assignments(), list, a.Runner.Parts())
}

// begun is how many steps it is to begin a search after so many that are free; mostLate how many units may stay out in all begun without any.
const begun, free, mostLate = 128, 1 << 9, 1 << 11

// shareSteps leaves a search what the domain has left of its share of the steps, and no first bounds once they are gone beyond by a search.
func (a *attempt) shareSteps(w *reprieve.Within) {
	left := a.near.Steps(a.potential, a.stepsLeft(w.Steps), nil)
	if taken := checked.Mul(int64(a.Runner.Decided-a.decided), int64(a.shares)); ask.StepsLeft(w.Steps, int(min(taken, math.MaxInt))-w.Steps) == 0 {
		w.AimSteps = -1
	}
	w.Steps, w.AimSteps = min(w.Steps, left), min(w.AimSteps, left)
	w.Looks = func() int { return int(a.work()) + a.q.Landed }
}

// stepsLeft is how many steps the domain has left where one search may take most.
func (a *attempt) stepsLeft(most int) int {
	if a.helping() {
		most = min(most/helping, helpSteps)
	}
	taken := checked.Mul(int64(a.Runner.Decided-a.decided+begun*max(a.begins-free, 0)), int64(a.shares))
	return ask.StepsLeft(most, int(min(taken, math.MaxInt))) / a.shares
}

// judge is what a search came to.
func (a *attempt) judge(out reprieve.Outcome, proof reprieve.Proof) (reprieve.Outcome, domain.Reason) {
	switch proof {
	case reprieve.Found:
		return out, domain.Reason{}
	case reprieve.FoundSome:
		a.Proved = false
		return out, domain.Reason{}
	}
	return out, ask.Beyond(a.over, proof)
}

// excludeOverBound puts units back whose eviction alone would go beyond a bound: they are
// no potential victims. It returns what the first of them goes beyond.
func (a *attempt) excludeOverBound() []ask.Excess {
	if a.q.Hard == nil && a.q.Limits == nil {
		return nil
	}
	var over []ask.Excess
	a.potential = slices.DeleteFunc(slices.Clone(a.potential), func(u victims.UnitID) bool {
		if !a.q.Stuck(u) {
			return false
		}
		if over == nil {
			over = a.q.Overruns([]victims.UnitID{u}, nil)
		}
		a.keep(u)
		return true
	})
	a.Trial.Settle()
	return over
}

// keep puts unit u back for good.
func (a *attempt) keep(u victims.UnitID) {
	a.inside[u] = false
	a.Runner.Return(a.Trial, u)
}

// hopeless reports whether the latest placement's victims go beyond the bounds, and those of
// any other would: by their mixes, or by the limit of pods.
func (a *attempt) hopeless() bool {
	return !a.refuse.OK() && (a.beyond || a.pastPods(a.over))
}

// foreseen is why no placement has victims within the bounds, where that is known before anybody is given back: by the limit of pods,
// before which no other bound is told.
func (a *attempt) foreseen() domain.Reason {
	if a.top != nil || a.q.Given != nil || a.q.Hard != nil || len(a.q.Limits) == 0 || a.q.Limits[0].Of != ask.NumPods {
		return domain.Reason{}
	}
	var over []ask.Excess
	for _, b := range a.q.Bounds(nil) {
		over = append(over, ask.Excess{Bound: b})
	}
	if a.pastPods(over) {
		return ask.Beyond(over, reprieve.Refuted)
	}
	return domain.Reason{}
}

// pastPods reports whether the limit of pods is among over, and with as many gone there is less room than a lone
// pod group needs: in places, were all members as small as they are in each resource, or in the sum of a resource.
func (a *attempt) pastPods(over []ask.Excess) bool {
	i := slices.IndexFunc(over, func(o ask.Excess) bool { return o.Of == ask.NumPods })
	if i < 0 || len(a.q.Tree.Children) > 0 {
		return false
	}
	few, known := a.few[over[i].Bound]
	if !known { // the same for all placements
		enough, limit := a.q.Tree.Need(), int(min(over[i].Room(), math.MaxInt32))
		few = a.fewPlaces(int64(enough), limit) || a.littleRoom(enough, limit)
		if a.few == nil {
			a.few = map[ask.Bound]bool{}
		}
		a.few[over[i].Bound] = few
	}
	return few
}

// sumOfLargest adds up the largest so many of list, which it sorts.
func sumOfLargest(list []int64, many int) (sum int64) {
	slices.Sort(list)
	for _, v := range list[max(0, len(list)-many):] {
		sum = checked.Add(sum, v)
	}
	return sum
}

// fewPlaces reports whether so many members find no places where pods leave that are not more than limit.
func (a *attempt) fewPlaces(enough int64, limit int) bool {
	asks := slices.Clone(a.q.Members[0].Request())
	for _, m := range a.q.Members {
		for r, v := range m.Request() {
			asks[r] = min(asks[r], v)
		}
	}
	need := enough
	room := func(free []int64) int64 {
		most := enough
		for r, v := range asks {
			if v > 0 {
				most = min(most, max(free[r], 0)/v)
			}
		}
		return most
	}
	more := make([]int64, 0, len(a.domain.Nodes)) // by node, with everybody gone
	for _, n := range a.domain.Nodes {
		now := room(a.Trial.AtHome(n))
		need -= now
		more = append(more, room(a.q.Index.Allocatable(n))-now)
	}
	return need > sumOfLargest(more, limit)
}

// littleRoom reports whether they ask for more of some resource, in sum, than is free then.
func (a *attempt) littleRoom(enough, limit int) bool {
	var frees []int64 // by pod
	for r, missing := range a.seater.LeastOf(enough) {
		for _, n := range a.domain.Nodes {
			missing -= min(missing, max(a.Trial.AtHome(n)[r], 0))
		}
		if missing == 0 {
			continue
		}
		frees = frees[:0]
		for _, n := range a.domain.Nodes {
			for _, p := range a.q.Index.PodsOn(n) {
				frees = append(frees, a.q.Index.Request(p)[r])
			}
		}
		if missing > sumOfLargest(frees, limit) {
			return true
		}
	}
	return false
}

// repairs is how often other places are looked for, at most; again only while that has been work of not more than
// mostAsked, and has moved not more than mostMoved pods, in all domains together.
const (
	repairs     = 16
	mostAsked   = 1 << 22
	mostMoved   = 1 << 17
	helpRepairs = 16 // where it is asked what would help there is such a part of mostAsked

	// mostMended is what they may come to in all domains together, as Asked counts and with so much for each search of victims
	// within bounds: no other domain is repaired then. The first domains come first.
	mostMended = 1 << 19
	bounding   = 512
)

// repairsOn reports whether other places of members among so many pods are looked for once more in
// one of so many domains, after so many times that were so much work.
func repairsOn(times int, work int64, pods, domains int) bool {
	return times == 0 || times < repairs && work <= mostAsked/int64(domains) && times*pods <= mostMoved/domains
}

// repair looks for a placement whose victims keep within the bounds, after those of
// the placers have none: as members are allotted; among all placements where they are few, which proves a no;
// otherwise again and again without the units that went too far, and with fewer members. All but the first of these is left open once it has come to mostMended.
func (a *attempt) repair() {
	asked, searched := a.Asked(), a.Stats.Searched
	defer func() { a.mended += a.Asked() - asked + bounding*(a.Stats.Searched-searched) }()
	if a.q.Effort == ask.Greedy { // else that was looked for
		if s := a.newAllotting(ask.FewSteps); s != nil {
			s.meetAll()
			if s.take(); a.top != nil {
				return
			}
			if s.bounded {
				defer a.fallBack(s)
			}
		}
		if a.beyond {
			a.refuse = ask.Beyond(a.over, reprieve.Refuted)
			return
		}
	}
	most, each := mostMended, int64(1)
	if a.helping() {
		most, each = mostMended/helping, helpRepairs
	}
	if a.mended > most {
		a.Proved = false
		return
	}
	if budget := a.q.Checks / a.shares; !a.q.Mobile && !a.q.Lowest { // it is placed, and stays where it is
		e := a.newEvery()
		if cost := 1 + len(a.potential); e.ways(budget/cost) <= budget/cost {
			a.Proved = a.Proved && a.q.Monotone()
			e.runBounded(budget)
			return
		}
	}
	a.Proved = false
	before := a.work()
	searches := func() bool { return a.less == nil || a.less.begins > 0 && a.late <= mostLate } // else looking less hard has come to the same
	again := func() bool { return searches() && a.keepGreedy() && (a.placeAgain(a.q.Fewest) || a.placeAgain(true)) }
	for times := 0; a.top == nil && repairsOn(times, each*(a.work()-before), a.moved, a.shares) && again(); times++ {
	}
}

// fallBack takes seats that keep within the bounds, whatever they cost, where no other repair has found a plan.
func (a *attempt) fallBack(s *allotting) {
	if a.top != nil {
		return
	}
	for _, x := range s.some {
		for _, u := range x.out {
			if !a.inside[u] { // kept meanwhile
				a.inside[u], a.potential = true, append(a.potential, u)
				a.Runner.Remove(a.Trial, u)
			}
		}
	}
	a.Trial.Settle()
	s.place(s.some)
}

// placeAgain tries the placers as things stand and reports whether one of them found a placement.
func (a *attempt) placeAgain(fewest bool) bool {
	placed := false
	for _, placer := range a.q.Placers {
		if a.Place(a.domain, placer, a.prices(placer), fewest) {
			placed = true
			a.giveBack(placer)
		}
		a.Trial.UnplaceTo(0)
	}
	return placed
}

// keepGreedy keeps the most important of the units that the latest placement would
// evict and that go beyond a bound. It reports whether there is one.
func (a *attempt) keepGreedy() bool {
	for _, b := range a.q.Bounds(a.greedy) {
		if !slices.ContainsFunc(a.over, func(r ask.Excess) bool { return r.Same(b) }) {
			continue
		}
		for _, u := range a.q.Units.Sorted(a.greedy) {
			if (a.q.Weight(b, u) > 0 || a.over[0].Together) && a.inside[u] {
				a.keep(u)
				a.Trial.Settle()
				a.potential = slices.DeleteFunc(a.potential, func(v victims.UnitID) bool { return v == u })
				return true
			}
		}
	}
	return false
}

// runBounded evaluates every placement, those with most members first, until some have victims within the bounds or the budget is spent: a
// placement takes one of it, and one for each potential victim. It looks at as many for each number of members at most.
func (e *every) runBounded(budget int) {
	e.optional = true
	left := budget
	for e.most = len(e.q.Members); e.most > 0 && e.top == nil; e.most-- {
		all := e.each(budget, func() {
			if len(e.Trial.Placed()) != e.most || !e.seater.Suffices() {
				return
			}
			if left -= 1 + len(e.potential); left < 0 {
				e.steps = 0
				return
			}
			list := e.Trial.Assignments()
			e.giveBack(nil)
			if !e.refuse.OK() && e.exhausted() {
				e.Proved = false
			}
			e.Trial.PlaceAll(list)
		})
		if !all {
			e.Proved = false
			break
		}
	}
	e.Trial.UnplaceTo(0)
}

// exhausted reports whether the latest refusal is not proved.
func (a *attempt) exhausted() bool {
	return a.refuse.Detail == ask.NotProved
}
