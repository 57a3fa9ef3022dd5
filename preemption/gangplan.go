package preemption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// attemptAt is the work on one domain: every potential victim is out of the trial,
// and one placement after the other is tried.
type attemptAt struct {
	*gangSearch
	domain    *domain.Domain
	potential []victims.UnitID
	charged   map[victims.UnitID]int // units that violate a budget, and by how much
	member    map[victims.UnitID]bool

	top   *plan // the best so far
	tried int   // placements
	steps []Step
}

// offers prices room by those potential victims of the domain that are out.
func (a *attemptAt) offers() *victims.Offers {
	if a.member == nil {
		a.member = make(map[victims.UnitID]bool, len(a.potential))
		for _, u := range a.potential {
			a.member[u] = true
		}
	}
	return victims.NewOffers(a.units, a.trial,
		func(u victims.UnitID) bool { return a.member[u] && a.trial.Gone(a.units.Unit(u).Pods[0]) },
		func(u victims.UnitID) int { return a.charged[u] },
		func(u victims.UnitID) bool { return a.options.BrokenGroupsFree && a.broken(u) })
}

// giveBack returns whom it can beside the members that are placed, keeps the plan if
// it is the best so far, and takes everybody out again.
func (a *attemptAt) giveBack(placer domain.Placer) {
	violating, rest := a.concerned()
	a.trial.Mobile = a.rules.mobile && a.given == nil
	a.trial.Need = func(t *domain.GangTrial) bool { return a.reseat() }
	if a.options.Explain {
		a.steps = nil
		a.notePlaces()
		a.runner.Observe = a.observe
	}
	out := a.reprieve(placer, violating, rest)
	a.runner.Observe, a.trial.Mobile = nil, false
	if a.rules.members == MinCount && a.given == nil {
		a.seatMore(out.Victims)
	}
	p := plan{domain: *a.domain, places: a.trial.Assignments(), score: a.score(out.Victims, out.Violations)}
	if a.tried++; a.top == nil || a.compare(&p, a.top) < 0 {
		p.victims, p.steps = slices.Clone(out.Victims), a.steps
		a.top = &p
	}
	a.trial.UnplaceTo(0)
	for _, list := range [][]victims.UnitID{units(violating), rest} {
		for _, u := range list {
			if !a.trial.Gone(a.units.Unit(u).Pods[0]) {
				a.runner.Remove(a.trial, u)
			}
		}
	}
	a.trial.Settle()
}

// reprieve gives back by the strategy of the rules.
func (a *attemptAt) reprieve(placer domain.Placer, violating []reprieve.Charged, rest []victims.UnitID) reprieve.Outcome {
	if !a.rules.lowest {
		return a.runner.GiveBack(a.trial, violating, rest)
	}
	first := a.trial.Assignments()
	again := func() domain.Reason {
		a.trial.UnplaceTo(0)
		a.trial.Settle()
		if a.given != nil {
			return a.placeGiven()
		}
		if a.place(a.domain, placer, a.offers(), a.rules.members == MinCount) || a.placeAsBefore(first) {
			return domain.Reason{}
		}
		return domain.Reason{Check: noPlacement}
	}
	var note func(Step)
	if a.options.Explain {
		note = func(step Step) { a.steps = append(a.steps, step) }
	}
	sorted := slices.Clone(a.potential)
	slices.SortFunc(sorted, a.units.Compare)
	return a.runner.GiveBackLowest(a.trial, a.lowest(again, note), sorted)
}

// placeAsBefore places what list says, if it fits as things stand.
func (a *attemptAt) placeAsBefore(list []domain.Assignment) bool {
	a.trial.UnplaceTo(0)
	for _, x := range list {
		if !a.trial.CanPlace(x.Member, x.Node).OK() {
			a.trial.UnplaceTo(0)
			return false
		}
		a.trial.Place(x.Member, x.Node)
	}
	return true
}

func units(list []reprieve.Charged) []victims.UnitID {
	us := make([]victims.UnitID, len(list))
	for i, c := range list {
		us[i] = c.Unit
	}
	return us
}

// concerned lists the units whose return has to be tried, most important first:
// those on nodes with members, or all where members may move or a constraint looks
// across nodes. The others come back without a check.
func (a *attemptAt) concerned() (violating []reprieve.Charged, rest []victims.UnitID) {
	list := a.potential
	if !a.rules.mobile && !a.rules.lowest && !a.trial.CrossNode() {
		list = nil
		seen := map[victims.UnitID]bool{}
		for _, m := range a.trial.Placed() {
			for _, u := range a.evictable(a.trial.At(m)) {
				if !seen[u] && a.trial.Gone(a.units.Unit(u).Pods[0]) {
					seen[u] = true
					list = append(list, u)
				}
			}
		}
	}
	list = slices.Clone(list)
	slices.SortFunc(list, a.units.Compare)
	for _, u := range list {
		if v := a.charged[u]; v > 0 {
			violating = append(violating, reprieve.Charged{Unit: u, Violations: v})
		} else {
			rest = append(rest, u)
		}
	}
	return violating, rest
}

// finish notes what was found in the domain, and keeps the best plan if it is the
// best of all domains.
func (a *attemptAt) finish() {
	for _, step := range a.top.steps {
		a.note(step)
	}
	if a.tried > 1 {
		a.note(Step{Action: ActionCompare, Text: fmt.Sprintf("of %d placements tried, none disrupts less", a.tried)})
	}
	a.note(Step{Action: ActionScore, Text: "score " + scoreText(a.top.score)})
	if a.options.Candidates {
		a.found = append(a.found, *a.top)
	}
	if a.best == nil || a.compare(a.top, a.best) < 0 {
		a.best = a.top
	}
}

// compare is below zero if p is better than o: where room is made for all that fit,
// more members seated, then the lower score; where it is made for as few as are
// needed, the score decides first.
func (s *gangSearch) compare(p, o *plan) int {
	seats := len(o.places) - len(p.places)
	score := p.score.Compare(o.score)
	if s.rules.members == MinCount {
		return cmp.Or(score, seats)
	}
	return cmp.Or(seats, score)
}

func (a *attemptAt) observe(u victims.UnitID, violates bool, why domain.Reason) {
	a.steps = append(a.steps, a.reprieveStep(u, violates, a.reason(cluster.NoNode, why)))
}

func (a *attemptAt) notePlaces() {
	for _, m := range a.trial.Placed() {
		pod := a.members[m].Pod
		name, node := key(pod.Namespace, pod.Name), a.ix.Node(a.trial.At(m)).Name
		a.steps = append(a.steps, Step{Action: ActionPlace, Unit: name, Text: fmt.Sprintf("place %s on %s", name, node)})
	}
}
