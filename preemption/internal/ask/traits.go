package ask

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Traits are what has a say in an answer beside room, static checks, priorities and
// budgets, which the packed columns tell everything about. A road that does not read one
// of them is closed to questions that have it.
type Traits uint32

// The traits.
const (
	// Of rules and options.
	TraitLowest     Traits = 1 << iota // the lowest sufficient level is looked for
	TraitBrokenFree                    // what is left of a broken gang costs nothing
	TraitBounds                        // hard budgets or limits bound the final set of victims
	TraitSearch                        // victims who disrupt least are looked for
	TraitRanking                       // a price or a hook has a say among domains
	TraitHooks                         // a hook has a say, other than filters and constraints that declare what they read
	TraitSampling                      // only a part of the nodes is examined
	TraitCandidates                    // every candidate is asked for
	TraitTrace                         // each step is asked for
	TraitMoving                        // the gang may move while victims are given back
	TraitRepeat                        // and they are given back in several passes
	TraitElsewhere                     // what a node comes to depends on others
	TraitSets                          // criteria count that take the victims to tell, not their pods' priorities

	// Of the cluster.
	TraitGuards  // guards keep units
	TraitPrices  // units are priced, or ordered by more than priority and start
	TraitColumns // the columns do not hold what is needed
	TraitWaits   // pods may have to wait before they preempt
	TraitQueued  // pods hold quota

	// Of the preemptor.
	TraitConstraints // constraints look at other pods, anywhere,
	TraitColocation  // or at those of one node,
	TraitCounts      // or count those of each topology value
	TraitPorts       // host ports
	TraitUnknown     // a resource that no node has
	TraitPersonal    // the pod itself: nominated, queued, grouped, guarded, evicted before
	TraitGiven       // the placement is given
	TraitTree        // a group of groups
	TraitSpare       // room may be made for fewer members than are pending
	TraitUnequal     // members differ
	TraitOwn         // a running pod of the gang may be a victim
)

// Road is a way to an answer that is faster than the plain one, and comes to the same.
type Road struct {
	Name      string
	closedBy  Traits
	Benchmark string // what it is there for, in package bench or preemption
	closed    bool
}

// Leads reports whether the road answers a question with those traits.
func (r *Road) Leads(t Traits) bool { return t&r.closedBy == 0 && !r.closed }

// Close closes the road to every question until open is called, so that it can be
// compared with the next plainer one. No question may be in progress.
func (r *Road) Close() (open func()) {
	r.closed = true
	return func() { r.closed = false }
}

// The roads of a lone pod, each faster than the one before, and of a gang. Without any
// of them nodes are tried one by one, and so are placements.
var (
	// BySweep gives the pods of one node back by its columns.
	BySweep = &Road{Name: "sweep", closedBy: TraitLowest | TraitBrokenFree | TraitBounds | TraitSearch | TraitRanking |
		TraitGuards | TraitPrices | TraitColumns | TraitPorts | TraitUnknown, Benchmark: "BenchmarkConstraints"}

	// ByScan looks at all nodes at once.
	ByScan = &Road{Name: "scan", closedBy: BySweep.closedBy | TraitConstraints | TraitColocation | TraitSampling | TraitCandidates | TraitTrace, Benchmark: "BenchmarkPreempt"}

	// AtOnce is a lookup of what is known of the pod's shape, by columns, or else by what
	// was found on each node, or chunk of nodes that a search shares steps among: closed where
	// that is not a function of these and their units.
	AtOnce = &Road{Name: "at once", closedBy: TraitBrokenFree | TraitElsewhere | TraitHooks | TraitSampling | TraitConstraints | TraitCounts | TraitUnknown |
		TraitWaits | TraitQueued | TraitPersonal, Benchmark: "BenchmarkOptions"}

	// ByCounting counts the members of a gang instead of placing them.
	ByCounting = &Road{Name: "counting", closedBy: TraitLowest | TraitSets | TraitBrokenFree | TraitBounds | TraitHooks | TraitTrace | TraitRepeat |
		TraitGuards | TraitPrices | TraitColumns | TraitConstraints | TraitColocation | TraitCounts | TraitUnknown |
		TraitGiven | TraitTree | TraitSpare | TraitUnequal | TraitOwn, Benchmark: "BenchmarkGang512"}

	// ByFirstSeat prices members on nodes by their columns, on the way of trials, and lets prices last
	// from one member to others.
	ByFirstSeat = &Road{Name: "first seat", closedBy: TraitBrokenFree | TraitBounds | TraitHooks | TraitGuards | TraitPrices | TraitColumns, Benchmark: "BenchmarkShapes"}

	// ByPriceFirst leaves a placement out, on the way of trials, or a domain, that costs more than
	// the best one before anybody is given back.
	ByPriceFirst = &Road{Name: "price first", closedBy: TraitLowest | TraitBounds | TraitSearch | TraitRanking | TraitMoving, Benchmark: "BenchmarkRoads"}
)

