package verify

import (
	"cmp"
	"math"
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
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
	stranded   int64
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
	if n := overruns(a.charged(a.out())); d.Overruns != n {
		a.Add(found.Overruns, "%sthey are %d, not %d", where, n, d.Overruns)
	}
	for i := range a.victims {
		v := &a.victims[i]
		if violates := a.chargeOf(v.unit, v.pods) > 0; a.ranks() && v.Violates != violates {
			a.wrong(found.Violations, v.Victim, "%swhether it violates a budget is %t", where, violates)
		}
	}
	want := a.criteria(s, d.Score)
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
	if len(q.budgets.all) == 0 {
		return nil
	}
	list := slices.DeleteFunc(q.evictable(nodes...), func(u *unit) bool {
		return !slices.ContainsFunc(u.pods, func(p *pod) bool { return len(q.budgets.covering(p)) > 0 }) ||
			q.team != nil && q.bounded() && !u.elastic && len(q.beyond([]victim{{unit: u, pods: u.pods}})) > 0
	})
	slices.SortFunc(list, q.moreImportant)
	return list
}

// scoreOf scores victims, most important first. The rules read pods, not units.
func (q *question) scoreOf(list []victim) score {
	s := score{highest: math.MinInt32, started: math.MaxInt64}
	moves := slices.Contains(q.objective(), "pods without a place")
	top := int32(math.MinInt32)
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
		s.cost = addPrices(s.cost, q.price(v.unit, v.pods))
		for _, p := range v.pods {
			s.pods++
			if moves && !q.moves(p) {
				s.stranded++
			}
			s.sum += int64(p.priority) + 1<<31
			switch start := q.started(p); {
			case p.priority > top:
				top, s.started = p.priority, start
			case p.priority == top:
				s.started = min(s.started, start)
			}
		}
	}
	s.overruns = overruns(q.charged(out))
	return s
}

// criteria spells s out, smaller is better. What a hook prices is taken as it is said.
func (q *question) criteria(s score, said []preemption.Criterion) []preemption.Criterion {
	start := int64(math.MaxInt64)
	if s.started != math.MinInt64 {
		start = -s.started
	}
	values := map[preemption.CriterionName]int64{
		"violations": int64(s.violations), "highest priority": int64(s.highest), "sum of priorities": s.sum, "pods": int64(s.pods),
		"earliest start": start, "overruns": s.overruns, "units": int64(s.units), "cost": s.cost,
		"pods without a place": s.stranded,
	}
	var list []preemption.Criterion
	for i, name := range q.objective() {
		if name == "cost" && !q.priced() && i < len(said) {
			values[name] = said[i].Value
		}
		list = append(list, preemption.Criterion{Name: string(name), Value: values[name]})
	}
	return list
}

// objective is what scores are compared by.
func (q *question) objective() []preemption.CriterionName {
	if len(q.o.Objective) > 0 {
		return q.o.Objective
	}
	list, at := []preemption.CriterionName{"violations", "highest priority", "sum of priorities", "pods", "earliest start"}, q.o.Cost.Criterion
	if q.o.Cost.Objective {
		at = 1
	}
	if at == 0 {
		return list
	}
	return slices.Insert(list, at-1, "cost")
}

// optimizes: the victims are not those of giving back alone.
func (q *question) optimizes() bool {
	return q.o.Cost.Objective || q.o.Search == preemption.Improved || q.o.Search == preemption.Exact
}

// compareScores is below zero if a disrupts less than b.
func compareScores(a, b []preemption.Criterion) int {
	return slices.CompareFunc(a, b, func(x, y preemption.Criterion) int { return cmp.Compare(x.Value, y.Value) })
}
