package ask

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// Question is a preemptor that was found and checked, and what is known where it asks.
// Not safe for concurrent use: see [Question.Clone].
type Question struct {
	*Settings
	Index       *cluster.Index
	Units       *victims.Units
	Budgets     *victims.Budgets
	Columns     *columns.NodeColumns
	Protections *victims.Protections // nil if nobody is kept beyond what priorities say
	Hard        []bool               // by budget; nil: none is hard
	Limits      []Bound
	Traits      Traits // of settings and cluster

	Members  []*domain.Member // one for a lone pod
	Tree     *seating.Group   // nil for a lone pod
	Group    *cluster.Group   // nil for a lone pod
	Given    []domain.Assignment
	Priority int32
	Claim    victims.Claim // what eligibility reads of the preemptor
	Policy   priority.Policy
	States   []domain.State // of the constraints that have a say
	Gathered bool           // the pods ask one by one, for a plan of all of them

	Relaxed  []Excess // bounds that are taken as wider, to see what would help
	NoBounds bool     // or not at all
	Probing  bool     // it is looked for what would help: the price is no matter
	Decided  int      // what searches had decided on before that
	Landed   int      // looks of landings so far; see ShareLanding
	landsTo  int      // up to how many one of them goes on

	// Poll, if set, is called now and then. It panics with a [*ranges.Stop] once nobody waits
	// for the answer any more; what a search has left half done is not reused then.
	Poll func()

	// Compared, if set, bounds what terms are compared with, and seats of fractions, to tell who has another place.
	Compared *Compared

	// Constraints are those of a lone pod, for pods that would have to move.
	Constraints []domain.Constraint

	charges     []int64                 // by budget, while they are counted; see charged
	covered     []cluster.BudgetID      // likewise
	wholes      losses.Wholes           // see Wholes
	broken      []int8                  // by group: 1 if it runs below its minCount, -1 if not, 0 if nobody asked
	brokenUnits map[victims.UnitID]bool // of many pods
	guarded     map[victims.UnitID]bool // of many pods
	stranded    *stranded
	landings    []*domain.GangTrial          // that landings have closed
	nominated   int8                         // see anyNominated; 0: nobody asked
	inUse       map[victims.Criterion]*inUse // see inUseNow
	left        map[victims.Criterion]*left  // see inUseAfter
	changes     *changes                     // likewise; reused
}

// NewMember compiles a pod of the preemptor.
func (q *Question) NewMember(pod *cluster.Pod, id cluster.PodID) *domain.Member {
	m := domain.NewMember(q.Index, pod, id)
	m.Restrict(q.Filter)
	return m
}

// GoOn is to be called in whatever may take long.
func (q *Question) GoOn() {
	if q.Poll != nil {
		q.Poll()
	}
}

// Clone returns a copy for another goroutine. O(constraints).
func (q *Question) Clone() *Question {
	for _, c := range q.Ranking {
		if c.InUse() {
			q.inUseNow(c) // which is shared then
		}
	}
	c := *q
	c.landings, c.charges, c.covered = nil, nil, nil
	c.broken, c.stranded, c.wholes, c.brokenUnits, c.guarded, c.left, c.changes = nil, nil, losses.Wholes{}, nil, nil, nil, nil
	c.States = make([]domain.State, len(q.States))
	for i, state := range q.States {
		c.States[i] = state.Clone()
	}
	return &c
}

// LessHard returns a copy that is answered with less effort, beyond Greedy, and not while q is: see ShareFates. O(constraints).
func (q *Question) LessHard() *Question {
	c, settings := q.Clone(), *q.Settings
	if settings.Effort--; settings.Effort == Greedy {
		c.Traits &^= TraitSearch
	}
	c.Settings = &settings
	c.ShareFates(q)
	return c
}

// Monotone reports whether removing a pod never turns a fit into a misfit.
func (q *Question) Monotone() bool {
	return !slices.ContainsFunc(q.States, func(s domain.State) bool { return !s.Scope().Monotone })
}

// Bounding is the strategy that bounds how important victims may be; place finds the
// preemptor a place anew.
func (q *Question) Bounding(place func() domain.Reason) reprieve.Lowest {
	return reprieve.Lowest{
		Level:    func(u victims.UnitID) int32 { return q.Units.Unit(u).Level },
		Place:    place,
		Monotone: q.Monotone(),
	}
}

// CompareScores is below zero if a disrupts less than b.
func (q *Question) CompareScores(a, b *victims.Score) int {
	switch {
	case q.Compare != nil:
		return q.Compare.Compare(*a, *b)
	case len(q.Ranking) == 0:
		return a.Compare(*b)
	}
	return q.Ranking.Compare(*a, *b)
}

