package verify

import (
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/check/internal/order"
	"github.com/preempt-go/preempt/preemption/check/internal/relation"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// readCandidates: what is listed helps, all that helps is listed, and the domain that was chosen is the best of it.
func (a *answer) readCandidates() {
	list := a.r.Candidates
	if !a.o.Candidates {
		if len(list) > 0 {
			a.Add(found.Candidates, "nobody asked for them")
		}
		return
	}
	own := a.victims
	a.victims = nil
	chosen := slices.IndexFunc(list, func(c preemption.Candidate) bool { return c.Domain == a.r.Domain })
	if chosen < 0 {
		a.Add(found.Candidates, "%s, which was chosen, is not among them", a.r.Domain)
		return
	}
	if relation.AsText(list[chosen].Victims) != relation.AsText(a.r.Victims) || list[chosen].Violations != a.r.Violations ||
		list[chosen].Overruns != a.r.Overruns || !slices.Equal(list[chosen].Score, a.r.Score) || !list[chosen].Best {
		a.Add(found.Candidates, "%s, which was chosen, is listed with something else", a.r.Domain)
	}
	nodes := a.nodes
	for i := range list {
		c := &list[i]
		if i > 0 && list[i-1].Domain >= c.Domain {
			a.Add(found.Candidates, "they are not in order of name")
		}
		a.readBest(c, &list[chosen])
		if i != chosen {
			a.readCandidate(c)
		}
	}
	a.enter(nodes)
	a.victims = own
	a.readMissing(list)
}

// readCandidate reads one that was not chosen as if it were.
func (a *answer) readCandidate(c *preemption.Candidate) {
	if !a.enter(a.domainNamed(c.Domain)) {
		a.About(found.Candidates, cluster.KindNode, "", c.Domain, "there is no such domain for the preemptor")
		return
	}
	a.readVictims(c.Victims, true)
	if slices.ContainsFunc(c.Victims, func(v preemption.Victim) bool { return v.Unlisted != 0 }) {
		return // no more is read of it
	}
	where := "in candidate " + c.Domain + " "
	a.readDisruption(c, where)
	for _, text := range a.beyond(a.victims) {
		a.Add(found.Bounds, "the victims in candidate %s go beyond %s", c.Domain, text)
	}
	if a.team != nil {
		return // where its members would go is not said
	}
	m, n := a.members[0], a.nodes[0]
	a.leave(a.out()...)
	if list := a.misfits(m, n); len(list) > 0 {
		a.About(found.Candidates, cluster.KindNode, "", c.Domain, "it does not fit there: %s", list[0].check)
	} else {
		a.place(m, n)
		a.order = []*member{m}
		for i := range a.victims {
			a.readReason(&a.victims[i])
			a.readElastic(&a.victims[i])
		}
		a.unplace(m)
	}
	a.comeBack(a.out()...)
	if a.walks() {
		a.compareWalk(where)
	}
}

// readBest: c is called best if and only if it ties with what was chosen, and is not
// better. Of a gang's domains those that seat more may come first.
func (a *answer) readBest(c, chosen *preemption.Candidate) {
	if a.o.Hooks != nil && a.o.Hooks.Compare != nil || a.team != nil && !a.rules.fewest {
		return
	}
	by := order.Compare(c.Score, chosen.Score)
	switch {
	case by < 0:
		a.Add(found.Best, "%s disrupts less than %s", c.Domain, chosen.Domain)
	case a.team == nil && c.Best != (by == 0):
		a.Add(found.Best, "whether %s ties with %s is %t", c.Domain, chosen.Domain, by == 0)
	case a.team == nil && by == 0 && a.comesFirst(c, chosen):
		a.Add(found.Best, "%s is as good as %s, and comes first", c.Domain, chosen.Domain)
	}
}

// readFitting: of a preemptor that fits as things are, what is listed is where it does, and nobody goes there.
func (a *answer) readFitting() {
	if !a.o.Candidates {
		return
	}
	a.unplace(a.members...)
	listed := map[string]*preemption.Candidate{}
	for i := range a.r.Candidates {
		c := &a.r.Candidates[i]
		listed[c.Domain] = c
		if i > 0 && a.r.Candidates[i-1].Domain >= c.Domain {
			a.Add(found.Candidates, "they are not in order of name")
		}
		if len(c.Victims)+len(c.Score)+c.Violations != 0 || c.Overruns != 0 {
			a.About(found.Candidates, cluster.KindNode, "", c.Domain, "nobody has to go, and it tells of victims")
		}
	}
	chosen := listed[a.r.Domain]
	if chosen == nil || !chosen.Best {
		a.Add(found.Candidates, "%s, which was chosen, is not among the best of them", a.r.Domain)
		return
	}
	if a.team != nil {
		a.readFittingRegions(listed)
		return
	}
	m, fits := a.members[0], 0
	for _, n := range a.all() {
		if len(a.misfits(m, n)) > 0 {
			continue
		}
		c := listed[n.Name]
		if fits++; c == nil {
			a.About(found.Candidates, cluster.KindNode, "", n.Name, "it fits there, and that is not listed")
			continue
		}
		best := c == chosen || m.NominatedNode != chosen.Domain && a.likingOf(c).Cmp(a.likingOf(chosen)) == 0
		if c.Best != best && !a.ownLiking() {
			a.About(found.Best, cluster.KindNode, "", n.Name, "whether it is as good as %s is %t", chosen.Domain, best)
		}
	}
	if fits < len(listed) {
		a.Add(found.Candidates, "%d nodes are listed, and it fits on %d", len(listed), fits)
	}
}

// readFittingRegions: what is listed are regions of the round in which the gang fits, and, as far as placing its
// members one after the other tells, all of those where it does.
func (a *answer) readFittingRegions(listed map[string]*preemption.Candidate) {
	if a.asked.Placement != nil || a.o.Hooks != nil && (a.o.Hooks.Splitter != nil || a.o.Hooks.Placer != nil) {
		return
	}
	for _, round := range a.rounds() {
		known := 0
		for _, r := range round {
			switch {
			case listed[r.name] != nil:
				known++
			case listed[r.name] == nil && len(a.relations) == 0 && a.fillUp(r):
				a.Add(found.Candidates, "the members fit in %s, and that is not listed", r.name)
			}
		}
		if known == len(listed) {
			return
		}
	}
	a.Add(found.Candidates, "they are not regions of one round")
}

// readMissing: every node on which preemption helps a lone pod is listed, unless a part of them was to be looked at.
func (a *answer) readMissing(list []preemption.Candidate) {
	if a.team != nil || a.o.Sampling != nil || a.ownEligible() {
		return
	}
	listed := map[string]bool{}
	for i := range list {
		listed[list[i].Domain] = true
	}
	m := a.members[0]
	defer a.part(nil)
	for _, n := range a.all() {
		if listed[n.Name] || a.hopeless(m, n) {
			continue
		}
		if a.helps(n) {
			a.About(found.Candidates, cluster.KindNode, "", n.Name, "preemption helps there, and it is not listed")
		}
	}
}
