package verify

import (
	"cmp"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/budgets"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
)

// readFeasible: the preemptor fits once the victims are gone, none of them can stay, and all that is said about them is so.
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

// failures lists what does not fit of the members that are placed once pods came back.
func (a *answer) failures(pods []*pod) []misfit {
	if len(a.relations) == 0 || len(a.order) > 1 && a.monotone && !a.ordered {
		return a.obstructed(pods)
	}
	return a.misfitsPlaced(a.order)
}

// halved: an answer that is not Exact, where so much may have been asked as victims came back one by one, of a gang about each member on each node
// for each pod as often as there are pods, that the others did by halves: more of them stay out than have to.
func (a *answer) halved() bool {
	switch {
	case a.r.Stats.Exact:
		return false
	case a.team == nil:
		return a.crowded()
	}
	return len(a.Pods)*len(a.Pods) > mostBack/(a.domains()*len(a.members)*max(1, len(a.nodes)))
}

// crowded: on some node so many fractions of devices may have been given seats, as often as pods leave there, that they came back by halves.
func (a *answer) crowded() bool {
	if a.crowd == nil {
		is := slices.ContainsFunc(a.all(), func(n *node) bool {
			seats := len(a.members[0].Devices)
			for _, p := range n.pods() {
				seats += len(p.Devices)
			}
			return len(n.who) > mostSeats/max(1, seats)
		})
		a.crowd = &is
	}
	return *a.crowd
}

// mostSeats is how many seats that may be, about half of what a node has in any case.
const mostSeats = 1 << 14

// domains are how many share what a gang's search may ask, at most.
func (a *answer) domains() int {
	if a.shares == 0 {
		for _, round := range a.rounds() {
			a.shares = max(a.shares, len(round), 1)
		}
	}
	return a.shares
}

// mostBack is how much may be asked as victims come back one by one, in all domains together.
const mostBack = 1 << 23

// readReason: v can't come back alone, and the reason given is one.
func (a *answer) readReason(v *victim) {
	if at := a.meets(v); v.Reason.Node != at {
		a.wrong(found.Reason, v.Victim, "it meets the preemptor on %q, not on %q", at, v.Reason.Node)
	}
	why := v.Reason
	if len(a.order) > 1 && !a.monotone || why.Check == "not looked at" && (a.halved() || a.team == nil && a.crowded()) {
		return // whether it could come back, and what fails first, is a matter of the order in which they are asked
	}
	a.comeBack(v.pods...)
	defer a.leave(v.pods...)
	list := a.failures(v.pods)
	if len(list) == 0 {
		if a.monotone && !a.halved() {
			a.wrong(found.Minimal, v.Victim, "the preemptor fits with it")
		}
		return
	}
	if len(a.order) > 1 && len(a.relations) > 0 {
		return // which check fails first is a matter of the order in which they are asked
	}
	if !slices.ContainsFunc(list, func(x misfit) bool {
		return x.check == why.Check && (x.resource == why.Resource && x.missing == why.Missing || x.resource == "")
	}) {
		told := append(a.firstOut(v.pods), list...)[0]
		a.wrong(found.Reason, v.Victim, "with it %s %s %d fails, not %s %s %d", told.check, told.resource, told.missing, why.Check, why.Resource, why.Missing)
	}
}

// firstOut lists for what of room and ports the first of the guests on the nodes of pods does not fit any more.
func (a *answer) firstOut(pods []*pod) (list []misfit) {
	for _, p := range pods {
		for i := 0; p.at != nil && i < len(p.at.guests) && len(list) == 0; i++ {
			list = a.crowdedOut(p.at.guests[i])
		}
	}
	return list
}

// meets is the node that the reason of v names: where the pod goes, or the first node on which the unit meets a member of the gang.
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
	rooms := slices.SortedFunc(maps.Keys(charged), budgets.Compare)
	if !slices.EqualFunc(rooms, a.r.Budgets, func(b *budgets.Budget, told preemption.BudgetRoom) bool {
		return told.Namespace == b.Namespace && told.Name == b.Name && told.Allowed == b.Allowed
	}) {
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
	var want []preemption.PodRef
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
				want = append(want, preemption.PodRef{Namespace: p.Namespace, Name: p.Name})
			}
		}
	}
	if !slices.Equal(want, a.r.Cleared) {
		a.Add(found.Cleared, "the nominations of %q are withdrawn, not of %q", want, a.r.Cleared)
	}
}