// Score is the score of some victims, where the preemptor goes to at; what is left of a
// broken gang costs nothing where the options say so.
func (q *Question) Score(list []victims.UnitID, parts victims.Parts, violations int, at ...domain.Assignment) victims.Score {
	all := list
	if q.BrokenFree {
		list = slices.DeleteFunc(slices.Clone(list), q.Broken)
	}
	score := q.Wholes().Score(list, parts, violations)
	score.Asked = q.askedOf(all, list, parts, at)
	return score
}

// Wholes remembers what is known of units of many pods.
func (q *Question) Wholes() *losses.Wholes {
	if !q.wholes.Made() {
		q.wholes = losses.NewWholes(q.Units, q.Budgets)
	}
	return &q.wholes
}

// Broken reports whether unit u is of gangs that run below their minCount.
func (q *Question) Broken(u victims.UnitID) bool {
	if q.Wholes().Of(u) == nil {
		return q.allBroken(u)
	}
	broken, known := q.brokenUnits[u]
	if !known {
		if q.brokenUnits == nil {
			q.brokenUnits = map[victims.UnitID]bool{}
		}
		broken = q.allBroken(u)
		q.brokenUnits[u] = broken
	}
	return broken
}

func (q *Question) allBroken(u victims.UnitID) bool {
	for _, p := range q.Units.Unit(u).Pods {
		if g := q.Index.GroupOf(p); g == cluster.NoGroup || !q.brokenGang(g) {
			return false
		}
	}
	return true
}

// brokenGang reports whether pod group g runs below its minCount.
func (q *Question) brokenGang(g cluster.GroupID) bool {
	if q.broken == nil {
		q.broken = make([]int8, q.Index.NumGroups())
	}
	if q.broken[g] == 0 {
		group, running := q.Index.Group(g), 0
		for _, member := range group.Pods {
			if q.Index.Pod(member).Node != "" {
				running++
			}
		}
		q.broken[g] = -1
		if group.PodGroup.MinCount != nil && running < int(*group.PodGroup.MinCount) {
			q.broken[g] = 1
		}
	}
	return q.broken[g] > 0
}

// Own reports whether unit holds running pods of the gang that asks.
func (q *Question) Own(unit *victims.Unit) bool { return q.OwnPod(unit.Pods[0]) }

// OwnPod reports whether pod p is of the gang that asks.
func (q *Question) OwnPod(p cluster.PodID) bool {
	if q.Tree.ID == cluster.NoGroup {
		return false
	}
	for g := q.Index.GroupOf(p); g != cluster.NoGroup; g = q.Index.Group(g).Parent {
		if g == q.Tree.ID {
			return true
		}
	}
	return false
}

// GangTrial returns a trial of the members. Pods that are nominated to a node, other than
// the members themselves, count there if they are as important.
func (q *Question) GangTrial() *domain.GangTrial {
	return q.TrialWith(func(p cluster.PodID) bool { return q.Index.Priority(p) >= q.Priority })
}

// TrialWith is a trial of the members to which those whom counts names count where they
// are nominated.
func (q *Question) TrialWith(counts func(cluster.PodID) bool) *domain.GangTrial {
	own := map[cluster.PodID]bool{}
	for _, m := range q.Members {
		own[m.ID] = true
	}
	t := domain.NewGangTrial(q.Index, q.Members, q.States, func(p cluster.PodID) bool { return !own[p] && counts(p) })
	t.Poll = q.Poll
	return t
}

// Effective is what is in force for a pod of the preemptor.
func (q *Question) Effective(pod *cluster.Pod) (priority.Effective, error) {
	return q.Index.Classes().Resolve(priority.Spec{Class: pod.Class, Priority: pod.Priority, Policy: pod.Policy})
}

// SettleClaim settles what eligibility reads of the preemptor: a gang counts as having
// run as long as the member that ran longest, and evicted when the last of them was. The
// criteria are settled too.
func (q *Question) SettleClaim() {
	q.guarded = nil
	q.rankLevels()
	c := victims.Claim{Priority: q.Priority}
	if q.Group != nil {
		c.Add(q.Group.RanSeconds(), q.Group.Evictions())
	}
	for _, m := range q.Members {
		c.Add(m.Pod.RanSeconds, m.Pod.Evictions)
	}
	q.Claim = c
}

// Stats tells what a search cost, and whether a no is proved.
type Stats struct {
	Domains   int  // looked at
	Pruned    int  // ruled out without a trial
	Evaluated int  // tried: victims removed and given back
	Searched  int  // where victims were searched for, since giving back did not do
	Trials    int  // feasibility checks
	Exact     bool // what is infeasible is proved so
	Hooks     bool // a hook has a say
}
