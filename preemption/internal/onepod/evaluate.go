package onepod

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// try is Evaluate, and notes if the node is not proved to be of no use: with all potential
// victims gone a constraint that is not monotone keeps the pod away, which might fit
// beside some of them.
func (s *Search) try(n cluster.NodeID) (Candidate, domain.Reason) {
	s.q.GoOn()
	s.excluded = false
	c, why := s.Evaluate(n)
	s.Stats.Exact = s.Stats.Exact && !(s.Runner.Cut && s.q.Effort == ask.Greedy)
	if !why.OK() && why.Check != domain.CheckResource && why.Check != ask.NoVictims && s.proves() && !s.q.Monotone() && !s.excluded && !ask.Hopeless(s.q.States, n) {
		s.Trial.Reset(n)
		s.Runner.Forget()
		for _, u := range s.q.Evictable(n) {
			for _, p := range s.here(u) {
				s.Trial.NodeTrial.Remove(p)
			}
		}
		if !s.Trial.Excluded() {
			s.doubt()
		}
	}
	return c, why
}

// proves reports whether it matters yet that a node is of no use.
func (s *Search) proves() bool {
	return s.Stats.Exact || s.q.Effort != ask.Greedy && !(s.Open && len(s.Bound) == 0)
}

// doubt notes that a node may be of use that is left out, with whatever victims.
func (s *Search) doubt() {
	s.Stats.Exact = false
	s.open(nil)
}

// prune counts node n, on which no eviction helps by the rules. What a constraint has against it may end where units go that have pods
// elsewhere, which the rules do not ask.
func (s *Search) prune(n cluster.NodeID) {
	s.Stats.Pruned++
	of := func(c domain.Constraint) bool { return c.Name() == s.Status[n].Check }
	large := func(u victims.UnitID) bool { return len(s.q.Units.Unit(u).Pods) > 1 }
	if s.proves() && slices.ContainsFunc(s.q.Constraints, of) && !ask.Hopeless(s.q.States, n) && slices.ContainsFunc(s.q.Evictable(n), large) {
		s.doubt()
	}
}

// Evaluate removes the potential victims of node n and gives back whom it can. The
// candidate's victims belong to the search and are good until the next evaluation.
// They are nil for a node that helps but cannot be the answer, since another one is
// known that disrupts less.
func (s *Search) Evaluate(n cluster.NodeID) (Candidate, domain.Reason) {
	if s.Sweeps() && s.Runner.Observe == nil && len(s.q.Index.Nominees(n)) == 0 &&
		(s.q.Columns.Plain(n) || s.q.Columns.Laid(n) && len(s.q.States) == 0) {
		switch some, known := s.Trial.Touched(n); {
		case !some:
			return s.sweepNode(n, nil)
		case known && !s.Runner.Repeat: // who stays out may come back later
			return s.sweepNode(n, s.gate())
		}
	}
	potential := s.q.Evictable(n)
	if len(potential) == 0 {
		return Candidate{}, s.q.Nobody(n)
	}
	if s.surelyOutdone(n, potential) {
		s.Stats.Evaluated++
		return Candidate{}, domain.Reason{}
	}
	s.Trial.Reset(n)
	out, why := s.Strategy()(potential)
	if !why.OK() {
		return Candidate{}, why
	}
	s.Stats.Evaluated++
	if s.beaten {
		s.beaten = false
		return Candidate{}, domain.Reason{}
	}
	if len(out.Victims) == 0 {
		return Candidate{}, domain.Reason{Check: ask.NoVictims, Detail: "it fits with everybody back"}
	}
	parts := maps.Clone(s.Runner.Parts())
	return Candidate{n, out.Victims, parts, s.q.Score(out.Victims, parts, out.Violations, domain.Assignment{Node: n})}, domain.Reason{}
}

// sweepNode is Evaluate over its columns. through is nil where no
// constraint looks at the node's pods: what they say with everybody in place holds
// with anybody gone. Otherwise it asks them about the pods that they look at.
func (s *Search) sweepNode(n cluster.NodeID, through *columns.Gate) (Candidate, domain.Reason) {
	first, end := s.q.Columns.Positions(n, s.q.Priority)
	if first == end {
		return Candidate{}, domain.Reason{Check: ask.NoVictims}
	}
	if s.looks++; !s.Sweep.Fits(n, first) {
		s.room = s.q.Columns.Room(s.room[:0], n, first)
		return Candidate{}, s.Member.Resources(s.room, s.q.Index.Allocatable(n))
	}
	var gone []cluster.PodID
	if len(s.q.States) > 0 {
		s.Trial.Settle(n)
		if through != nil {
			goes := s.goes
			if first == 0 {
				goes = everybody
			}
			gone = s.Trial.LeaveAll(goes)
		}
		if why := s.Trial.Constrained(); !why.OK() {
			s.excluded = through == nil || !s.Trial.Barred().OK()
			return Candidate{}, why
		}
	}
	s.Stats.Evaluated++
	if through != nil && s.hopelesslyWorse(n, first) || !s.mayBeat(n) {
		return Candidate{}, domain.Reason{}
	}
	for _, p := range gone {
		u, _ := s.q.Units.UnitOf(p)
		through.Minds.Add(first + victims.Position(slices.Index(s.q.Units.On(n)[first:], u)))
	}
	return s.sweepPositions(n, first, end, through), domain.Reason{}
}