// readElastic: what stays of an elastic unit goes on, and no further pod of it could stay. Victims are out, and the members placed. Where bounds or
// a price choose who goes, units came back by halves, or constraints are not monotone, more may have to go.
func (a *answer) readElastic(v *victim) {
	if !v.unit.elastic {
		return
	}
	v.unit.count(-1, v.pods...)
	defer v.unit.count(+1, v.pods...)
	if len(v.pods) < len(v.unit.pods) && !v.unit.goesOn() {
		a.wrong(found.Whole, v.Victim, "what stays of it is of no use")
	}
	if a.bounded() || !a.monotone || a.rules.moves || a.halved() {
		return
	}
	if len(v.pods) == len(v.unit.pods) {
		a.readRest(v)
		return
	}
	for _, p := range v.pods {
		v.unit.count(+1, p)
		a.comeBack(p)
		if len(a.failures([]*pod{p})) == 0 && v.unit.goesOn() {
			a.wrong(found.Whole, v.Victim, "its pod %s/%s could stay, too", p.Namespace, p.Name)
		}
		a.leave(p)
		v.unit.count(-1, p)
	}
}

// readRest: a unit that goes whole has no pods that could stay, if they are taken as they fit, one after the other, those that go last first.
func (a *answer) readRest(v *victim) {
	var back []*pod
	last := func(p *pod) int {
		switch {
		case !counts(p):
			return 2
		case p.group.Leader == p.Name:
			return 0
		}
		return 1
	}
	for _, p := range slices.SortedFunc(slices.Values(v.pods), func(p, q *pod) int {
		return cmp.Or(last(p)-last(q), cmp.Compare(q.priority, p.priority), cmp.Compare(a.started(p), a.started(q)), inUnits(p, q))
	}) {
		a.comeBack(p)
		if len(a.failures([]*pod{p})) > 0 {
			a.leave(p)
			continue
		}
		back = append(back, p)
	}
	v.unit.count(+1, back...)
	if slices.ContainsFunc(back, counts) && v.unit.goesOn() {
		a.wrong(found.Whole, v.Victim, "%d of its %d pods could stay, and it would go on", len(back), len(v.pods))
	}
	v.unit.count(-1, back...)
	a.leave(back...)
}

// counts: p is not on its way out, so that its group counts on it.
func counts(p *pod) bool { return p.Node != "" && !p.Terminating }

// branch is what stays of a group: of its pods, or the groups beneath it, that count.
type branch struct {
	*group
	above                      *branch
	have, stay, intact, broken int // intact all of whom stay, broken of whom those are of no use who do
	leaderless                 bool
}

// stays says whether all of a group stay, or some.
type stays struct{ all, some, useless bool }

// now: a pod group needs its minCount and its leader, one of mode All all of
// its pods; a composite group as many groups as minGroupCount says, or all.
func (b *branch) now() stays {
	need := 1
	if len(b.children) > 0 {
		need = b.have
	}
	if b.MinCount != nil {
		need = int(*b.MinCount)
	}
	switch {
	case b.broken > 0:
		return stays{useless: true}
	case b.stay == 0:
		return stays{}
	case b.intact == b.have:
		return stays{all: true, some: true}
	case b.Mode == disruption.All || b.leaderless:
		return stays{useless: true}
	}
	return stays{some: true, useless: b.stay < need}
}

// bump counts one of whom that is so.
func (b *branch) bump(s stays, by int) {
	if s.all {
		b.intact += by
	}
	if s.some {
		b.stay += by
	}
	if s.useless {
		b.broken += by
	}
}

// grow adds the branch of g to those of u, of whom all stay.
func (u *unit) grow(g *group, above *branch) *branch {
	b := &branch{group: g, above: above}
	u.branches[g] = b
	for _, p := range g.pods() {
		if counts(p) {
			b.have++
			b.bump(stays{all: true, some: true}, +1)
		}
	}
	for _, c := range g.children {
		if slices.ContainsFunc(c.under(), counts) {
			b.have++
			b.bump(u.grow(c, b).now(), +1)
		}
	}
	return b
}

// count counts pods of u that leave it (-1), or come back (+1).
func (u *unit) count(by int, pods ...*pod) {
	if u.branches == nil {
		u.branches = map[*group]*branch{}
		u.grow(u.group, nil)
	}
	for _, p := range pods {
		b := u.branches[p.group]
		if b == nil || !counts(p) {
			continue
		}
		was := b.now()
		b.bump(stays{all: true, some: true}, by)
		b.leaderless = b.leaderless != (p.Name == b.Leader)
		for ; b.above != nil && b.now() != was; b = b.above {
			now, above := b.now(), b.above.now()
			b.above.bump(was, -1)
			b.above.bump(now, +1)
			was = above
		}
	}
}

// goesOn: u is of use without those who have left, or has nobody left.
func (u *unit) goesOn() bool { return !u.branches[u.group].now().useless }

