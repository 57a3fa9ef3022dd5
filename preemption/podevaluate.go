package preemption

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// noVictims is why preemption does not help where nobody may be evicted.
const noVictims domain.Check = "no potential victims"

// try is evaluate, and notes if the node is not proved to be of no use: with all potential
// victims gone a constraint that is not monotone keeps the pod away, which might fit
// beside some of them.
func (s *podSearch) try(n cluster.NodeID) (candidate, domain.Reason) {
	c, why := s.evaluate(n)
	if !why.OK() && why.Check != domain.CheckResource && why.Check != noVictims && s.stats.Exact && !s.monotone() {
		s.trial.Reset(n)
		s.runner.Forget()
		for _, u := range s.evictable(n) {
			s.runner.Remove(s.trial, u)
		}
		s.stats.Exact = s.trial.Excluded() || s.hopeless(n)
	}
	return c, why
}

// hopeless reports whether a constraint says that the pod does not fit on node n,
// whatever is evicted anywhere.
func (s *podSearch) hopeless(n cluster.NodeID) bool {
	return slices.ContainsFunc(s.states, func(state domain.State) bool {
		b, ok := state.(domain.Bounder)
		return ok && !b.Hopeless(0, n).OK()
	})
}

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
func (s *podSearch) sweepNode(n cluster.NodeID, through *columns.Gate) (candidate, domain.Reason) {
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
	if !s.mayBeat(n) {
		return candidate{}, domain.Reason{}
	}
	return s.sweepRungs(n, first, end, through), domain.Reason{}
}

// mayBeat reports whether node n may be better than the best so far, if that is one
// before n where a single pod goes. It says yes where it can't tell.
func (s *podSearch) mayBeat(n cluster.NodeID) bool {
	b := s.bound()
	if b == nil || b.Violations > 0 || b.Pods != 1 {
		return true
	}
	block, i := s.ladder.Levels().Blocks()[n/columns.BlockSize], int(n)%columns.BlockSize
	return block.Plain>>i&1 == 0 || block.Beats(b, i)
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
func (s *podSearch) sweepRungs(n cluster.NodeID, first, end victims.Rung, through *columns.Gate) candidate {
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
func (s *podSearch) gate() *columns.Gate {
	if s.through == nil {
		s.through = &columns.Gate{Admit: func(u victims.UnitID) bool { // units that are swept have one pod
			return s.trial.Admit(s.units.Unit(u).Pods[0])
		}}
	}
	s.through.Minds = columns.RungSet{}
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
