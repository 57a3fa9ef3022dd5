package gang

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/reprieve"
)

// mostEverywhere is among how many units those are searched for with whom gone the members find a place, wherever that is.
const mostEverywhere = 512

// searchable reports whether everywhere looks: for whom there is to improve on, by a known order of plans, among so few potential victims.
func (a *attempt) searchable() bool {
	return a.q.Improves && a.q.Compare == nil && len(a.potential) <= mostEverywhere
}

// everywhere looks among all sets of the potential victims for the one that disrupts least,
// wherever the members then go: for as few of them as are needed, or else for as many as there is
// a set for. It reports whether that is settled: no plan disrupts less, or there is none.
func (a *attempt) everywhere() bool {
	q := a.q
	if !a.searchable() {
		return false
	}
	if q.Fewest {
		proof := a.seatedEverywhere(max(1, q.Tree.Fewest()), func() (bool, bool) { return a.seater.Exactly(a.domain) })
		return proof == reprieve.Found || proof == reprieve.Refuted && a.top == nil
	}
	least := max(1, q.Tree.Fewest())
	if a.top != nil {
		least = len(a.top.Places)
	}
	most := 0
	for _, leaf := range q.Tree.Able() {
		most += len(leaf.Members)
	}
	for n := most; n >= least; n-- {
		if n < most && len(q.Tree.Children) > 0 {
			return false
		}
		proof := a.seatedEverywhere(n, func() (bool, bool) {
			return a.seater.ExactlySo(a.domain, func(leaf *seating.Group) int { return min(n, len(leaf.Members)) })
		})
		if proof != reprieve.Refuted {
			return proof == reprieve.Found
		}
	}
	return a.top == nil
}

// seatedEverywhere is everywhere for so many members, whom seat gives a place if there is one for them as things stand; it may not know
// that there is none. Refuted: no set of victims makes room for them.
func (a *attempt) seatedEverywhere(members int, seat func() (seated, proved bool)) reprieve.Proof {
	q := a.q
	known := true
	try := func() bool {
		seated, proved := seat()
		known = known && (seated || proved)
		return seated
	}
	switch seated := try(); {
	case !known:
		return reprieve.Exhausted
	case !seated:
		return reprieve.Refuted
	}
	trial := domain.Trial(a.Trial)
	if a.Trial.Interchangeable() && len(q.Tree.Children) == 0 && !q.Lands() {
		a.Trial.UnplaceTo(0)
		trial = seating.NewSlotTrial(a.Trial, a.domain, 0, members)
	}
	a.Trial.Mobile, a.Trial.Need = true, func(*domain.GangTrial) bool { return try() }
	least, all := a.seater.LeastOf(members), q.Units.Sorted(slices.Clone(a.potential))
	violating, rest := a.byViolations(all)
	var from reprieve.Least
	if a.top != nil && len(a.top.Places) == members {
		from = reprieve.Least{Victims: slices.Clone(a.top.Victims), Parts: maps.Clone(a.top.Parts)}
	}
	aims, numAims := q.Aims(a.Runner, all, violating), q.Known(all)
	w := q.Within(all, a.Runner, a.Trial.Assignments)
	a.shareSteps(&w)
	a.Stats.Searched++
	if a.scarce == nil {
		a.scarce = make([]int, q.Index.NumNodes())
	}
	sums := seating.NewSums(trial, a.Trial, a.domain, members, least, a.scarce)
	defer sums.Close()
	l := a.Runner.Least(sums, violating, rest, from, w, aims[:numAims], nil)
	a.Trial.Mobile = false
	a.Trial.UnplaceTo(0)
	if l.Victims != nil && try() {
		a.seater.Adopt(a.domain)
		if q.Trace {
			a.steps = nil
			a.notePlaces(0)
			a.Runner.Observe, a.Runner.ObservePart = a.observe, a.observePart
		}
		out := a.Runner.Told(a.Trial, l.Victims, violating, rest)
		a.Runner.Observe, a.Runner.ObservePart = nil, nil
		if known = known && len(a.overruns(out.Victims)) == 0; known { // from the places that they have come to
			a.propose(out)
		}
	}
	a.clear(violating, rest)
	switch {
	case !known:
		return reprieve.Exhausted
	case l.Proof == reprieve.Refuted:
		return reprieve.Refuted
	case l.Proof != reprieve.Found || numAims < len(aims):
		if slices.Compare(a.bound, l.Bound) < 0 {
			a.bound = l.Bound
		}
		return reprieve.Exhausted
	}
	return reprieve.Found
}
