package ask

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// Effort is how hard the least disruption is looked for.
type Effort int

// The efforts; each finds nothing worse than the one before.
const (
	Greedy   Effort = iota // who can comes back, the most important first
	Improved               // and other victims are looked for, in a few steps
	Exact                  // to the end, as far as the steps go
)

// each is what a victim of which these pods go adds to a criterion.
type each func(q *Question, u victims.UnitID, pods []cluster.PodID) int64

// measure says how a criterion is counted that a score has where a ranking names it.
type measure struct {
	each each // nil: what victims add is no matter of each by itself

	// all counts it of all victims at once, where the preemptor goes somewhere. nil: it is
	// the sum of each of those who cost something.
	all func(q *Question, list []victims.UnitID, parts victims.Parts, at []domain.Assignment) int64

	elsewhere bool // it is no function of the victims' nodes and of the units there
	loose     bool // each of some pods may be less than that of each of them added up
}

// measures are those criteria, but for those of levels and of what is in use.
var measures = map[victims.Criterion]measure{
	victims.CriterionOverruns: {all: (*Question).overruns},
	victims.CriterionStranded: {each: (*Question).numStranded, elsewhere: true},
	victims.CriterionCascade:  {each: (*Question).numInTurn, elsewhere: true},
	victims.CriterionLevels:   {elsewhere: true}, // who runs anywhere says which they are
	victims.CriterionGroups:   {each: (*Question).numGroups, all: (*Question).groupsOf, loose: true},
}

// measureOf is how c is counted; ok is false where every score has it.
func measureOf(c victims.Criterion) (m measure, ok bool) {
	if level, is := c.Level(); is {
		return measure{each: func(q *Question, u victims.UnitID, pods []cluster.PodID) (n int64) {
			if w := q.Whole(u, pods); w != nil {
				return w.Levels[level]
			}
			for _, p := range pods {
				if q.Index.Priority(p) == level {
					n++
				}
			}
			return n
		}}, true
	}
	if c.InUse() {
		return measure{all: func(q *Question, list []victims.UnitID, parts victims.Parts, at []domain.Assignment) int64 {
			return q.inUseAfter(c, list, parts, at)
		}, elsewhere: true}, true
	}
	m, ok = measures[c]
	return m, ok
}

// askedOf are the numbers that the score of some victims has where the ranking asks, when the
// preemptor goes to at; costly are those victims that cost something.
func (q *Question) askedOf(list, costly []victims.UnitID, parts victims.Parts, at []domain.Assignment) (asked map[victims.Criterion]int64) {
	for _, c := range q.Ranking {
		m, ok := measureOf(c)
		if !ok {
			continue
		}
		n := int64(0)
		if m.all != nil {
			n = m.all(q, list, parts, at)
		} else {
			for _, u := range costly {
				n += m.each(q, u, parts.Of(q.Units, u))
			}
		}
		if asked == nil {
			asked = make(map[victims.Criterion]int64)
		}
		asked[c] = n
	}
	return asked
}

// rankLevels puts the criteria in place of [victims.CriterionLevels] for which it stands.
func (q *Question) rankLevels() {
	if !slices.Contains(q.Ranking, victims.CriterionLevels) {
		return
	}
	seen := map[int32]bool{}
	var levels []int32
	for p := range cluster.PodID(q.Index.NumPods()) {
		if level := q.Index.Priority(p); q.Index.Runs(p) && !seen[level] {
			seen[level] = true
			levels = append(levels, level)
		}
	}
	s := *q.Settings
	s.Ranking = q.Ranking.Levelled(levels)
	q.Settings = &s
}

func (q *Question) overruns(list []victims.UnitID, parts victims.Parts, _ []domain.Assignment) int64 {
	return q.Wholes().Overruns(list, parts, q.Budgets.NewLedger())
}

// numGroups counts the pod groups that pods, of one unit, are of.
func (q *Question) numGroups(u victims.UnitID, pods []cluster.PodID) int64 {
	if w := q.Whole(u, pods); w != nil {
		return int64(len(w.Groups))
	}
	var of []cluster.GroupID
	for _, p := range pods {
		if g := q.Index.GroupOf(p); g != cluster.NoGroup && !slices.Contains(of, g) {
			of = append(of, g)
		}
	}
	return int64(len(of))
}

// groupsOf counts those of all victims that cost something.
func (q *Question) groupsOf(list []victims.UnitID, parts victims.Parts, _ []domain.Assignment) int64 {
	seen := map[cluster.GroupID]bool{}
	for _, u := range list {
		if q.free(u) {
			continue
		}
		pods := parts.Of(q.Units, u)
		if w := q.Whole(u, pods); w != nil {
			for _, g := range w.Groups {
				seen[g] = true
			}
			continue
		}
		for _, p := range pods {
			if g := q.Index.GroupOf(p); g != cluster.NoGroup {
				seen[g] = true
			}
		}
	}
	return int64(len(seen))
}

// kin is the group that unit u shares with others: pods that go one by one touch theirs once
// together, what goes as a whole is all that its groups have.
func (q *Question) kin(u victims.UnitID) cluster.GroupID {
	if pods := q.Units.Unit(u).Pods; len(pods) == 1 && !q.free(u) {
		return q.Index.GroupOf(pods[0])
	}
	return cluster.NoGroup
}

