package verify

import (
	"fmt"
	"math"
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/budgets"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/check/internal/order"
	"github.com/preempt-go/preempt/preemption/check/internal/tariff"
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

// readDisruption recounts what is said of the victims that were read last, and returns
// their score.
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

// charging lists whom budgets are charged for in a domain, most important first: all who
// may be evicted and whom a budget covers, but where a gang is bounded not those whose
// eviction alone goes beyond a bound.
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

// criteria spells s out, smaller is better. What a hook prices is taken as it is said, how many
// preempt in turn, or more have no place, where a hook says who may go, and what is in use where a gang was not chosen, which is
// not told where it would go.
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

// countOf counts what a score has where the objective names it; pods are those that cost
// something.
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
