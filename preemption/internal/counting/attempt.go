package counting

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// attempt is the work of a Search on one domain. Nodes are positions in it.
type attempt struct {
	*Search
	*tools
	domain *domain.Domain

	potential int                                       // how many potential victims there are
	harmful   bool                                      // the loss of some violates a budget
	marked    bool                                      // harm says whose
	harms     func(cluster.NodeID) *columns.PositionSet // whose does, by node; nil: nobody's
	joint     bool                                      // some units have several pods
	shared    bool                                      // some potential victims have
	cheapest  []nodeCost                                // nodes in order of what the first member there costs; not all
	top       *draft                                    // the best so far
	spare     *draft                                    // see draft; nil: none yet
	checks    int
}

func (t *attempt) node(at int32) cluster.NodeID { return t.domain.Nodes[at] }

// numBelow is how many potential victims there are on a node.
func (t *attempt) numBelow(at int32) int {
	units, _ := t.Columns.NumBelow(t.node(at), t.Priority)
	return units
}

// run looks for the plan that disrupts least.
func (t *attempt) run() (out Outcome) {
	defer func() { t.discharge(); out.Checks = t.checks }()
	room, ok := t.measure()
	if !ok || t.joint && t.Mobile {
		return Outcome{ByTrials: true}
	}
	if t.potential == 0 {
		return Outcome{Refusal: NoVictims}
	}
	k := int(min(room, int64(len(t.Members))))
	if k < t.Gang.Need() {
		return Outcome{Refusal: NoPlacement, Room: k}
	}
	few := t.fewWays(k)
	if few && t.Fewest {
		return Outcome{ByTrials: true}
	}
	t.charge()
	switch {
	case t.Mobile:
		t.moving(k)
	case few:
		t.still(k)
		t.everyWay(k)
	default:
		if t.still(k); t.climbs() {
			t.climb()
		}
	}
	return Outcome{Plan: t.plan()}
}

// grown returns list with room for n, all zero if it was.
func grown[T any](list []T, n int) []T {
	if len(list) < n {
		return make([]T, n)
	}
	return list
}

// fewWays reports whether there are so few placements of k members that all of them
// are looked at.
func (t *attempt) fewWays(k int) bool {
	if !t.Improves {
		return false
	}
	limit := t.Checks / t.shares / (1 + t.potential)
	all := len(t.Members)
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
	if k == all && !t.Fewest {
		return ways[all] <= limit
	}
	sum := 0
	for _, w := range ways {
		sum += w
	}
	return sum <= limit
}

// still tries the placements of k members by each placer.
func (t *attempt) still(k int) {
	var before []int32
	checks := 0
	for _, placer := range t.Placers {
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
		if p := t.weigh(seq); p != nil {
			t.consider(p)
		}
		checks += t.checks
	}
}

// consider keeps p, which is known not to cost more than the best so far, if it is
// better.
func (t *attempt) consider(p *draft) {
	if t.checks += p.tried; !t.joint {
		for _, s := range p.spots {
			t.checks += t.numBelow(s.at) // each of them is tried
		}
	}
	if t.top == nil || t.beats(p) {
		t.top, t.spare = p, t.top
	}
}

// beats reports whether p is better than the best so far.
func (t *attempt) beats(p *draft) bool {
	if c := p.price.Compare(t.top.price); c != 0 {
		return c < 0
	}
	if c := cmp.Compare(t.started(t.top), t.started(p)); c != 0 {
		return c < 0
	}
	return slices.CompareFunc(t.sorted(p), t.sorted(t.top), func(a, b victims.Marked) int { return -t.Units.Compare(a.Unit, b.Unit) }) < 0
}

// sorted are the losses of p, most important first.
func (t *attempt) sorted(p *draft) []victims.Marked {
	if p.losses.list == nil {
		p.losses = t.lossesOn(t.tools, t.domain, p.spots)
	}
	p.losses.sort(t.Units, &t.sorter)
	return p.losses.list
}

// plan spells out the best plan.
func (t *attempt) plan() *Plan {
	top := t.top
	if !t.Brief || t.domains > 1 { // else nobody looks at it
		t.started(top)
	}
	if t.harmful && !t.Brief && top.losses.list == nil {
		top.losses = t.lossesOn(t.tools, t.domain, top.spots) // as long as it is known who harms
	}
	p := &Plan{Domain: *t.domain, Joint: t.joint, Score: top.score(), spots: top.spots, losses: top.losses}
	if t.joint && !t.Brief { // trials tell why they can't return
		p.setVictims(t.sorted(top))
	}
	p.Places = make([]domain.Assignment, len(top.seq))
	for i, at := range top.seq {
		p.Places[i] = domain.Assignment{Member: t.Gang.Members[i], Node: t.node(at)}
	}
	return p
}

// LeastJoint places as many members as fit in d where least has to go for each of them,
// as long as that is counted where units have several pods: for tests, which place them
// by trials, too.
func (f *Search) LeastJoint(d *domain.Domain) (nodes []cluster.NodeID) {
	t := &attempt{Search: f, tools: f.tools, domain: d}
	room, ok := t.measure()
	if k := min(room, int64(len(t.Members))); ok && t.shared && k > 0 && int(k) >= t.Gang.Need() {
		t.charge()
		for _, at := range t.leastJoint(int(k)) {
			nodes = append(nodes, t.node(at))
		}
	}
	return nodes
}

// CountedJoint reports whether a plan was counted where units have several pods: for tests.
func (f *Search) CountedJoint() bool { return f.tools.joint.giving != nil }
