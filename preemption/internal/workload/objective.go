package workload

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// Objective is what makes some victims of a workload disrupt less than others, and how hard the
// least is looked for. With the zero Objective the queue's own pass decides.
type Objective struct {
	Ranking victims.Ranking
	Compare victims.Comparison // in place of Ranking; nil: none
	Effort  ask.Effort
	Steps   int          // that one search may take
	Cost    victims.Cost // nil: nothing has a price
	Poll    func()       // as that of [ask.Question]
	Prove   bool         // the least is to be shown
}

// Least is what the search for those who disrupt least came to.
type Least struct {
	Ranking  victims.Ranking // with a criterion for each level
	Score    victims.Score
	Bound    []int64 // of any victims, as [quotasearch.Least]; nil: nothing is known
	Optimal  bool
	Instead  bool   // of those of the queue's own pass
	Searched int    // how many workloads were decided on
	Shown    *Shown // nil: nobody asked, or it can't be
}

// Known is what is known of Bound: up to the first value that differs from the Score's.
func (l *Least) Known() []int64 {
	values := l.Ranking.Values(l.Score)
	if l.Optimal {
		return values
	}
	for i, v := range l.Bound {
		if v != values[i] {
			return l.Bound[:i+1]
		}
	}
	return l.Bound
}

// measures are the numbers of workloads that m knows for an objective.
type measures struct {
	*Objective
	m       *Model
	ranking victims.Ranking
	prices  map[*quota.Reservation]int64
}

func (m *Model) measures(o *Objective) *measures {
	ms := &measures{Objective: o, m: m, ranking: o.Ranking.Criteria(), prices: map[*quota.Reservation]int64{}}
	if slices.Contains(ms.ranking, victims.CriterionLevels) {
		var levels []int32
		for _, r := range m.everybody() {
			levels = append(levels, priorityOf(r))
		}
		slices.Sort(levels)
		ms.ranking = ms.ranking.Levelled(slices.Compact(levels))
	}
	return ms
}

// priorityOf is the priority of r as scores count it: with its boost.
func priorityOf(r *quota.Reservation) int32 {
	return int32(min(max(r.Priority, math.MinInt32), math.MaxInt32))
}

// pods is as how many pods r counts: one where its pods are not known.
func (ms *measures) pods(r *quota.Reservation) int64 {
	return max(1, int64(len(ms.m.Pods.Of[r])))
}

// price is what it costs to evict r: a workload whose pods are not known has lost the
// work since it holds its quota, of what it holds.
func (ms *measures) price(r *quota.Reservation) int64 {
	price, known := ms.prices[r]
	if known || ms.Cost == nil {
		return price
	}
	if pods, ix := ms.m.Pods.Of[r], ms.m.Pods.Cluster; len(pods) > 0 {
		price = ms.Cost.Price(ix, ms.m.Pods.GroupOf(pods[0]), pods)
	} else if t, ok := ms.Cost.(victims.Tariff); ok {
		for i := range r.Workload.PodSets {
			price = checked.Add(price, checked.Mul(t.Pods, int64(r.Workload.PodSets[i].Count)))
		}
		seconds := int64(0)
		if ms.m.now != math.MaxInt64 {
			seconds = max(0, checked.Sub(ms.m.now, r.Reserved)/int64(time.Second))
		}
		for _, u := range r.Usage {
			if rate := t.Work[ms.m.Index.ResourceName(u.Column)]; rate.Price > 0 {
				price = checked.Add(price, rate.Of(u.Amount, seconds))
			}
		}
	}
	ms.prices[r] = price
	return price
}

// adds is what r adds to a criterion that is a sum. Of budgets and nodes workloads know nothing.
func (ms *measures) adds(c victims.Criterion, r *quota.Reservation) int64 {
	if r.Evicted {
		return 0 // it goes in any case
	}
	switch c {
	case victims.CriterionSum:
		return checked.Mul(ms.pods(r), priority.Raised(priorityOf(r)))
	case victims.CriterionPods:
		return ms.pods(r)
	case victims.CriterionUnits:
		return 1
	case victims.CriterionCost:
		return ms.price(r)
	case victims.CriterionGroups:
		touched := map[cluster.GroupID]bool{cluster.NoGroup: true}
		for _, p := range ms.m.Pods.Of[r] {
			touched[ms.m.Pods.Cluster.GroupOf(p)] = true
		}
		return int64(len(touched) - 1)
	}
	if level, ok := c.Level(); ok && level == priorityOf(r) {
		return ms.pods(r)
	}
	return 0
}

// aims are the criteria as the search reads them.
func (ms *measures) aims() []quotasearch.Aim {
	none := victims.Score{Highest: math.MinInt32, Started: math.MaxInt64}
	var aims []quotasearch.Aim
	for _, c := range ms.ranking {
		if c != victims.CriterionHighest && c != victims.CriterionStarted {
			aims = append(aims, quotasearch.Aim{Sum: func(r *quota.Reservation) int64 { return ms.adds(c, r) }})
			continue
		}
		aims = append(aims, quotasearch.Aim{Among: c == victims.CriterionStarted, Most: func(r *quota.Reservation) int64 {
			if r.Evicted {
				return none.Value(c)
			}
			s := victims.Score{Highest: priorityOf(r), Started: r.Reserved}
			return s.Value(c)
		}})
	}
	return aims
}

