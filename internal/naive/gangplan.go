package naive

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Gone are the pods of units.
func Gone(units []Unit) map[PodKey]bool {
	gone := map[PodKey]bool{}
	for _, u := range units {
		u.leave(gone)
	}
	return gone
}

// Misfit is the first member that does not fit where it is to go, each seeing those
// before it; the zero PodKey and Status if all do.
func (g *Gang) Misfit(places Places, gone map[PodKey]bool) (PodKey, Status) {
	placed := map[string][]*cluster.Pod{}
	for _, m := range g.Members {
		n, ok := places[key(m)]
		if !ok {
			continue
		}
		if st := g.fitsWith(m, n, placed[n], gone); !st.OK() {
			return key(m), st
		}
		placed[n] = append(placed[n], m)
	}
	return PodKey{}, Status{}
}

// fitsWith says whether a member fits on a node beside others of the gang: with the
// pods that are nominated there and at least as important as the gang, and without.
func (g *Gang) fitsWith(m *cluster.Pod, node string, placed []*cluster.Pod, gone map[PodKey]bool) Status {
	g.pod = m
	there := slices.Clone(placed)
	var expected []*cluster.Pod
	for i := range g.snapshot.Pods {
		p := &g.snapshot.Pods[i]
		switch {
		case p.Node == node && !gone[key(p)]:
			there = append(there, p)
		case p.Node == "" && p.NominatedNode == node && g.priorityOf(p) >= g.priority && !slices.Contains(g.Members, p):
			expected = append(expected, p)
		}
	}
	if len(expected) > 0 {
		if st := g.fitsBeside(node, append(expected, there...)); !st.OK() {
			return st
		}
	}
	return g.fitsBeside(node, there)
}

// At decides who has to go for a placement that is given, among the units of a
// domain. The Status says why the placement is impossible even with all of them
// gone, or that there is nobody to evict.
//
// Source: KEP-5710, in-place victim reprieval; early text, "Preemption algorithm".
func (g *Gang) At(places Places, nodes []string) (Plan, Status) {
	units := g.Potential(nodes)
	if len(units) == 0 {
		return Plan{}, Status{Check: NoVictims}
	}
	if _, st := g.Misfit(places, Gone(units)); !st.OK() {
		return Plan{}, st
	}
	fits := func(gone map[PodKey]bool) Status {
		_, st := g.Misfit(places, gone)
		return st
	}
	if g.rules.LowestLevel || g.rules.Rules == KEP5710Alpha {
		return g.lowest(units, fits), Status{}
	}
	return g.reprieve(units, fits), Status{}
}

// Moving decides who has to go when the gang may move while victims come back: a
// unit comes back if some placement of enough members exists with it. ok is false
// if there is none even with everybody gone.
//
// Source: kube-scheduler v1.36, workload-aware preemption.
func (g *Gang) Moving(nodes []string) (p Plan, ok bool) {
	units := g.Potential(nodes)
	if len(units) == 0 || g.Placement(nodes, Gone(units)) == nil {
		return Plan{}, false
	}
	return g.reprieve(units, func(gone map[PodKey]bool) Status {
		if g.Placement(nodes, gone) == nil {
			return Status{Check: "no placement"}
		}
		return Status{}
	}), true
}

// Sets calls yield with each set of units after which at least so many members have places on
// nodes, and what the set comes to. There must be few units.
func (g *Gang) Sets(nodes []string, seats int, yield func(Plan)) {
	g.sets(nodes, func(gone map[PodKey]bool) bool { return g.MostSeated(nodes, gone) >= seats }, yield)
}

// SetsAt is Sets for a placement that is given.
func (g *Gang) SetsAt(places Places, nodes []string, yield func(Plan)) {
	g.sets(nodes, func(gone map[PodKey]bool) bool {
		_, st := g.Misfit(places, gone)
		return st.OK()
	}, yield)
}

func (g *Gang) sets(nodes []string, help func(gone map[PodKey]bool) bool, yield func(Plan)) {
	violating, clean := g.split(g.Potential(nodes))
	all := slices.Concat(violating, clean)
	for set := 1; set < 1<<len(all); set++ {
		var p Plan
		for i, u := range all {
			if set>>i&1 == 1 {
				p.Victims = append(p.Victims, u)
			}
		}
		if help(Gone(p.Victims)) {
			g.finish(&p)
			yield(p)
		}
	}
}

// reprieve gives units back, those that violate a budget first, each list from the
// most to the least important.
func (g *Gang) reprieve(units []Unit, fits func(map[PodKey]bool) Status) Plan {
	violating, clean := g.split(units)
	gone := Gone(units)
	var p Plan
	for _, u := range slices.Concat(violating, clean) {
		g.giveBack(&p, u, gone, fits)
	}
	g.finish(&p)
	return p
}

func (g *Gang) giveBack(p *Plan, u Unit, gone map[PodKey]bool, fits func(map[PodKey]bool) Status) {
	u.comeBack(gone)
	if u.Reason = fits(gone); !u.Reason.OK() {
		u.leave(gone)
		p.Victims = append(p.Victims, u)
	}
}

func (g *Gang) finish(p *Plan) {
	slices.SortFunc(p.Victims, g.keepFirst)
	for _, u := range p.Victims {
		p.Violations += u.Violations
	}
	p.Overruns = g.overruns(p.Victims)
	priced := p.Victims
	if g.rules.BrokenFree {
		priced = slices.DeleteFunc(slices.Clone(priced), g.broken)
	}
	p.Score = Score{Violations: p.Violations, HighestPriority: math.MinInt32, Start: farFuture}
	if len(priced) > 0 {
		p.Score = g.score(Candidate{Victims: priced, Violations: p.Violations})
	}
}

// lowest gives units back by the early text: those that violate a budget, then
// everybody above the lowest level that is enough, then the others.
func (g *Gang) lowest(units []Unit, fits func(map[PodKey]bool) Status) Plan {
	violating, clean := g.split(units)
	gone := Gone(units)
	var kept Plan
	for _, u := range violating {
		g.giveBack(&kept, u, gone, fits)
	}
	left := slices.Concat(kept.Victims, clean)
	var p Plan
	if len(left) > 0 {
		level := g.bound(left, gone, fits)
		p.Level = &level
		left = slices.DeleteFunc(left, func(u Unit) bool {
			if g.level(u) > level {
				u.comeBack(gone)
				return true
			}
			return false
		})
	}
	slices.SortFunc(left, g.keepFirst)
	for _, u := range left {
		g.giveBack(&p, u, gone, fits)
	}
	g.finish(&p)
	return p
}

// bound is the lowest level such that nobody above it has to go.
func (g *Gang) bound(left []Unit, gone map[PodKey]bool, fits func(map[PodKey]bool) Status) int32 {
	lowest := int32(math.MaxInt32)
	for _, candidate := range left {
		level := g.level(candidate)
		back := map[PodKey]bool{}
		for k := range gone {
			back[k] = true
		}
		for _, u := range left {
			if g.level(u) > level {
				u.comeBack(back)
			}
		}
		if fits(back).OK() {
			lowest = min(lowest, level)
		}
	}
	return lowest
}
