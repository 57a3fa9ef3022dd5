package victims

import (
	"cmp"
	"math"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/priority"
)

// Score holds the numbers by which domains are compared, in this order. The rules
// read pods, not units: a group counts once for each of its pods.
//
// Source: kube-scheduler v1.36, choice among candidates.
type Score struct {
	Violations int   // of budgets; fewer is better
	Highest    int32 // priority of the first victim's first pod; lower is better
	Sum        int64 // of the victims' priorities, each raised by 2^31; lower is better
	Pods       int   // fewer is better
	Started    int64 // nanoseconds: the earliest start among the victims of the highest priority; later is better

	Cost int64 // of the victims, where units have prices; it counts where a [Ranking] says so
}

// Criteria names the numbers of a Score in the order in which they are compared.
var Criteria = [...]string{"violations", "highest priority", "sum of priorities", "pods", "earliest start"}

// Values returns the numbers of s in the order of Criteria, turned so that smaller
// is better.
func (s Score) Values() [len(Criteria)]int64 {
	started := int64(math.MaxInt64)
	if s.Started != math.MinInt64 {
		started = -s.Started
	}
	return [...]int64{int64(s.Violations), int64(s.Highest), s.Sum, int64(s.Pods), started}
}

// Compare is below zero if s disrupts less than t, zero if they tie.
func (s Score) Compare(t Score) int {
	switch {
	case s.Violations != t.Violations:
		return cmp.Compare(s.Violations, t.Violations)
	case s.Highest != t.Highest:
		return cmp.Compare(s.Highest, t.Highest)
	case s.Sum != t.Sum:
		return cmp.Compare(s.Sum, t.Sum)
	case s.Pods != t.Pods:
		return cmp.Compare(s.Pods, t.Pods)
	}
	return cmp.Compare(t.Started, s.Started)
}

// Score computes the score of a list of victims in its final order. An empty list
// disrupts less than any other.
func (us *Units) Score(list []UnitID, violations int) Score {
	return us.ScoreParts(list, nil, violations)
}

// ScoreParts is Score for units of which some are out in part.
func (us *Units) ScoreParts(list []UnitID, parts Parts, violations int) Score {
	s := Score{Violations: violations, Highest: math.MinInt32, Started: math.MaxInt64}
	if len(list) == 0 {
		return s
	}
	s.Highest = us.ix.Priority(parts.Of(us, list[0])[0])
	highest := int32(math.MinInt32)
	for _, u := range list {
		pods := parts.Of(us, u)
		s.Cost = checked.Add(s.Cost, us.CostOf(u, pods))
		for _, p := range pods {
			prio := us.ix.Priority(p)
			s.Sum += priority.Raised(prio)
			s.Pods++
			started := us.ix.Started(p)
			if prio > highest {
				highest, s.Started = prio, started
			} else if prio == highest {
				s.Started = min(s.Started, started)
			}
		}
	}
	return s
}

// Overruns sums over the budgets how far the units of list take them below zero. l
// is a ledger for this purpose alone; it is reset first.
func (b *Budgets) Overruns(us *Units, list []UnitID, parts Parts, l *disruption.Ledger) int64 {
	if b.None() {
		return 0
	}
	l.Reset()
	for _, u := range list {
		for _, p := range parts.Of(us, u) {
			l.ChargeAll(b.Of(p))
		}
	}
	return l.Overruns()
}
