package verify

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/budgets"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/check/internal/order"
	"github.com/preempt-go/preempt/preemption/check/internal/room"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/check/internal/tariff"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// score is what the criteria read of victims.
type score struct {
	violations int
	highest    int32
	sum        int64
	pods       int
	started    int64
	cost       int64
	units      int
	overruns   int64
	costly     []*pod // those of the victims that cost something
}

// readDisruption recounts what is said of the victims that were read last, and returns their score.
func (a *answer) readDisruption(d *preemption.Candidate, where string) score {
	for i := 1; i < len(a.victims) && a.ranks(); i++ {
		if a.moreImportant(a.victims[i-1].unit, a.victims[i].unit) > 0 {
			a.wrong(found.Form, a.victims[i].Victim, "%sit is more important than the victim before it", where)
		}
	}
	if a.ranks() {
		a.charge(a.charging(a.nodes))
	}
	s := a.scoreOf(a.victims)
	if !a.ranks() {
		s.violations = d.Violations // who uses a budget first is the hook's to say
	}
	if d.Violations != s.violations {
		a.Add(found.Violations, "%sthey are %d, not %d", where, s.violations, d.Violations)
	}
	if d.Overruns != s.overruns {
		a.Add(found.Overruns, "%sthey are %d, not %d", where, s.overruns, d.Overruns)
	}
	for i := range a.victims {
		v := &a.victims[i]
		if violates := a.chargeOf(v.unit, v.pods) > 0; a.ranks() && v.Violates != violates {
			a.wrong(found.Violations, v.Victim, "%swhether it violates a budget is %t", where, violates)
		}
	}
	want := a.criteria(s, d.Score, where == "")
	for i, c := range want {
		switch {
		case i >= len(d.Score) || d.Score[i].Name != c.Name:
			a.Add(found.Score, "%s%s does not stand at place %d", where, c.Name, i+1)
		case d.Score[i].Value != c.Value:
			a.Add(found.Score, "%s%s is %d, not %d", where, c.Name, c.Value, d.Score[i].Value)
		}
	}
	if len(d.Score) > len(want) {
		a.Add(found.Score, "%sit has %d criteria too many", where, len(d.Score)-len(want))
	}
	return s
}

// ranks: the order of importance is that of the rules.
func (q *question) ranks() bool {
	return (q.o.Hooks == nil || q.o.Hooks.Order == nil && q.o.Hooks.Eligible == nil) && (q.priced() || !q.o.Cost.Importance)
}

// charging lists whom budgets are charged for in a domain, most important first: all who may be evicted and whom a budget covers, but where a gang
// is bounded not those whose eviction alone goes beyond a bound.
func (q *question) charging(nodes []*node) []*unit {
	if len(q.budgets.All) == 0 {
		return nil
	}
	list := slices.DeleteFunc(q.evictable(nodes...), func(u *unit) bool {
		return !slices.ContainsFunc(u.pods, func(p *pod) bool { return len(q.covering(p)) > 0 }) ||
			q.team != nil && q.stuck(u)
	})
	slices.SortFunc(list, q.moreImportant)
	return list
}

// scoreOf scores victims, most important first. The rules read pods, not units.
func (q *question) scoreOf(list []victim) score {
	s, top := score{highest: math.MinInt32, started: math.MaxInt64}, int32(math.MinInt32)
	var out []*pod
	for _, v := range list {
		s.violations += q.chargeOf(v.unit, v.pods)
		out = append(out, v.pods...)
		if q.free(v.unit) {
			continue
		}
		s.units++
		if s.pods == 0 {
			s.highest = v.pods[0].priority
		}
		s.cost = tariff.Add(s.cost, q.price(v.unit, v.pods))
		for _, p := range v.pods {
			s.pods++
			s.costly = append(s.costly, p)
			s.sum += int64(p.priority) + 1<<31
			switch start := q.started(p); {
			case p.priority > top:
				top, s.started = p.priority, start
			case p.priority == top:
				s.started = min(s.started, start)
			}
		}
	}
	s.overruns = budgets.Overruns(budgets.Charged(q.coverings(out)))
	return s
}

