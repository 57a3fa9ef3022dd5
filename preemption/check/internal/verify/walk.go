package verify

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/check/internal/found"
)

// walks: who has to go is a matter of one walk at a known place. Where victims are searched
// for, members move, or the order is not known in which they see each other, it is not.
func (a *answer) walks() bool {
	if a.optimizes() || a.rules.lowest || !a.ranks() || a.bounded() && (a.team != nil || !a.priced()) {
		return false
	}
	return a.team == nil || !a.rules.moves && !a.rules.fewest && len(a.relations) == 0
}

// compareWalk: the victims are those whom the walk leaves out that gives back units which
// violate a budget first, and then the others, most important first, with the members at
// their nominations or the lone pod on its node. Budgets are charged. Who meets no member
// comes back whatever the order.
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

// walk gives units back while the preemptor fits, and returns those that stay out. Of an
// elastic unit that may not return whole as many come back as the answer says, since the
// largest set is a search. A lone pod is at n.
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
	return len(a.shortages(a.members[0], n)) > 0
}