// Aims are the criteria by which scores are compared, for sets of victims among units of
// which some violate budgets, as r has found.
func (q *Question) Aims(r *reprieve.Runner, units []victims.UnitID, violating []reprieve.Charged) []reprieve.Aim {
	var aims []reprieve.Aim
	for _, c := range q.Ranking.Criteria() {
		aims = append(aims, q.aim(r, c, units, violating))
	}
	return aims
}

func (q *Question) aim(r *reprieve.Runner, c victims.Criterion, units []victims.UnitID, violating []reprieve.Charged) reprieve.Aim {
	switch c {
	case victims.CriterionOverruns:
		var rooms []reprieve.Cap
		for _, b := range q.Covering(units) {
			rooms = append(rooms, q.Cap(b))
		}
		return reprieve.Aim{Beyond: rooms}
	case victims.CriterionHighest:
		return reprieve.Aim{Most: func(u victims.UnitID) int64 {
			if q.free(u) {
				return math.MinInt64
			}
			return int64(q.Index.Priority(q.Units.Unit(u).Pods[0]))
		}}
	case victims.CriterionStarted:
		return reprieve.Aim{Among: true, Most: func(u victims.UnitID) int64 {
			if q.free(u) {
				return math.MinInt64
			}
			s := victims.Score{Started: q.loss(u).Started}
			return s.Value(c)
		}}
	}
	if c.InUse() { // known where victims have no say; see Known
		return reprieve.Aim{Base: q.inUseNow(c).count, Sum: func(victims.UnitID, []cluster.PodID) int64 { return 0 }}
	}
	m, ok := measureOf(c)
	if !ok {
		m = measure{
			each:  q.adds(r, c, violating),
			loose: c == victims.CriterionViolations || c == victims.CriterionUnits || c == victims.CriterionCost && q.OwnPrices,
		}
	}
	a := reprieve.Aim{
		Loose: m.loose,
		Sum: func(u victims.UnitID, pods []cluster.PodID) int64 {
			if c != victims.CriterionViolations && q.free(u) {
				return 0
			}
			return m.each(q, u, pods)
		},
	}
	if c == victims.CriterionGroups {
		a.Kin = func(u victims.UnitID) int { return int(q.kin(u)) }
	}
	return a
}

// adds is what a victim adds to a criterion that every score has.
func (q *Question) adds(r *reprieve.Runner, c victims.Criterion, violating []reprieve.Charged) each {
	switch c {
	case victims.CriterionViolations:
		of := make(map[victims.UnitID]reprieve.Charged, len(violating))
		for _, charged := range violating {
			of[charged.Unit] = charged
		}
		return func(_ *Question, u victims.UnitID, pods []cluster.PodID) int64 {
			if charged, in := of[u]; in {
				return int64(r.ViolationsOfPods(charged, pods))
			}
			return 0
		}
	case victims.CriterionSum:
		return func(q *Question, u victims.UnitID, pods []cluster.PodID) (sum int64) {
			if w := q.Whole(u, pods); w != nil {
				return w.Loss.Price.Sum
			}
			for _, p := range pods {
				sum += priority.Raised(q.Index.Priority(p))
			}
			return sum
		}
	case victims.CriterionPods:
		return func(_ *Question, _ victims.UnitID, pods []cluster.PodID) int64 { return int64(len(pods)) }
	case victims.CriterionCost:
		return func(_ *Question, u victims.UnitID, pods []cluster.PodID) int64 { return q.Units.CostOf(u, pods) }
	}
	return func(*Question, victims.UnitID, []cluster.PodID) int64 { return 1 } // units
}

// loss is what the loss of unit u costs.
func (q *Question) loss(u victims.UnitID) victims.Loss {
	if w := q.Wholes().Of(u); w != nil {
		return w.Loss
	}
	return q.Units.Loss(u)
}

// free reports whether the loss of unit u costs nothing.
func (q *Question) free(u victims.UnitID) bool { return q.BrokenFree && q.Broken(u) }

// Known is of how many criteria Aims say what scores do: a score reads the highest priority
// of its first victim's first pod, which is that of all where every pod has the priority
// that its unit is ordered by; the start of those of its pods that go, not of all; and the nodes
// and domains in use, which are those of now where a lone pod goes to the one node that victims
// leave. Of devices that is not known, nor of priorities and starts in an order of one's own.
func (q *Question) Known(units []victims.UnitID) int {
	list := q.Ranking.Criteria()
	known, highest := len(list), slices.Index(list, victims.CriterionHighest)
	started, nodes := slices.Index(list, victims.CriterionStarted), slices.IndexFunc(list, victims.Criterion.InUse)
	if highest < 0 && nodes < 0 && started < 0 {
		return known
	}
	until := func(at int) {
		if at >= 0 {
			known = min(known, at)
		}
	}
	until(slices.Index(list, victims.CriterionDevices))
	if q.Units.OwnOrder() {
		until(highest)
		until(started)
	}
	if q.Tree != nil {
		until(nodes)
	}
	for _, u := range units {
		unit := q.Units.Unit(u)
		if w := q.Wholes().Of(u); w != nil {
			if !w.Even(unit.Level) {
				until(highest)
			}
			if !w.OneNode {
				until(nodes)
			}
			if unit.Elastic {
				until(started)
			}
			continue
		}
		for _, p := range unit.Pods {
			if q.Index.Priority(p) != unit.Level {
				until(highest)
			}
			if q.Index.NodeOf(p) != q.Index.NodeOf(unit.Pods[0]) {
				until(nodes)
			}
		}
		if unit.Elastic {
			until(started)
		}
	}
	return known
}