// everybody goes from a node where all positions are of potential victims.
func everybody(cluster.PodID) bool { return true }

// mayBeat reports whether node n may be better than the best so far, if that is one
// where a single pod goes. It says yes where it can't tell, and where n may be preferred.
func (s *Search) mayBeat(n cluster.NodeID) bool {
	b := s.bound()
	if b == nil || b.Violations > 0 || b.Pods != 1 || s.q.Prefers() {
		return true
	}
	block, i := s.q.Columns.Levels().Blocks()[n/columns.BlockSize], int(n)%columns.BlockSize
	return block.Plain>>i&1 == 0 || block.Beats(b, i, n < s.Best.Node)
}

// goes reports whether pod p is among the potential victims of its node, which is
// plain.
func (s *Search) goes(p cluster.PodID) bool {
	u, runs := s.q.Units.UnitOf(p)
	return runs && s.q.Units.Unit(u).Level < s.q.Priority
}

// hopelesslyWorse reports whether, for lack of room alone, somebody more important has
// to go from node n than anybody who goes for the best so far. first is the position of
// the most important potential victim.
func (s *Search) hopelesslyWorse(n cluster.NodeID, first victims.Position) bool {
	b := s.bound()
	if b == nil || b.Violations > 0 || !s.q.Columns.Even(n) {
		return false
	}
	at, _ := s.q.Columns.Positions(n, b.Highest+1)
	return at > first && !s.Sweep.Fits(n, at)
}

// sweepPositions gives back whom it can on the positions first to end of node n. The
// Candidate has no victims if it is worse than the best so far.
func (s *Search) sweepPositions(n cluster.NodeID, first, end victims.Position, through *columns.Gate) Candidate {
	score, ok := s.Sweep.Node(n, first, end, s.bound(), through)
	if !ok {
		return Candidate{}
	}
	s.swept = s.swept[:0]
	for _, position := range s.Sweep.Victims() {
		s.swept = append(s.swept, s.q.Columns.Unit(n, position))
	}
	return Candidate{n, s.swept, nil, score}
}

// gate asks the constraints who may return. It minds nobody yet.
func (s *Search) gate() *columns.Gate {
	if s.through == nil {
		s.through = &columns.Gate{Admit: func(u victims.UnitID) bool { // units that are swept have one pod
			return s.Trial.Admit(s.q.Units.Unit(u).Pods[0])
		}}
	}
	s.through.Minds = columns.PositionSet{}
	return s.through
}

// bound is the score to beat; nil if every node is Evaluated to the end.
func (s *Search) bound() *victims.Score {
	if s.Best.Node == cluster.NoNode || !s.bounds() {
		return nil
	}
	return &s.Best.Score
}

// bounds reports whether nodes need not be Evaluated further than it takes to see that another one is better.
func (s *Search) bounds() bool { return s.q.Sampling == nil && !s.q.Candidates && !s.Unbounded }

// nodesPerShare is how many nodes share the steps of searches for who of elastic units may stay that one domain of a gang has.
const nodesPerShare = 8

// nodeShares counts the nodes as the next power of two, so that what is remembered of them lasts while nodes come and go.
func nodeShares(q *ask.Question) int { return 1 << bits.Len(uint(max(q.Index.CountNodes(), 1)-1)) }

// Strategy is how victims are found: given back who can, or searched for.
func (s *Search) Strategy() func([]victims.UnitID) (reprieve.Outcome, domain.Reason) {
	if s.q.Bounded() {
		return s.choose
	}
	return s.Reprieve
}

// mostSeated is how many looks at seats of fractions of devices the nodes together may take, fewestSeated a node in any case, until units
// come back by halves there, and until none does.
const mostSeated, fewestSeated = 1 << 23, 1 << 17

// CountSeats lets units come back by halves on the node once they have taken its share of these looks, until [Search.EndSeats].
func (s *Search) CountSeats() {
	if len(s.q.States) > 0 {
		before, most := s.Trial.Seated(), max(mostSeated/nodeShares(s.q), fewestSeated)
		s.Runner.Enough = func() int {
			times := (s.Trial.Seated() - before) / most
			s.Runner.Cut = s.Runner.Cut || times > 0
			return min(times, 2)
		}
	}
}

// EndSeats ends it.
func (s *Search) EndSeats() { s.Runner.Enough = nil }

// Reprieve takes the potential victims out of the trial and gives back whom it can,
// by the strategy of the rules.
func (s *Search) Reprieve(potential []victims.UnitID) (reprieve.Outcome, domain.Reason) {
	s.Runner.Share(nodeShares(s.q) / nodesPerShare)
	s.CountSeats()
	defer s.EndSeats()
	if !s.q.Lowest {
		return s.Runner.Run(s.Trial, potential)
	}
	l := s.q.Bounding(s.Trial.Fits)
	l.Bounded = s.ObserveLevel
	return s.Runner.RunLowest(s.Trial, l, potential)
}
