package preemption

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// slotTry is the work of a slotSearch on one domain. Nodes are positions in it.
type slotTry struct {
	*slotSearch
	*slotTools
	domain *domain.Domain

	potential int         // how many potential victims there are
	harmful   bool        // the loss of some violates a budget
	cheapest  []slotOffer // nodes in order of what the first member there costs; not all
	top       *slotPlan   // the best so far
	checks    int
}

// slotPlan is a placement with what it costs.
type slotPlan struct {
	seq    []int32 // where the members go, in order
	spots  []spot
	price  domain.Price
	score  victims.Score
	losses []victims.Marked // those who go, in no order; see lose
	sorted bool
}

// spot is a node with members on it.
type spot struct {
	at    int32
	k     int32
	price domain.Price
}

func (t *slotTry) node(at int32) cluster.NodeID { return t.domain.Nodes[at] }

// run is tryDomain and evaluate of gangSearch.
func (t *slotTry) run() (out slotOutcome, ok bool) {
	defer func() { t.discharge(); out.checks = t.checks }()
	room := t.measure()
	if t.potential == 0 {
		return slotOutcome{why: domain.Reason{Check: noVictims, Detail: t.whyNobodyIn(t.domain)}}, true
	}
	out.evaluated = true
	k := int(min(room, int64(len(t.members))))
	if k < t.leaf.need() {
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

// measure counts slots and potential victims, and returns the slots in all.
func (t *slotTry) measure() (room int64) {
	t.slots, t.widths = t.slots[:0], t.widths[:0]
	all := int64(len(t.members))
	for _, n := range t.domain.Nodes {
		first, end := t.seats.Rungs(n)
		slots := int64(0)
		if t.admits(n) {
			slots = t.seats.Slots(n)
		}
		t.slots, t.widths = append(t.slots, slots), append(t.widths, int32(end-first))
		t.potential += int(end - first)
		room += min(slots, all)
	}
	t.count = grown(t.count, len(t.domain.Nodes))
	return room
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
	limit := t.searchChecks / t.stats.Domains / (1 + t.potential)
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
	for _, placer := range t.placers() {
		var seq []int32
		switch placer.(type) {
		case domain.LeastDisruption:
			seq = t.least(k)
		case domain.Pack:
			seq = t.pack(k)
		default:
			seq = t.spread(k)
		}
		if p := t.weigh(seq); p != nil {
			t.consider(p)
		}
	}
	if budget := t.searchChecks / t.stats.Domains; t.improves() && t.potential <= budget {
		t.climb(budget)
	}
}

// weigh prices a placement; nil if it costs more than the best so far.
func (t *slotTry) weigh(seq []int32) *slotPlan {
	p := &slotPlan{seq: seq, price: domain.Free, spots: t.spots(seq)}
	if t.top != nil && !t.harmful {
		for _, s := range p.spots {
			if t.seats.Highest(t.node(s.at), int64(s.k)) > t.top.price.Highest {
				return nil
			}
		}
	}
	for i := range p.spots {
		s := &p.spots[i]
		s.price = t.seats.Price(t.node(s.at), int64(s.k))
		pay(&p.price, s.price)
		if t.top != nil && (p.price.Violations > t.top.price.Violations ||
			p.price.Violations == t.top.price.Violations && p.price.Highest > t.top.price.Highest) {
			return nil
		}
	}
	if t.top != nil && p.price.Compare(t.top.price) > 0 {
		return nil
	}
	return p
}

// pay adds what has to go on one node to what has to go on others.
func pay(sum *domain.Price, p domain.Price) {
	sum.Violations += p.Violations
	sum.Highest = max(sum.Highest, p.Highest)
	sum.Sum += p.Sum
	sum.Pods += p.Pods
}

// spots counts members by node, nodes in order of their first.
func (t *slotTry) spots(seq []int32) []spot {
	t.touched = t.touched[:0]
	for _, at := range seq {
		if t.count[at]++; t.count[at] == 1 {
			t.touched = append(t.touched, at)
		}
	}
	spots := make([]spot, len(t.touched))
	for i, at := range t.touched {
		spots[i] = spot{at: at, k: t.count[at]}
		t.count[at] = 0
	}
	return spots
}

// consider gives back beside the members of p, which is known not to cost more than
// the best so far, and keeps p if it is better.
func (t *slotTry) consider(p *slotPlan) {
	for _, s := range p.spots {
		t.checks += int(t.widths[s.at]) // each of them is tried
	}
	p.score = victims.Score{Violations: int(p.price.Violations), Highest: math.MinInt32, Started: math.MaxInt64}
	if p.price.Pods > 0 {
		p.score.Highest, p.score.Sum, p.score.Pods = int32(p.price.Highest), p.price.Sum, int(p.price.Pods)
	}
	p.losses = make([]victims.Marked, 0, p.price.Pods)
	for _, s := range p.spots {
		n := t.node(s.at)
		for _, g := range t.seats.Victims(n, int64(s.k)) {
			p.lose(t, n, g)
		}
	}
	if t.top == nil || t.beats(p) {
		t.top = p
	}
}

// lose adds the unit on rung g of node n to the losses. Its mark is odd if it violates
// a budget, and else twice its number among them.
func (p *slotPlan) lose(t *slotTry, n cluster.NodeID, g victims.Rung) {
	loss := victims.Marked{Unit: t.ladder.Unit(n, g), Mark: int32(2 * len(p.losses))}
	if t.seats.Harms(n, g) {
		loss.Mark++
	}
	p.losses = append(p.losses, loss)
	if t.ladder.Owns(n)[g] == p.score.Highest {
		p.score.Started = min(p.score.Started, t.ladder.Started(n, g))
	}
}

// beats reports whether p is better than the best so far; see attemptAt.better.
func (t *slotTry) beats(p *slotPlan) bool {
	if c := p.score.Compare(t.top.score); c != 0 {
		return c < 0
	}
	t.sort(p)
	t.sort(t.top)
	return slices.CompareFunc(p.losses, t.top.losses, func(a, b victims.Marked) int { return -t.units.Compare(a.Unit, b.Unit) }) < 0
}

func (t *slotTry) sort(p *slotPlan) {
	if !p.sorted {
		t.sorter.Sort(t.units, p.losses)
		p.sorted = true
	}
}

// plan spells out the best plan.
func (t *slotTry) plan() *plan {
	p := &plan{domain: *t.domain, counted: true, score: t.top.score, losses: t.top.losses, sorted: t.top.sorted}
	p.places = make([]domain.Assignment, len(t.top.seq))
	for i, at := range t.top.seq {
		p.places[i] = domain.Assignment{Member: t.leaf.members[i], Node: t.node(at)}
	}
	return p
}