// walks: who has to go is a matter of one walk at a known place. Where victims are searched
// for, members move, or the order is not known in which they see each other, it is not.
func (a *answer) walks() bool {
	if a.optimizes() || a.halved() || a.rules.lowest || !a.ranks() || a.bounded() && (a.team != nil || !a.priced()) {
		return false
	}
	return a.team == nil || !a.rules.moves && !a.rules.fewest && len(a.relations) == 0
}

// compareWalk: the victims are those whom the walk leaves out that gives back units which violate a budget first, and then the others, most
// important first, with the members at their nominations or the lone pod on its node. Budgets are charged. Who meets no member comes back whatever
// the order.
func (a *answer) compareWalk(where string) {
	nodes := a.nodes
	var at *node // a lone pod's
	fits := func([]*pod) bool { return len(a.misfits(a.members[0], at)) == 0 }
	if a.team == nil {
		at = nodes[0]
	} else {
		for _, n := range a.r.Nominations {
			a.place(a.named[n.Pod], a.byNode[n.Node])
		}
		a.order = a.placedNow()
		nodes = slices.DeleteFunc(slices.Clone(nodes), func(n *node) bool { return len(n.guests) == 0 })
		fits = func(back []*pod) bool { return len(a.failures(back)) == 0 }
	}
	said := map[*unit][]*pod{}
	for _, v := range a.victims {
		said[v.unit] = v.pods
	}
	units := a.potential(nodes...)
	a.leave(a.near(at, units...)...)
	out := a.walk(units, said, at, fits)
	if a.bounded() && a.searched(out, nodes[0]) {
		out, said = nil, nil
	}
	for _, u := range out {
		if said[u] == nil {
			a.About(found.Minimal, u.kind, u.namespace, u.name, "%sit has to go before others: upstream's walk leaves it out", where)
		}
		delete(said, u)
	}
	for u := range said {
		a.About(found.Minimal, u.kind, u.namespace, u.name, "%supstream's walk gives it back", where)
	}
	a.unplace(a.members...)
	a.comeBack(a.near(at, units...)...)
}

// searched: bounds let nobody go by the walk alone, or the lone pod at n may keep whom it leaves out from moving together.
func (a *answer) searched(out []*unit, n *node) bool {
	var list []victim
	for _, u := range out {
		if u.elastic {
			return true
		}
		list = append(list, victim{unit: u, pods: u.pods})
	}
	return len(a.beyond(list)) > 0 || a.o.Limits.OnlyMoves && !a.landsPlainly(out, n)
}

// helps: on node n the lone pod fits with everybody gone who may be evicted there, and
// whom upstream's walk leaves out of them keeps within the bounds. Some stay away until [scene.part].
func (a *answer) helps(n *node) bool {
	units := a.evictable(n)
	if len(units) == 0 {
		return false
	}
	there := a.part(units)
	a.leave(a.near(n, there...)...)
	fits := func([]*pod) bool { return len(a.misfits(a.members[0], n)) == 0 }
	helps := fits(nil)
	if helps && a.bounded() {
		slices.SortFunc(units, a.moreImportant)
		a.charge(units)
		helps = a.walks() && !a.searched(a.walk(units, nil, n, fits), n)
		a.leave(a.near(n, a.away...)...)
	}
	a.comeBack(a.near(n, there...)...)
	return helps
}

// walk gives units back while the preemptor fits, and returns those that stay out. Of an elastic unit that may not return whole as many come back
// as the answer says, since the largest set is a search. A lone pod is at n.
func (a *answer) walk(units []*unit, said map[*unit][]*pod, n *node, fits func(back []*pod) bool) (out []*unit) {
	list := slices.Clone(units)
	slices.SortStableFunc(list, func(x, y *unit) int { return min(y.charge, 1) - min(x.charge, 1) })
	for {
		out = nil
		for _, u := range list {
			near := a.near(n, u)
			if n == nil || !a.across || len(u.pods) <= fewPods || !a.blocks(u, n) {
				if a.comeBack(near...); fits(near) {
					continue
				}
				a.leave(near...)
			}
			out = append(out, u)
			if pods := said[u]; u.elastic && len(pods) < len(u.pods) {
				a.comeBack(slices.DeleteFunc(slices.Clone(near), func(p *pod) bool { return slices.Contains(pods, p) })...)
			}
		}
		if !a.rules.repeated || a.monotone || len(out) == len(list) {
			return out
		}
		list = out
	}
}

// blocks: the pods of u on n, who have left, are enough to leave the lone pod too little room there.
func (a *answer) blocks(u *unit, n *node) bool {
	here := slices.DeleteFunc(slices.Clone(n.pods()), func(p *pod) bool { return a.unitOf(p) != u })
	a.comeBack(here...)
	defer a.leave(here...)
	return len(a.shortages(n, a.members[0].to == n, func(name string) int64 { return a.members[0].Requests[name] })) > 0
}
