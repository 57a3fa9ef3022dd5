package onepod

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// choose is Reprieve for victims that have to keep within bounds, or are to be the
// cheapest: where the greedy ones do not, or may not be, it searches.
func (s *Search) choose(potential []victims.UnitID) (reprieve.Outcome, domain.Reason) {
	observe, part := s.Runner.Observe, s.Runner.ObservePart
	s.Runner.Observe, s.Runner.ObservePart = nil, nil
	out, why := s.Reprieve(potential)
	s.Runner.Observe, s.Runner.ObservePart = observe, part
	if !why.OK() {
		return out, why
	}
	over := s.q.Overruns(out.Victims, s.Runner.Parts())
	within := len(over) == 0 && !s.q.Cheapest
	if within && observe == nil {
		return out, why
	}
	s.Trial.Restart()
	if within {
		return s.Reprieve(potential) // the same again, to be watched
	}
	s.Stats.Searched++
	out, proof, why := s.Runner.RunWithin(s.Trial, potential, s.q.Within(potential, s.Runner))
	switch {
	case !why.OK() || proof == reprieve.Found:
		return out, why
	case proof == reprieve.FoundSome:
		s.Stats.Exact = false
		return out, why
	}
	s.Stats.Exact = s.Stats.Exact && proof == reprieve.Refuted && s.q.Monotone()
	return out, ask.Beyond(over, proof)
}
