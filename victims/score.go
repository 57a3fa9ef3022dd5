package victims

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
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

	// These count where a [Ranking] says so.
	Cost  int64 // of the victims, where units have prices
	Units int
	// Asked are the numbers of the other criteria; 0 where no [Ranking] asks.
	Asked map[Criterion]int64
}

// Criterion names a number of a [Score].
type Criterion string

// The criteria. Of all of them less is better, of the earliest start later.
const (
	CriterionViolations Criterion = "violations"        // upstream's count of budget violations
	CriterionOverruns   Criterion = "overruns"          // how far the victims take budgets below zero, summed
	CriterionHighest    Criterion = "highest priority"  // of a victim
	CriterionSum        Criterion = "sum of priorities" // of the victims' pods, each raised by 2^31
	CriterionPods       Criterion = "pods"              // of all victims
	CriterionUnits      Criterion = "units"             // a group that goes as a whole is one
	CriterionCost       Criterion = "cost"              // by the tariff
	CriterionStarted    Criterion = "earliest start"    // among the victims of the highest priority

	// CriterionStranded counts the victims' pods that would find no other place: as things
	// stand none of them, each by itself, fits on a node but its own. The others can move. A chain of moves
	// may count as well; see preemption.Options.Chain.
	CriterionStranded Criterion = "pods without a place"

	// CriterionCascade counts those of them that would evict others to have one: they may
	// preempt, and fit on another node once those are gone whom they may evict there. That is
	// the first step of what follows, of each by itself as things stand, among units as they are
	// for the preemptor; package cascade follows all of it.
	CriterionCascade Criterion = "pods that preempt in turn"

	// CriterionLevels stands for one criterion for each priority that running pods have, the
	// most important first: how many of the victims' pods have it; see [AtLevel], by which a
	// question replaces it. Of more than 100 priorities it stands for the 100 highest.
	CriterionLevels Criterion = "pods by level"

	CriterionGroups Criterion = "groups touched" // how many pod groups lose a pod; victims of a whole Workload count theirs one by one

	// CriterionNodes counts the nodes on which somebody runs in the end, the preemptor
	// included: the others are whole for whoever needs a whole one. It tells candidates apart;
	// no search evicts more for it.
	CriterionNodes Criterion = "nodes in use"

	// CriterionDevices does so for devices, [cluster.Node.Devices]: it counts those that who runs
	// in the end holds, wholly or in part. Running pods hold what they say they hold. Of all else on a node, the
	// preemptor too, fractions come first, the largest before the others, each onto the device with
	// the least room that is enough, then whole devices where nobody is; who finds none takes none.
	CriterionDevices Criterion = "devices in use"

	// CriterionDomains, followed by a node label, does so for that label's values of the nodes
	// on which somebody runs: CriterionDomains + "rack" for racks. A node without the label
	// counts for nothing.
	CriterionDomains Criterion = "domains in use by "
)

// levelPrefix is followed by a priority.
const levelPrefix = "pods of priority "

// AtLevel is the criterion that counts the victims' pods of a priority, one of those that
// [CriterionLevels] stands for.
func AtLevel(priority int32) Criterion {
	return Criterion(levelPrefix + strconv.Itoa(int(priority)))
}

// Level is the priority whose pods c counts; ok is false if it is none of [AtLevel].
func (c Criterion) Level() (priority int32, ok bool) {
	text, ok := strings.CutPrefix(string(c), levelPrefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err == nil
}

// Label is the node label whose values c counts; ok is false if c does not begin as
// [CriterionDomains].
func (c Criterion) Label() (key string, ok bool) {
	return strings.CutPrefix(string(c), string(CriterionDomains))
}

// InUse reports whether c counts what is in use in the end: nodes, devices or domains.
func (c Criterion) InUse() bool {
	_, domains := c.Label()
	return domains || c == CriterionNodes || c == CriterionDevices
}

// Criteria are those of upstream, in the order in which it compares them.
var Criteria = [...]Criterion{CriterionViolations, CriterionHighest, CriterionSum, CriterionPods, CriterionStarted}

// AllCriteria lists the criteria that there are, but for those of single levels and labels.
var AllCriteria = append(Criteria[:], CriterionOverruns, CriterionUnits, CriterionCost, CriterionStranded,
	CriterionCascade, CriterionLevels, CriterionGroups, CriterionNodes, CriterionDevices)

// Value is a number of s, turned so that smaller is better.
func (s *Score) Value(c Criterion) int64 {
	switch c {
	case CriterionViolations:
		return int64(s.Violations)
	case CriterionHighest:
		return int64(s.Highest)
	case CriterionSum:
		return s.Sum
	case CriterionPods:
		return int64(s.Pods)
	case CriterionUnits:
		return int64(s.Units)
	case CriterionCost:
		return s.Cost
	case CriterionStarted:
		if s.Started == math.MinInt64 {
			return math.MaxInt64
		}
		return -s.Started
	}
	return s.Asked[c]
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
	return us.ScoreKnown(list, parts, violations, nil)
}

// ScoreKnown is ScoreParts where somebody may know the [Loss] of a unit that is out whole, whose
// pods are not read then. known returns nil where it is not known; it may be nil.
func (us *Units) ScoreKnown(list []UnitID, parts Parts, violations int, known func(UnitID) *Loss) Score {
	s := Score{Violations: violations, Highest: math.MinInt32, Started: math.MaxInt64, Units: len(list)}
	if len(list) == 0 {
		return s
	}
	if first := parts.Of(us, list[0]); len(first) > 0 { // empty only where hooks contradict themselves
		s.Highest = us.ix.Priority(first[0])
	}
	highest := int32(math.MinInt32)
	start := func(prio int32, started int64) {
		if prio > highest {
			highest, s.Started = prio, started
		} else if prio == highest {
			s.Started = min(s.Started, started)
		}
	}
	for _, u := range list {
		pods := parts.Of(us, u)
		s.Cost = checked.Add(s.Cost, us.CostOf(u, pods))
		s.Pods += len(pods)
		if known != nil && len(pods) == len(us.Unit(u).Pods) {
			if l := known(u); l != nil {
				s.Sum += l.Price.Sum
				start(int32(l.Price.Highest), l.Started)
				continue
			}
		}
		for _, p := range pods {
			prio := us.ix.Priority(p)
			s.Sum += priority.Raised(prio)
			start(prio, us.ix.Started(p))
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

// Loss is what the loss of a unit costs.
type Loss struct {
	Price   domain.Price // without budgets
	Started int64        // nanoseconds: the earliest start among its pods of the highest priority
}

// Loss says what the loss of unit u costs. O(k) for its k pods.
func (us *Units) Loss(u UnitID) Loss {
	pods := us.Unit(u).Pods
	l := Loss{Price: domain.Free, Started: math.MaxInt64}
	for _, p := range pods {
		own := us.ix.Priority(p)
		prio := int64(own)
		if prio > l.Price.Highest {
			l.Price.Highest, l.Started = prio, math.MaxInt64
		}
		if prio == l.Price.Highest {
			l.Started = min(l.Started, us.ix.Started(p))
		}
		l.Price.Sum += priority.Raised(own)
	}
	l.Price.Pods = int64(len(pods))
	return l
}
