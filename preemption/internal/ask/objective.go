package ask

import (
	"math"
	"slices"

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
	Improved               // and other victims are looked for, without branching
	Exact                  // to the end, as far as the steps go
)

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
		for _, b := range q.covering(units) {
			rooms = append(rooms, q.capOf(b))
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
			s := victims.Score{Started: q.Units.Loss(u).Started}
			return s.Value(c)
		}}
	}
	sum := q.adds(r, c, violating)
	return reprieve.Aim{
		Loose: c == victims.CriterionViolations || c == victims.CriterionUnits || c == victims.CriterionCost && q.OwnPrices,
		Sum: func(u victims.UnitID, pods []cluster.PodID) int64 {
			if c != victims.CriterionViolations && q.free(u) {
				return 0
			}
			return sum(u, pods)
		},
	}
}

// adds is what a victim of which these pods go adds to a criterion.
func (q *Question) adds(r *reprieve.Runner, c victims.Criterion, violating []reprieve.Charged) func(victims.UnitID, []cluster.PodID) int64 {
	switch c {
	case victims.CriterionViolations:
		of := make(map[victims.UnitID]reprieve.Charged, len(violating))
		for _, charged := range violating {
			of[charged.Unit] = charged
		}
		return func(u victims.UnitID, pods []cluster.PodID) int64 {
			if charged, in := of[u]; in {
				return int64(r.ViolationsOfPods(charged, pods))
			}
			return 0
		}
	case victims.CriterionSum:
		return func(_ victims.UnitID, pods []cluster.PodID) (sum int64) {
			for _, p := range pods {
				sum += priority.Raised(q.Index.Priority(p))
			}
			return sum
		}
	case victims.CriterionPods:
		return func(_ victims.UnitID, pods []cluster.PodID) int64 { return int64(len(pods)) }
	case victims.CriterionCost:
		return q.Units.CostOf
	case victims.CriterionStranded:
		return q.numStranded
	}
	return func(victims.UnitID, []cluster.PodID) int64 { return 1 } // units
}

// free reports whether the loss of unit u costs nothing.
func (q *Question) free(u victims.UnitID) bool { return q.BrokenFree && q.Broken(u) }

// Known is of how many criteria Aims say what scores do: a score reads the highest priority
// of its first victim's first pod, which is that of all where every pod has the priority
// that its unit is ordered by; and the start of those of its pods that go, not of all.
func (q *Question) Known(units []victims.UnitID) int {
	list := q.Ranking.Criteria()
	at := slices.Index(list, victims.CriterionHighest)
	if at < 0 {
		return len(list)
	}
	known := len(list)
	for _, u := range units {
		unit := q.Units.Unit(u)
		for _, p := range unit.Pods {
			if q.Index.Priority(p) != unit.Level {
				return at
			}
		}
		if started := slices.Index(list, victims.CriterionStarted); unit.Elastic && started >= 0 {
			known = started
		}
	}
	return known
}