// criteria spells s out, smaller is better. What a hook prices is taken as it is said, how many preempt in turn, or more have no place, where a
// hook says who may go, and what is in use where a gang was not chosen, which is not told where it would go.
func (a *answer) criteria(s score, said []preemption.Criterion, chosen bool) []preemption.Criterion {
	start := int64(math.MaxInt64)
	if s.started != math.MinInt64 {
		start = -s.started
	}
	values := map[preemption.CriterionName]int64{
		"violations": int64(s.violations), "highest priority": int64(s.highest), "sum of priorities": s.sum, "pods": int64(s.pods),
		"earliest start": start, "overruns": s.overruns, "units": int64(s.units), "cost": s.cost,
	}
	var list []preemption.Criterion
	for i, name := range a.objective() {
		value, counted := values[name]
		if !counted {
			value = a.countOf(name, s.costly)
		}
		if i < len(said) && (name == "cost" && !a.priced() || name == "pods that preempt in turn" && a.ownEligible() ||
			name.InUse() && a.team != nil && !chosen) {
			value = said[i].Value
		}
		if i < len(said) && name == "pods without a place" && a.o.Chain > 0 && a.ownEligible() { // fewer move, perhaps, than if all may go
			value = max(value, said[i].Value)
		}
		list = append(list, preemption.Criterion{Name: string(name), Value: value})
	}
	return list
}

// countOf counts what a score has where the objective names it; pods are those that cost something.
func (a *answer) countOf(name preemption.CriterionName, pods []*pod) (n int64) {
	if name == "groups touched" {
		groups := map[*group]bool{}
		for _, p := range pods {
			groups[p.group] = true
		}
		delete(groups, nil)
		return int64(len(groups))
	}
	if name.InUse() {
		return a.inUse(name)
	}
	for _, p := range pods {
		switch {
		case name == "pods without a place" && !a.moves(p, a.o.Chain),
			name == "pods that preempt in turn" && !a.moves(p, a.o.Chain) && a.moves(p, anybody),
			string(name) == fmt.Sprint("pods of priority ", p.priority):
			n++
		}
	}
	return n
}

// objective is what scores are compared by.
func (q *question) objective() []preemption.CriterionName {
	if q.ranking == nil {
		list, levels := order.Criteria(q.o), map[int32]bool{}
		if slices.Contains(list, "pods by level") {
			for i := range q.Pods {
				if p := &q.Pods[i]; p.Node != "" {
					levels[q.priorityOf(p)] = true
				}
			}
		}
		q.ranking = order.ByLevel(list, levels)
	}
	return q.ranking
}

// optimizes: the victims are not those of giving back alone.
func (q *question) optimizes() bool {
	return q.o.Cost.Objective || q.o.Search == preemption.Improved || q.o.Search == preemption.Exact
}

// liking is how much a lone pod likes node n, of which others use so much of what it asks
// for: the average share that it leaves free, or that is allocated then, in millionths.
func (a *answer) liking(n *node, used []int64) *big.Int {
	if a.o.Prefer == "" {
		return new(big.Int)
	}
	free := room.Share(n.Allocatable, a.scene.asks, used, a.members[0].Requests)
	if a.o.Prefer != preemption.LeastAllocated {
		free.Neg(free)
	}
	return free
}

// ownLiking reports whether the user says what a pod prefers.
func (a *answer) ownLiking() bool { return a.o.Hooks != nil && a.o.Hooks.Prefer != nil }

// comesFirst reports whether a lone pod prefers candidate c to d, which ties with it.
func (a *answer) comesFirst(c, d *preemption.Candidate) bool {
	if a.ownLiking() {
		return false
	}
	likes := a.likingOf(c).Cmp(a.likingOf(d))
	return likes > 0 || likes == 0 && c.Domain < d.Domain
}

