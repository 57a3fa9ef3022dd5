package verify

import (
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/budgets"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
)

// readFeasible: the preemptor fits once the victims are gone, none of them can stay, and
// all that is said about them is so.
func (a *answer) readFeasible() {
	a.leave(a.out()...)
	fits := a.placeMembers()
	a.order = a.placedNow()
	if fits {
		for i := range a.victims {
			a.readReason(&a.victims[i])
			a.readElastic(&a.victims[i])
		}
		a.readMore()
	}
	a.unplace(a.order...)
	a.comeBack(a.out()...)
	a.readTotals(a.readDisruption(&preemption.Candidate{Violations: a.r.Violations, Overruns: a.r.Overruns, Score: a.r.Score}, ""))
	if fits && a.walks() {
		a.compareWalk("")
	}
	a.readCandidates()
	a.readProof()
}

// failures lists what does not fit of the members that are placed once pods came back; of several that are tied to
// other pods, no more than one.
func (a *answer) failures(pods []*pod) []misfit {
	order := a.order
	if len(order) > 1 && len(a.relations) > 0 && a.monotone && !a.ordered {
		return a.obstructed(pods)
	}
	if len(a.relations) == 0 { // then only those whom they meet
		order = nil
		var seen []*node
		for _, p := range pods {
			if p.at != nil && len(p.at.guests) > 0 && !slices.Contains(seen, p.at) {
				seen = append(seen, p.at)
				order = append(order, p.at.guests...)
			}
		}
	}
	return a.misfitsPlaced(order)
}

// readReason: v can't come back alone, and the reason given is one.
func (a *answer) readReason(v *victim) {
	if at := a.meets(v); v.Reason.Node != at {
		a.wrong(found.Reason, v.Victim, "it meets the preemptor on %q, not on %q", at, v.Reason.Node)
	}
	if len(a.order) > 1 && !a.monotone {
		return // whether it could come back, and what fails first, is a matter of the order in which they are asked
	}
	a.comeBack(v.pods...)
	list := a.failures(v.pods)
	a.leave(v.pods...)
	if len(list) == 0 {
		if a.monotone {
			a.wrong(found.Minimal, v.Victim, "the preemptor fits with it")
		}
		return
	}
	why := v.Reason
	if len(a.order) > 1 && len(a.relations) > 0 {
		return // which check fails first is a matter of the order in which they are asked
	}
	if !slices.ContainsFunc(list, func(x misfit) bool {
		return x.check == why.Check && (x.resource == why.Resource && x.missing == why.Missing || x.resource == "")
	}) {
		a.wrong(found.Reason, v.Victim, "with it %s %s %d fails, not %s %s %d", list[0].check, list[0].resource, list[0].missing, why.Check, why.Resource, why.Missing)
	}
}

// meets is the node that the reason of v names: where the pod goes, or the first node on
// which the unit meets a member of the gang.
func (a *answer) meets(v *victim) string {
	if a.team == nil {
		return a.order[0].to.Name
	}
	return firstNode(v.unit, func(n *node) bool { return len(n.guests) > 0 })
}

// readTotals compares what an answer says beside its score.
func (a *answer) readTotals(total score) {
	if a.priced() && a.r.Cost != total.cost {
		a.Add(found.Cost, "the victims cost %d, not %d", total.cost, a.r.Cost)
	}
	charged := budgets.Charged(a.coverings(a.out()))
	var rooms []*budgets.Budget
	for b := range charged {
		rooms = append(rooms, b)
	}
	slices.SortFunc(rooms, budgets.Compare)
	same := len(rooms) == len(a.r.Budgets)
	for i, b := range rooms {
		same = same && a.r.Budgets[i].Namespace == b.Namespace && a.r.Budgets[i].Name == b.Name && a.r.Budgets[i].Allowed == b.Allowed
	}
	if !same {
		a.Add(found.Budgets, "the budgets that cover victims, and what they allow, are others")
	}
	for _, text := range a.beyond(a.victims) {
		a.Add(found.Bounds, "the victims go beyond %s", text)
	}
	a.readCleared()
}

// readCleared: nominations to a lone pod's node are withdrawn from those below it. A gang
// withdraws none, as upstream; pods that are planned together do as each of them.
func (a *answer) readCleared() {
	var want []string
	var nodes []*node
	switch {
	case a.together:
		for _, n := range a.r.Nominations {
			if at := a.byNode[n.Node]; at != nil && !slices.Contains(nodes, at) {
				nodes = append(nodes, at)
			}
		}
	case a.team == nil:
		nodes = a.nodes[:1]
	}
	for _, n := range nodes {
		for _, p := range n.nominees {
			if p.priority < a.priority && !p.member {
				want = append(want, p.Namespace+"/"+p.Name)
			}
		}
	}
	var has []string
	for _, ref := range a.r.Cleared {
		has = append(has, ref.Namespace+"/"+ref.Name)
	}
	if !slices.Equal(want, has) {
		a.Add(found.Cleared, "the nominations of %q are withdrawn, not of %q", want, has)
	}
}