// score is that of some victims.
func (ms *measures) score(list []quotasearch.Victim) victims.Score {
	s := victims.Score{Highest: math.MinInt32, Started: math.MaxInt64}
	for _, v := range list {
		r := v.Reservation
		s.Sum = checked.Add(s.Sum, ms.adds(victims.CriterionSum, r))
		s.Pods += int(ms.adds(victims.CriterionPods, r))
		s.Units += int(ms.adds(victims.CriterionUnits, r))
		s.Cost = checked.Add(s.Cost, ms.adds(victims.CriterionCost, r))
		switch prio := priorityOf(r); {
		case r.Evicted:
		case prio > s.Highest:
			s.Highest, s.Started = prio, r.Reserved
		case prio == s.Highest:
			s.Started = min(s.Started, r.Reserved)
		}
		for _, c := range ms.ranking {
			if _, level := c.Level(); level || c == victims.CriterionGroups {
				if s.Asked == nil {
					s.Asked = map[victims.Criterion]int64{}
				}
				s.Asked[c] += ms.adds(c, r)
			}
		}
	}
	return s
}

// compare is below zero if a disrupts less than b.
func (ms *measures) compare(a, b *victims.Score) int {
	if ms.Compare != nil {
		return ms.Compare.Compare(*a, *b)
	}
	return ms.ranking.Compare(*a, *b)
}

// least looks for victims that disrupt less than list, which the queue's own pass came to: nil
// if it came to none.
func (a *assigner) least(request []quota.ColumnAmount, contested []quota.ColumnID, list []quotasearch.Victim) ([]quotasearch.Victim, *Least) {
	if a.patient {
		return list, nil
	}
	ms := a.measures(a.objective)
	found := &Least{Ranking: ms.ranking}
	question := Question(a.w, a.queue, request, contested)
	if a.Rules.Fair || ms.Compare != nil {
		if len(list) == 0 {
			return nil, found
		}
		best, gone, before := ms.score(list), a.Gone, a.Trials
		better := func(other []quotasearch.Victim) bool {
			score := ms.score(other)
			better := ms.compare(&score, &best) < 0
			if better {
				best, found.Instead = score, true
			}
			return better
		}
		list = a.spareSmall(&question, list, ms.Poll, better)
		list, _ = a.Spare(&question, list, ms.Steps, ms.Poll, better)
		a.Gone, found.Searched = gone, a.Trials-before
	} else {
		steps := ms.Steps
		if ms.Effort != ask.Exact {
			steps = 0
		}
		l := a.Least(&question, ms.aims(), steps, ms.Poll)
		found.Searched, found.Bound, found.Optimal = l.Steps, l.Bound, l.Proof == reprieve.Found
		found.Instead = !sameVictims(list, l.Victims)
		list = l.Victims
	}
	found.Score = ms.score(list)
	return list, found
}

// sameVictims reports whether two lists have the same victims.
func sameVictims(a, b []quotasearch.Victim) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(v quotasearch.Victim) bool { return !slices.Contains(b, v) })
}

// mostSizes is how many sizes spareSmall tells apart.
const mostSizes = 8

// spareSmall looks for better victims than list where the small are spared: those who use less than so much
// of what is short first. In Gone it leaves those whom it has spared for what it returns.
func (s *Search) spareSmall(
	q *quotasearch.Question, list []quotasearch.Victim, poll func(), better func([]quotasearch.Victim) bool,
) []quotasearch.Victim {
	all := s.everybody()
	uses := func(r *quota.Reservation) (amount int64) {
		for _, u := range r.Usage {
			if u.Column == q.Contested[0] {
				amount = u.Amount
			}
		}
		return amount
	}
	var sizes []int64
	for _, r := range all {
		sizes = append(sizes, uses(r))
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	spared, gone := s.Gone, s.Gone
	for k := range min(mostSizes, len(sizes)) {
		if poll != nil {
			poll()
		}
		size := sizes[(k+1)*len(sizes)/min(mostSizes, len(sizes))-1]
		s.Gone = maps.Clone(gone)
		if s.Gone == nil {
			s.Gone = map[*quota.Reservation]bool{}
		}
		for _, r := range all {
			if uses(r) < size && !r.Evicted {
				s.Gone[r] = true
			}
		}
		if other := slices.Clone(s.Victims(q)); len(other) > 0 && better(other) {
			list, spared = other, s.Gone
		}
	}
	s.Gone = spared
	return list
}

// Spare looks for better victims than list, which Victims has found for q: it spares one of them
// after the other, so that the same rules choose among the others, and goes on from what is
// better. steps is how many workloads may go on the way; taken is how many have.
func (s *Search) Spare(
	q *quotasearch.Question, list []quotasearch.Victim, steps int, poll func(), better func([]quotasearch.Victim) bool,
) (best []quotasearch.Victim, taken int) {
	gone, before := s.Gone, s.Trials
	defer func() { s.Gone = gone }()
	s.Gone = maps.Clone(gone)
	if s.Gone == nil {
		s.Gone = map[*quota.Reservation]bool{}
	}
	for i := 0; i < len(list) && s.Trials-before < steps; i++ {
		if poll != nil {
			poll()
		}
		v := list[i]
		if v.Evicted {
			continue // it goes in any case
		}
		s.Gone[v.Reservation] = true
		if other := slices.Clone(s.Victims(q)); len(other) > 0 && better(other) {
			list, i = other, -1
			continue
		}
		delete(s.Gone, v.Reservation)
	}
	return list, s.Trials - before
}