// Roads lists them.
var Roads = []*Road{BySweep, ByScan, AtOnce, ByCounting, ByFirstSeat, ByPriceFirst}

// Set adds trait if it is there.
func (t *Traits) Set(trait Traits, has bool) {
	if has {
		*t |= trait
	}
}

// Traits are those of rules and options.
func (s *Settings) Traits() (t Traits) {
	t.Set(TraitLowest, s.Lowest)
	t.Set(TraitBrokenFree, s.BrokenFree)
	t.Set(TraitSearch, s.Effort != Greedy)
	t.Set(TraitRanking, len(s.Ranking) > 0 || s.Compare != nil || s.OwnLiking != nil)
	t.Set(TraitHooks, s.Hooks && !s.Declared)
	t.Set(TraitSampling, s.Sampling != nil)
	t.Set(TraitCandidates, s.Candidates)
	t.Set(TraitTrace, s.Trace)
	t.Set(TraitMoving, s.Mobile)
	t.Set(TraitRepeat, s.Mobile && s.RepeatOfGang)
	for _, c := range s.Ranking {
		m, asked := measureOf(c)
		t.Set(TraitElsewhere, m.elsewhere)
		t.Set(TraitSets, asked || c == victims.CriterionUnits)
	}
	return t
}

// TraitsOf are those of a pod by itself.
func (s *Settings) TraitsOf(pod *cluster.Pod) (t Traits) {
	var shown []*cluster.Pod
	for _, c := range s.OwnConstraints {
		rule, is := c.(domain.Colocation)
		if shown == nil && !(is && rule.Of == nil) {
			shown = []*cluster.Pod{domain.FilterView(pod)}
		}
		if is && rule.Of == nil || domain.Concerns(c, shown) {
			t.Set(TraitColocation, is)
			t.Set(TraitConstraints, !is)
		}
	}
	t.Set(TraitPorts, len(pod.Ports) > 0)
	t.Set(TraitConstraints, len(pod.Affinity)+len(pod.AntiAffinity)+len(pod.Spread)+len(pod.Tokens)+len(pod.Devices) > 0)
	t.Set(TraitPersonal, pod.Node != "" || pod.NominatedNode != "" || pod.Group != "" || pod.Queue != "" ||
		pod.Guard != nil || len(pod.Evictions) > 0)
	return t
}

// Shows reports whether a question with those traits shows pods to a hook; see [domain.FilterView].
func (s *Settings) Shows(t Traits) bool { return s.Filter != nil || t&TraitColocation != 0 }

// ClusterTraits are those of settings, cluster and units, whoever asks.
func (q *Question) ClusterTraits() Traits {
	t := q.Traits
	t.Set(TraitBounds, q.Hard != nil || q.Limits != nil)
	t.Set(TraitElsewhere, slices.ContainsFunc(q.Limits, func(b Bound) bool { return b.Of == NumStranded }))
	t.Set(TraitGuards, q.Protections != nil)
	t.Set(TraitPrices, q.Units.Priced())
	t.Set(TraitColumns, q.Columns.Levels() == nil)
	return t
}

// AllTraits are those of the question, but for what it takes a look at every member to
// tell.
func (q *Question) AllTraits() Traits {
	t := q.ClusterTraits()
	for _, s := range q.States {
		near, counts := domain.IsColocated(s), s.Scope().Counted()
		t.Set(TraitColocation, near)
		t.Set(TraitCounts, counts)
		t.Set(TraitConstraints, !near && !counts)
	}
	t.Set(TraitUnknown, len(q.Members[0].Unknown()) > 0)
	t.Set(TraitPorts, len(q.Members[0].Pod.Ports) > 0)
	t.Set(TraitGiven, q.Given != nil)
	if q.Tree != nil {
		t.Set(TraitTree, len(q.Tree.Children) > 0)
		t.Set(TraitSpare, q.Fewest && (len(q.Tree.Children) > 0 || q.Tree.Need() < len(q.Members)))
	}
	return t
}
