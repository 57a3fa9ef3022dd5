package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// podSearch is the search for one pod: every node is a domain.
type podSearch struct {
	*question
	traits traits
	member *domain.Member
	trial  *domain.NodeTrial
	runner *reprieve.Runner
	tally  *disruption.Ledger // for Overruns

	sweep   *columns.Sweep // nil if anything but resources, budgets and constraints decides
	scan    *columns.Scan  // likewise
	through *columns.Gate  // see gate
	looks   int            // feasibility checks outside the trial

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
	cold      *shape           // that of the pod, if a scan has to tell
	odd       []cluster.NodeID // nodes of which the columns do not tell everything
	rejected  []rejected       // of a scan
	crew      crew             // see recruit
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
	tools.trial.Ask(q.ix, member, q.states, nominees)
	s := &tools.search
	s.question, s.member, s.trial, s.runner, s.tally = q, member, &tools.trial, tools.runner, tools.tally
	s.best.node = cluster.NoNode
	s.stats = Stats{Domains: q.ix.NumNodes(), Exact: true, Hooks: q.options.Hooks != nil}
	s.runner.Repeat = q.options.repeat(false)
	s.runner.Doubtful, s.runner.Constrained, s.runner.Steps = !q.monotone(), len(q.states) > 0, q.options.SearchSteps
	if s.traits = q.traits(); bySweep.leads(s.traits) {
		s.sweep, s.scan = tools.sweep, tools.scan
		s.sweep.Ask(member, q.priority)
	}
	return s
}

// end forgets the question, and keeps the memory for another one.
func (s *podSearch) end() {
	*s = podSearch{
		best: candidate{victims: s.best.victims[:0]},
		cuts: s.cuts, swept: s.swept, room: s.room, odd: s.odd[:0], rejected: s.rejected[:0],
	}
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

func (s *podSearch) nominated() cluster.NodeID {
	return s.ix.NodeByName(s.member.Pod.NominatedNode)
}

// refuse answers for a preemptor that may not preempt; nil if it may.
//
// Source: kube-scheduler v1.36, pod eligible to preempt others.
func (s *podSearch) refuse() *Result {
	text := s.never()
	if text == "" {
		text = s.barred()
	}
	if text == "" {
		text = s.patience()
	}
	if text != "" {
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

// consider keeps c if it is the best so far.
func (s *podSearch) consider(c candidate) {
	if s.options.Candidates {
		c.victims = slices.Clone(c.victims)
		s.found = append(s.found, c)
	}
	if s.better(&c, &s.best) {
		c.victims = append(s.best.victims[:0], c.victims...)
		s.best = c
	}
}

// better reports whether c is better than best, which may be none; among equals the
// first node by name.
func (s *podSearch) better(c, best *candidate) bool {
	if best.node == cluster.NoNode {
		return true
	}
	order := s.compareScores(&c.score, &best.score)
	return order < 0 || order == 0 && c.node < best.node
}
