package preemption

import (
	"maps"
	"slices"
	"sync"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// podSearch is the search for one pod: every node is a domain.
type podSearch struct {
	*question
	member *domain.Member
	trial  *domain.NodeTrial
	runner *reprieve.Runner
	tally  *disruption.Ledger // for Overruns

	sweep   *reprieve.Sweep // nil if anything but resources, budgets and constraints decides
	scan    *reprieve.Scan  // likewise
	through *reprieve.Gate  // see gate
	looks   int             // feasibility checks outside the trial

	status []domain.Reason // by node: why the pod does not fit as things are
	found  []candidate
	best   candidate
	stats  Stats
	notes  func(Step) // told of the level found, for the trace; may be nil

	cuts      []int32          // buffer of cutoffs
	swept     []victims.UnitID // buffer of sweepRungs
	room      []int64          // buffer of sweepNode
	unbounded bool             // every node is evaluated to the end: for WhyNot
	stood     cluster.NodeID   // the best plain node of a scan, or NoNode
	odd       []cluster.NodeID // nodes of which the columns do not tell everything
	rejected  []rejected       // of a scan
	brief     bool             // only verdict, domain and score are asked for
	each      bool             // every node is looked at by itself: for WhyNot
}

// candidate is a node on which preemption helps.
type candidate struct {
	node    cluster.NodeID
	victims []victims.UnitID
	parts   victims.Parts // of those that go in part; may be nil
	score   victims.Score
}

func newPodSearch(q *question) *podSearch {
	member := q.members[0]
	nominees := domain.Nominees{Self: member.ID, Priority: q.priority}
	tools := q.borrow()
	s := &podSearch{
		question: q,
		member:   member,
		trial:    domain.NewNodeTrial(q.ix, member, q.states, nominees),
		runner:   tools.runner,
		tally:    tools.tally,
		best:     candidate{node: cluster.NoNode},
		stats:    Stats{Domains: q.ix.NumNodes(), Exact: true, Hooks: q.options.Hooks != nil},
	}
	s.runner.Repeat = q.options.repeat(false)
	s.runner.Doubtful, s.runner.Constrained, s.runner.Steps = !q.monotone(), len(q.states) > 0, q.options.SearchSteps
	if tools.sweep != nil && q.plainly() {
		s.sweep, s.scan = tools.sweep, tools.scan
		s.sweep.Ask(member, q.priority)
	}
	return s
}

// plainly reports whether nothing but resources, budgets and constraints decides
// who returns.
func (q *question) plainly() bool {
	m := q.members[0]
	return !q.rules.lowest && !q.options.BrokenGroupsFree &&
		len(m.Pod.Ports) == 0 && len(m.Unknown()) == 0 &&
		q.protections == nil && !q.bounded() && !q.units.Priced() && q.ranksPlainly()
}

// run is the whole road: does it fit, may it preempt, whom, and where.
func (s *podSearch) run() *Result {
	if s.scans() {
		return s.scanAll()
	}
	if n := s.filter(); n != cluster.NoNode {
		return s.fits(n)
	}
	if r := s.refuse(); r != nil {
		return r
	}
	if s.options.Sampling != nil {
		s.sample()
	} else {
		s.exhaust()
	}
	s.trial.Restore() // others will ask the constraints
	if s.best.node == cluster.NoNode {
		return s.infeasible()
	}
	return s.feasible()
}

// filter looks for a node where the pod fits as things are: the nominated one
// first, then in order of name. It notes why the others do not fit.
func (s *podSearch) filter() cluster.NodeID {
	s.needStatus()
	if n := s.nominated(); n != cluster.NoNode {
		s.trial.Reset(n)
		if s.trial.Fits().OK() {
			return n
		}
	}
	for n := range cluster.NodeID(s.ix.NumNodes()) {
		if s.status[n] = s.look(n); s.status[n].OK() {
			return n
		}
	}
	return cluster.NoNode
}

// statuses are columns of *[]domain.Reason, of any planner.
var statuses sync.Pool

// needStatus makes room for the status of each node.
func (s *podSearch) needStatus() {
	t := s.borrowed
	if t.status == nil {
		t.status, _ = statuses.Get().(*[]domain.Reason)
	}
	if nodes := s.ix.NumNodes(); t.status == nil || cap(*t.status) < nodes {
		column := make([]domain.Reason, nodes)
		t.status = &column
	}
	s.status = (*t.status)[:s.ix.NumNodes()]
}

// look says whether the pod fits on node n as things are.
func (s *podSearch) look(n cluster.NodeID) domain.Reason {
	if s.sweep == nil || len(s.ix.Nominees(n)) > 0 {
		s.trial.Reset(n)
		return s.trial.Fits()
	}
	if !s.ix.Open(n) || !s.member.Anywhere() {
		if why := s.member.Static(s.ix.Node(n)); !why.OK() {
			return why
		}
	}
	s.looks++
	if why := s.member.Resources(s.ix.Free(n), s.ix.Allocatable(n)); !why.OK() || len(s.states) == 0 {
		return why
	}
	s.trial.Settle(n)
	return s.trial.Constrained()
}

func (s *podSearch) nominated() cluster.NodeID {
	return s.ix.NodeByName(s.member.Pod.NominatedNode)
}

// refuse answers for a preemptor that may not preempt; nil if it may.
//
// Source: kube-scheduler v1.36, pod eligible to preempt others.
func (s *podSearch) refuse() *Result {
	if s.policy == priority.Never {
		return s.result(NotEligible, "its preemption policy is Never")
	}
	if pod := s.member.Pod; s.rules.membersWait && pod.Group != "" {
		return s.result(NotEligible, "it belongs to pod group "+key(pod.Namespace, pod.Group)+": its group preempts")
	}
	if text := s.patience(); text != "" {
		return s.result(NotEligible, text)
	}
	n := s.nominated()
	if n == cluster.NoNode || s.status[n].Unresolvable {
		return nil
	}
	if s.terminating(n, s.claim) {
		r := s.result(Waiting, "victims on its nominated node "+s.ix.Node(n).Name+" are still terminating")
		r.Domain = s.ix.Node(n).Name
		r.Nominations = s.nominations(n)
		return r
	}
	return nil
}

// terminating reports whether node n has a pod that is terminating by preemption
// and whose unit may be evicted for c.
func (s *podSearch) terminating(n cluster.NodeID, c victims.Claim) bool {
	for _, u := range s.evictableFor(n, c) {
		for _, p := range s.units.Unit(u).Pods {
			if pod := s.ix.Pod(p); s.ix.NodeOf(p) == n && pod.Terminating && pod.Preempted {
				return true
			}
		}
	}
	return false
}

// exhaust evaluates every node that eviction might help on.
func (s *podSearch) exhaust() {
	for n := range cluster.NodeID(s.ix.NumNodes()) {
		if s.status[n].Unresolvable {
			s.stats.Pruned++
			continue
		}
		c, why := s.evaluate(n)
		if s.status[n] = why; why.OK() && c.victims != nil {
			s.consider(c)
		}
	}
}

// sample is upstream's search, with one worker: from an offset on, until enough
// candidates are found and one of them violates no budget.
//
// Source: kube-scheduler v1.36, dry run of preemption.
func (s *podSearch) sample() {
	var potential []cluster.NodeID
	for n := range cluster.NodeID(s.ix.NumNodes()) {
		if !s.status[n].Unresolvable {
			potential = append(potential, n)
		}
	}
	s.stats.Pruned = s.ix.NumNodes() - len(potential)
	wanted := s.options.Sampling.candidates(len(potential))
	var harmless, violating []candidate
	for i := range potential {
		n := potential[(i+int(s.options.Sampling.Offset))%len(potential)]
		c, why := s.evaluate(n)
		if s.status[n] = why; !why.OK() {
			continue
		}
		c.victims = slices.Clone(c.victims)
		list := &harmless
		if c.score.Violations > 0 {
			list = &violating
		}
		if len(*list) < wanted {
			*list = append(*list, c)
		}
		if len(harmless) > 0 && len(harmless)+len(violating) >= wanted {
			for j := i + 1; j < len(potential); j++ {
				s.status[potential[(j+int(s.options.Sampling.Offset))%len(potential)]] = domain.Reason{Check: notSampled}
			}
			break
		}
	}
	for _, c := range append(harmless, violating...) {
		s.consider(c)
	}
}

// candidates is how many candidates are wanted among n potential nodes.
func (s *Sampling) candidates(n int) int {
	return min(max(n*int(s.Percent)/100, int(s.Minimum)), n)
}

// notSampled is why a node is no candidate that was not looked at: enough were found.
const notSampled domain.Check = "not sampled"

// noVictims is why preemption does not help where nobody may be evicted.
const noVictims domain.Check = "no potential victims"

// evaluate removes the potential victims of node n and gives back whom it can. The
// candidate's victims belong to the search and are good until the next evaluation.
// They are nil for a node that helps but cannot be the answer, since another one is
// known that disrupts less.
func (s *podSearch) evaluate(n cluster.NodeID) (candidate, domain.Reason) {
	if s.sweep != nil && s.runner.Observe == nil && len(s.ix.Nominees(n)) == 0 &&
		(s.ladder.Plain(n) || s.ladder.Laid(n) && len(s.states) == 0) {
		switch touch := s.trial.Touched(n); {
		case touch == domain.Untouched:
			return s.sweepNode(n, nil)
		case touch == domain.TouchedInPart && !s.runner.Repeat: // who stays out may come back later
			return s.sweepNode(n, s.gate())
		}
	}
	potential := s.evictable(n)
	if len(potential) == 0 {
		return candidate{}, domain.Reason{Check: noVictims, Detail: s.whyNobody(n)}
	}
	s.trial.Reset(n)
	out, why := s.strategy()(potential)
	if !why.OK() {
		return candidate{}, why
	}
	s.stats.Evaluated++
	if len(out.Victims) == 0 {
		return candidate{}, domain.Reason{Check: noVictims, Detail: "it fits with everybody back"}
	}
	parts := maps.Clone(s.runner.Parts())
	return candidate{n, out.Victims, parts, s.units.ScoreParts(s.priced(out.Victims), parts, out.Violations)}, domain.Reason{}
}

// sweepNode is evaluate over the columns of the ladder. through is nil where no
// constraint looks at the node's pods: what they say with everybody in place holds
// with anybody gone. Otherwise it asks them about the pods that they look at.
func (s *podSearch) sweepNode(n cluster.NodeID, through *reprieve.Gate) (candidate, domain.Reason) {
	first, end := s.ladder.Rungs(n, s.priority)
	if first == end {
		return candidate{}, domain.Reason{Check: noVictims}
	}
	if s.looks++; !s.sweep.Fits(n, first) {
		s.room = s.ladder.Room(s.room[:0], n, first)
		return candidate{}, s.member.Resources(s.room, s.ix.Allocatable(n))
	}
	s.stats.Evaluated++
	if len(s.states) > 0 {
		s.trial.Settle(n)
		if through != nil {
			for _, p := range s.trial.LeaveAll(s.goes) {
				u, _ := s.units.UnitOf(p)
				through.Minds.Add(first + victims.Rung(slices.Index(s.units.On(n)[first:], u)))
			}
		}
		if why := s.trial.Constrained(); !why.OK() {
			return candidate{}, why
		}
		if through != nil && s.hopelesslyWorse(n, first) {
			return candidate{}, domain.Reason{}
		}
	}
	return s.sweepRungs(n, first, end, through), domain.Reason{}
}

// goes reports whether pod p is among the potential victims of its node, which is
// plain.
func (s *podSearch) goes(p cluster.PodID) bool {
	u, runs := s.units.UnitOf(p)
	return runs && s.units.Unit(u).Level < s.priority
}

// hopelesslyWorse reports whether, for lack of room alone, somebody more important has
// to go from node n than anybody who goes for the best so far. first is the rung of
// the most important potential victim.
func (s *podSearch) hopelesslyWorse(n cluster.NodeID, first victims.Rung) bool {
	b := s.bound()
	if b == nil || b.Violations > 0 || !s.ladder.Even(n) {
		return false
	}
	at, _ := s.ladder.Rungs(n, b.Highest+1)
	return at > first && !s.sweep.Fits(n, at)
}

// sweepRungs gives back whom it can on the rungs first to end of node n. The
// candidate has no victims if it is worse than the best so far.
func (s *podSearch) sweepRungs(n cluster.NodeID, first, end victims.Rung, through *reprieve.Gate) candidate {
	score, ok := s.sweep.Node(n, first, end, s.bound(), through)
	if !ok {
		return candidate{}
	}
	s.swept = s.swept[:0]
	for _, rung := range s.sweep.Victims() {
		s.swept = append(s.swept, s.ladder.Unit(n, rung))
	}
	return candidate{n, s.swept, nil, score}
}

// gate asks the constraints who may return. It minds nobody yet.
func (s *podSearch) gate() *reprieve.Gate {
	if s.through == nil {
		s.through = &reprieve.Gate{Admit: func(u victims.UnitID) bool { // units that are swept have one pod
			return s.trial.Admit(s.units.Unit(u).Pods[0])
		}}
	}
	s.through.Minds = victims.RungSet{}
	return s.through
}

// bound is the score to beat; nil if every node is evaluated to the end.
func (s *podSearch) bound() *victims.Score {
	if s.best.node == cluster.NoNode || s.options.Sampling != nil || s.options.Candidates || s.unbounded {
		return nil
	}
	return &s.best.score
}

// strategy is how victims are found: given back who can, or searched for.
func (s *podSearch) strategy() func([]victims.UnitID) (reprieve.Outcome, domain.Reason) {
	if s.bounded() {
		return s.choose
	}
	return s.reprieve
}

// reprieve takes the potential victims out of the trial and gives back whom it can,
// by the strategy of the rules.
func (s *podSearch) reprieve(potential []victims.UnitID) (reprieve.Outcome, domain.Reason) {
	if !s.rules.lowest {
		return s.runner.Run(s.trial, potential)
	}
	return s.runner.RunLowest(s.trial, s.lowest(s.trial.Fits, s.notes), potential)
}

// consider keeps c if it is the best so far; among equals the first node by name.
func (s *podSearch) consider(c candidate) {
	if s.options.Candidates {
		c.victims = slices.Clone(c.victims)
		s.found = append(s.found, c)
	}
	switch order := s.compareScores(&c.score, &s.best.score); {
	case s.best.node == cluster.NoNode, order < 0, order == 0 && c.node < s.best.node:
		c.victims = append(s.best.victims[:0], c.victims...)
		s.best = c
	}
}
