package preemption

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// slotTry is the work of a slotSearch on one domain. Nodes are positions in it.
type slotTry struct {
	*slotSearch
	*slotTools
	domain *domain.Domain

	potential int                                   // how many potential victims there are
	harmful   bool                                  // the loss of some violates a budget
	marked    bool                                  // harm says whose
	harms     func(cluster.NodeID) *columns.RungSet // whose does, by node; nil: nobody's
	joint     bool                                  // some units have several pods
	shared    bool                                  // some potential victims have
	cheapest  []nodeCost                            // nodes in order of what the first member there costs; not all
	top       *slotPlan                             // the best so far
	checks    int
}

func (t *slotTry) node(at int32) cluster.NodeID { return t.domain.Nodes[at] }

// numBelow is how many potential victims there are on a node.
func (t *slotTry) numBelow(at int32) int {
	units, _ := t.ladder.NumBelow(t.node(at), t.priority)
	return units
}

// run is tryDomain and evaluate of gangSearch.
func (t *slotTry) run() (out slotOutcome, ok bool) {
	defer func() { t.discharge(); out.checks = t.checks }()
	room, ok := t.measure()
	if !ok {
		return slotOutcome{}, false
	}
	if t.joint && !t.countsJoint() {
		return slotOutcome{}, false
	}
	if t.potential == 0 {
		return slotOutcome{why: domain.Reason{Check: noVictims, Detail: t.whyNobodyIn(t.domain)}}, true
	}
	out.evaluated = true
	k := int(min(room, int64(len(t.members))))
	if k < t.leaf.Need() {
		out.room, out.why = k, domain.Reason{Check: noPlacement}
		return out, true
	}
	if t.fewWays(k) {
		return out, false
	}
	t.charge()
	if t.rules.mobile {
		t.moving(k)
	} else {
		t.still(k)
	}
	out.plan = t.plan()
	return out, true
}

// grown returns list with room for n, all zero if it was.
func grown[T any](list []T, n int) []T {
	if len(list) < n {
		return make([]T, n)
	}
	return list
}

// fewWays reports whether there are so few placements of k members that all of them
// are looked at; see improve.
func (t *slotTry) fewWays(k int) bool {
	if !t.improves() {
		return false
	}
	limit := t.searchChecks / t.shares / (1 + t.potential)
	all := len(t.members)
	ways := make([]int, all+1) // how many ways there are to place so many
	ways[0] = 1
	for _, slots := range t.slots {
		for m := all; m > 0; m-- {
			for j := 1; j <= int(min(int64(m), slots)); j++ {
				if ways[m] += ways[m-j]; ways[m] > limit {
					return false
				}
			}
		}
	}
	if k == all && t.rules.members != MinCount {
		return ways[all] <= limit
	}
	sum := 0
	for _, w := range ways {
		sum += w
	}
	return sum <= limit
}

// improves reports whether placements beyond those of the placers are looked at.
func (t *slotTry) improves() bool {
	return !t.rules.mobile && (t.options.Placement == "" || t.options.Placement == PlaceLeastDisruption)
}

// still tries the placements of k members by each placer, and those around the best.
func (t *slotTry) still(k int) {
	var before []int32
	checks := 0
	for _, placer := range t.placers() {
		var seq []int32
		switch placer.(type) {
		case domain.LeastDisruption:
			if t.joint {
				seq = t.leastJoint(k)
			} else {
				seq = t.least(k)
			}
		case domain.Pack:
			seq = t.pack(k)
		default:
			seq = t.spread(k)
		}
		if slices.Equal(seq, before) { // where nodes have room for one each
			t.checks += checks
			continue
		}
		before, checks = seq, -t.checks
		if t.joint {
			t.consider(t.giveBack(seq))
		} else if p := t.weigh(seq); p != nil {
			t.consider(p)
		}
		checks += t.checks
	}
	if budget := t.searchChecks / t.shares; !t.joint && t.improves() && t.potential <= budget {
		t.climb(budget)
	}
}

// consider keeps p, which is known not to cost more than the best so far, if it is
// better.
func (t *slotTry) consider(p *slotPlan) {
	if t.checks += p.tried; !t.joint {
		for _, s := range p.spots {
			t.checks += t.numBelow(s.at) // each of them is tried
		}
	}
	if t.top == nil || t.beats(p) {
		t.top = p
	}
}

// beats reports whether p is better than the best so far; see attemptAt.better.
func (t *slotTry) beats(p *slotPlan) bool {
	if c := p.price.Compare(t.top.price); c != 0 {
		return c < 0
	}
	if c := cmp.Compare(t.started(t.top), t.started(p)); c != 0 {
		return c < 0
	}
	return slices.CompareFunc(t.sorted(p), t.sorted(t.top), func(a, b victims.Marked) int { return -t.units.Compare(a.Unit, b.Unit) }) < 0
}

// sorted are the losses of p, most important first.
func (t *slotTry) sorted(p *slotPlan) []victims.Marked {
	if p.losses.list == nil {
		p.losses = t.lossesOn(t.slotTools, t.domain, p.spots)
	}
	p.losses.sort(t.units, &t.sorter)
	return p.losses.list
}

// plan spells out the best plan.
func (t *slotTry) plan() *plan {
	top := t.top
	if !t.brief || t.stats.Domains > 1 { // else nobody looks at it
		t.started(top)
	}
	if t.harmful && !t.brief && top.losses.list == nil {
		top.losses = t.lossesOn(t.slotTools, t.domain, top.spots) // as long as it is known who harms
	}
	p := &plan{domain: *t.domain, counted: !t.joint, score: top.score(), spots: top.spots, losses: top.losses}
	if t.joint && !t.brief { // trials tell why they can't return
		p.setVictims(t.sorted(top))
	}
	p.places = make([]domain.Assignment, len(top.seq))
	for i, at := range top.seq {
		p.places[i] = domain.Assignment{Member: t.leaf.Members[i], Node: t.node(at)}
	}
	return p
}
