package onepod

import (
	"slices"
	"sync"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// Search is the search for one pod: every node is a domain. Of a question it is good for
// one answer.
type Search struct {
	*Tools
	q      *ask.Question
	pool   *sync.Pool // where the tools go back to
	shapes *Shapes
	traits ask.Traits
	Member *domain.Member
	looks  int // feasibility checks outside the trial

	through *columns.Gate // see gate

	Status []domain.Reason // by node, once it was looked at by itself: why preemption does not help there, or the pod does not fit as things are
	Found  []Candidate     // every candidate, where these are asked for
	Best   Candidate       // its Node is NoNode if there is none
	Stats  ask.Stats
	Open   bool    // on some node a better set of victims may have been missed,
	Bound  []int64 // with such values at least, by criterion as far as is known

	// ObserveLevel, if set, is told of the lowest sufficient level of victims; see
	// [reprieve.Lowest].
	ObserveLevel func(level, next int32, lower bool, why domain.Reason)

	Unbounded bool // every node is Evaluated to the end
	Each      bool // every node is looked at by itself

	near     ask.Near
	at       [1]cluster.NodeID // that near is of, where it is of a node
	decided  int               // what searches had decided on before the latest chunk
	aims     []reprieve.Aim    // without violations; see outdone
	low      []int64           // what is at stake at least on the node that is evaluated; nil: not looked at
	stakes   []stake           // buffers of inOrder
	exact    []stake
	leasts   []int64
	rows     []ask.Row // buffer of roughly
	tops     []int64   // buffer of lowest
	gains    []int64   // buffers of least
	prices   []int64
	beaten   bool             // the latest node has victims, but not as good as the best
	excluded bool             // no set of victims helps on the latest node: that is proved
	swept    []victims.UnitID // buffer of sweepPositions
	room     []int64          // buffer of sweepNode
	stood    cluster.NodeID   // the best plain node of a scan, or NoNode
	cold     *shape           // that of the pod, if a scan has to tell
	odd      []cluster.NodeID // nodes of which the columns do not tell everything
	rejected []Rejected       // of a scan
	keptOff  []keptOff        // likewise; see foresee
	freed    []cluster.NodeID // nodes where they let it in once all have left
	depends  []cluster.NodeID // nodes where it depends on who leaves whether the constraints let the pod in
	doubtful []cluster.NodeID // nodes where they do not, whoever leaves
	found    []standing       // by node, for who remembers; nil: for nobody
	workers  workers          // see share
}

// Candidate is a node on which preemption helps.
type Candidate struct {
	Node    cluster.NodeID
	Victims []victims.UnitID
	Parts   victims.Parts // of those that go in part; may be nil
	Score   victims.Score
}

// Plan is what a search comes to.
type Plan struct {
	Verdict ask.Verdict
	Node    cluster.NodeID // where it fits, goes or waits; else NoNode
	Refusal ask.Refusal    // of NotEligible
}

// New returns a search for a lone pod that remembers in shapes, and borrows its tools.
func New(q *ask.Question, pool *sync.Pool, shapes *Shapes) *Search {
	tools := Borrow(pool, q.Units, q.Budgets, q.Columns)
	s := &tools.search
	s.Tools, s.q, s.pool, s.shapes, s.Member = tools, q, pool, shapes, q.Members[0]
	s.near, s.at[0] = ask.NearOf(q, nodeShares(q)), cluster.NoNode
	s.Trial.Ask(q, domain.Nominees{Self: s.Member.ID, Priority: q.Priority})
	s.Trial.Poll, s.Best.Node = q.Poll, cluster.NoNode
	s.Stats = ask.Stats{Domains: q.Index.CountNodes(), Exact: true, Hooks: q.Hooks}
	s.Runner.Repeat, s.Runner.Wholes = q.RepeatOfPod, q.Wholes()
	s.Runner.Doubtful, s.Runner.Constrained, s.Runner.Steps = !q.Monotone(), len(q.States) > 0, q.Steps
	s.Runner.Cut, s.decided = false, s.Runner.Decided
	if s.traits = q.AllTraits(); s.Sweeps() {
		s.Sweep.Ask(s.Member, q.Priority)
	}
	return s
}

// here are the pods of unit u that matter on the node of the trial.
func (s *Search) here(u victims.UnitID) []cluster.PodID {
	s.stand()
	return s.near.Pods(u)
}

// stand lets those pods matter that do on the node of the trial.
func (s *Search) stand() {
	if n := s.Trial.Node(); n != s.at[0] {
		s.at[0] = n
		s.near.To(s.at[:])
	}
}

// Sweeps reports whether resources, budgets and constraints alone decide.
func (s *Search) Sweeps() bool { return ask.BySweep.Leads(s.traits) }

// Close ends the use of the search and of what it has found. It is not called where a
// hook panics: what that left half done is not reused.
func (s *Search) Close() {
	tools, pool, all := s.Tools, s.pool, s.workers
	if tools.status != nil { // workers, which have tools of their own, share these
		statuses.Put(tools.status)
		tools.status = nil
	}
	tools.Runner.Renew()
	tools.Trial.Forget()
	*s = Search{ // and keeps the memory for another one
		Best:  Candidate{Victims: s.Best.Victims[:0]},
		swept: s.swept, room: s.room, odd: s.odd[:0], rejected: s.rejected[:0],
		stakes: s.stakes, exact: s.exact, leasts: s.leasts, rows: s.rows, tops: s.tops, gains: s.gains, prices: s.prices,
		freed: s.freed[:0], depends: s.depends[:0], doubtful: s.doubtful[:0],
	}
	pool.Put(tools)
	for _, w := range all {
		if w != s {
			w.Close()
		}
	}
}

// Run is the whole road: does it fit, may it preempt, whom, and where.
func (s *Search) Run() Plan {
	if s.scans() {
		return s.scanAll()
	}
	if n := s.Filter(); n != cluster.NoNode {
		return Plan{Verdict: ask.Fits, Node: n}
	}
	if p, refused := s.refuse(); refused {
		return p
	}
	if s.q.Sampling != nil {
		s.sample()
	} else {
		s.exhaust()
	}
	return s.end()
}

// end is the plan of a search that has looked everywhere.
func (s *Search) end() Plan {
	s.Trial.Restore() // others will ask the constraints
	if s.Best.Node == cluster.NoNode {
		return Plan{Verdict: ask.Infeasible, Node: cluster.NoNode}
	}
	return Plan{Verdict: ask.Feasible, Node: s.Best.Node}
}

// Checks counts the feasibility checks so far.
func (s *Search) Checks() int { return s.Trial.Checks + s.looks }

// Nominated is the node to which the pod is nominated, or NoNode.
func (s *Search) Nominated() cluster.NodeID {
	return s.q.Index.NodeByName(s.Member.Pod.NominatedNode)
}

// refuse is the plan for a preemptor that may not preempt, if so.
//
// Source: kube-scheduler v1.36, pod eligible to preempt others.
func (s *Search) refuse() (p Plan, refused bool) {
	if why := s.q.RefusalOfPod(); why.Why != ask.Willing {
		return Plan{ask.NotEligible, cluster.NoNode, why}, true
	}
	n := s.Nominated()
	if n == cluster.NoNode || s.Status[n].Unresolvable || !s.Terminating(n, s.q.Claim) {
		return Plan{}, false
	}
	return Plan{Verdict: ask.Waiting, Node: n}, true
}

// Terminating reports whether node n has a pod that is terminating by preemption
// and whose unit may be evicted for c.
func (s *Search) Terminating(n cluster.NodeID, c victims.Claim) bool {
	for _, u := range s.q.EvictableFor(n, c) {
		for _, p := range s.q.PodsOn(u, n) {
			if pod := s.q.Index.Pod(p); s.q.Index.NodeOf(p) == n && pod.Terminating && pod.Preempted {
				return true
			}
		}
	}
	return false
}

// consider keeps c if it is the best so far.
func (s *Search) consider(c Candidate) {
	if s.q.Candidates {
		c.Victims = slices.Clone(c.Victims)
		s.Found = append(s.Found, c)
	}
	if s.better(&c, &s.Best) {
		c.Victims = append(s.Best.Victims[:0], c.Victims...)
		s.Best = c
	}
}

// better reports whether c is better than best, which may be none; among equals the
// node that is preferred.
func (s *Search) better(c, best *Candidate) bool {
	if best.Node == cluster.NoNode {
		return true
	}
	order := s.q.CompareScores(&c.Score, &best.Score)
	return order < 0 || order == 0 && s.prefers(c, best)
}