// likingOf is liking for the domain of c, with its victims gone.
func (a *answer) likingOf(c *preemption.Candidate) *big.Int {
	n := a.byNode[c.Domain]
	if n == nil || a.o.Prefer == "" {
		return new(big.Int)
	}
	gone := map[preemption.PodRef]bool{}
	for _, v := range c.Victims {
		for _, p := range v.Pods {
			gone[p.PodRef] = true
		}
	}
	used := make([]int64, len(a.scene.asks))
	for i := range a.Snapshot.Pods {
		p := &a.Snapshot.Pods[i]
		if p.Node == n.Name && !gone[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}] {
			for r, name := range a.scene.asks {
				used[r] += p.Requests[name]
			}
		}
	}
	return a.liking(n, used)
}

// use is what is in use of before anybody goes or comes.
type use struct {
	on     []int64          // by node: devices that are held, or 1 where somebody runs
	sum    int64            // of all nodes, or the values that have nodes in use
	values map[string]int64 // of a label: how many nodes in use have each
}

// inUse is on how many nodes somebody runs once the victims are gone and the preemptor is there,
// how many devices are held then, or how many values of a label those nodes have.
func (a *answer) inUse(name preemption.CriterionName) int64 {
	out, come, differ := map[*pod]bool{}, map[*node][]*cluster.Pod{}, map[*node]bool{}
	for _, p := range a.out() {
		if out[p] = true; p.at != nil {
			differ[p.at] = true
		}
	}
	if a.team == nil {
		come[a.nodes[0]], differ[a.nodes[0]] = []*cluster.Pod{a.members[0].Pod}, true
	} else {
		for _, n := range a.r.Nominations {
			if at, m := a.byNode[n.Node], a.named[n.Pod]; at != nil && m != nil {
				come[at], differ[at] = append(come[at], m.Pod), true
			}
		}
	}
	before := a.usedBefore(name)
	count, more := before.sum, map[string]int64{}
	label, labelled := name.Label()
	for n := range differ {
		by := usedOn(name, n, func(p *pod) bool { return out[p] }, come[n]) - before.on[n.number]
		if value, has := n.Labels[label]; !labelled {
			count += by
		} else if has {
			was := before.values[value] + more[value]
			more[value] += by
			count += min(was+by, 1) - min(was, 1)
		}
	}
	return count
}

// usedBefore is what is in use before anybody goes or comes, added up once.
func (w *world) usedBefore(name preemption.CriterionName) *use {
	if w.uses[name] != nil {
		return w.uses[name]
	}
	u := &use{values: map[string]int64{}}
	label, labelled := name.Label()
	for _, n := range w.all() {
		on := usedOn(name, n, func(*pod) bool { return false }, nil)
		u.on = append(u.on, on)
		if value, has := n.Labels[label]; !labelled {
			u.sum += on
		} else if has && on > 0 {
			u.values[value]++
			u.sum = int64(len(u.values))
		}
	}
	w.uses[name] = u
	return u
}

// usedOn is how many devices of n are held once some are gone and others come, or 1 if anybody is there.
func usedOn(name preemption.CriterionName, n *node, gone func(*pod) bool, come []*cluster.Pod) (count int64) {
	if name == preemption.CriterionDevices {
		return suits.NewSeating(n.Node, n.staying(gone), come).Held()
	}
	if len(come) > 0 || slices.ContainsFunc(n.pods(), func(p *pod) bool { return !gone(p) }) {
		count = 1
	}
	return count
}

// running are the pods that run on n.
func (n *node) running() []*cluster.Pod { return n.staying(func(*pod) bool { return false }) }

// staying are the pods that run on n and are not gone.
func (n *node) staying(gone func(*pod) bool) (list []*cluster.Pod) {
	for _, p := range n.pods() {
		if !gone(p) {
			list = append(list, p.Pod)
		}
	}
	return list
}
