package onepod

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// choose is Reprieve for victims that have to keep within bounds, or are to disrupt least:
// where the greedy ones do not, or may not, it searches.
func (s *Search) choose(potential []victims.UnitID) (reprieve.Outcome, domain.Reason) {
	if s.Unbounded || s.Runner.Observe != nil && s.Trial.Node() == s.Best.Node { // it is told of, by itself
		s.Refill()
	}
	beat := s.beat()
	if (s.q.Effort != ask.Greedy || s.q.Lands()) && s.outdone(s.Trial.Node(), potential, beat) {
		s.beaten = true
		return reprieve.Outcome{}, domain.Reason{}
	}
	observe, part := s.Runner.Observe, s.Runner.ObservePart
	s.Runner.Observe, s.Runner.ObservePart = nil, nil
	out, why := s.Reprieve(potential)
	s.Runner.Observe, s.Runner.ObservePart = observe, part
	if !why.OK() {
		return out, why
	}
	over := s.q.OverrunsAt(s.place(), out.Victims, s.Runner.Parts())
	if s.q.Effort != ask.Greedy && !s.q.Probing {
		return s.least(potential, out, over, beat)
	}
	if len(over) == 0 && observe == nil {
		return out, why
	}
	s.Trial.Reset(s.Trial.Node())
	if len(over) == 0 {
		return s.Reprieve(potential) // the same again, to be watched
	}
	s.Stats.Searched++
	w := s.Within(potential)
	w.Steps = min(w.Steps, s.stepsWithin())
	s.CountSeats()
	defer s.EndSeats()
	out, proof, why := s.Runner.RunWithin(s.Trial, potential, w)
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

// Refill lets searches, and who lands elsewhere, take as much again as on the nodes of a chunk.
func (s *Search) Refill() {
	s.decided = s.Runner.Decided
	s.q.ShareLanding(numChunks(s.q))
}

// Within is the choice among sets of the potential victims of the node.
func (s *Search) Within(potential []victims.UnitID) reprieve.Within {
	w := s.q.Within(potential, s.Runner, s.place)
	w.Looks = func() int { return s.q.Landed + s.Trial.Seated() }
	s.stand()
	favored := s.Trial.Favor(potential)
	w.Steps = s.near.Steps(potential, w.Steps, func(u victims.UnitID, pods []cluster.PodID) bool {
		return slices.Contains(favored, u) && len(pods) == len(s.q.Units.Unit(u).Pods)
	})
	return w
}

// searchesWithin is for how many whole searches for victims within bounds there are steps on all nodes together, which share them, and
// searchesForLess for those that disrupt less;
// fewestSteps are those of a node in any case.
const (
	searchesWithin  = 16
	searchesForLess = 8
	fewestSteps     = 32
)

// stepsWithin is how many steps one of them takes at most. Those that are told of take no more than is left since Refill.
func (s *Search) stepsWithin() int {
	most := s.q.NumSteps()
	steps := max(most/max(nodeShares(s.q)/searchesWithin, 1), min(most, fewestSteps))
	if s.Runner.Observe != nil {
		steps = min(steps, ask.StepsLeft(most, s.Runner.Decided-s.decided))
	}
	return steps
}

// stepsLeft is how many steps are left on the nodes of the chunk to look for victims that disrupt less, where a search takes so many.
func (s *Search) stepsLeft(whole int) int {
	all := checked.Mul(int64(whole/max(numChunks(s.q), 1)), searchesForLess)
	return max(int(min(int64(ask.StepsLeft(whole, 0)), all))-(s.Runner.Decided-s.decided), 0)
}

// place is where the preemptor goes.
func (s *Search) place() []domain.Assignment { return []domain.Assignment{{Node: s.Trial.Node()}} }

// least is choose for the victims that disrupt least, where the greedy ones are beyond some
// bounds. The node is beaten if they disrupt more than the best so far.
func (s *Search) least(potential []victims.UnitID, greedy reprieve.Outcome, over []ask.Excess, beat []int64) (reprieve.Outcome, domain.Reason) {
	best := reprieve.Least{Victims: append([]victims.UnitID{}, greedy.Victims...), Parts: maps.Clone(s.Runner.Parts())}
	score := s.q.Score(greedy.Victims, best.Parts, greedy.Violations, domain.Assignment{Node: s.Trial.Node()})
	if len(over) > 0 {
		best = reprieve.Least{}
	}
	known, all := s.q.Known(potential), len(s.q.Ranking.Criteria())
	aims := func(violating []reprieve.Charged) []reprieve.Aim {
		return s.q.Aims(s.Runner, potential, violating)[:known]
	}
	w := s.Within(potential)
	whole := w.Steps
	var l reprieve.Least
	look := func(steps int) {
		if w.AimSteps, w.Steps = steps, whole; best.Victims == nil {
			w.Steps = min(w.Steps, s.stepsWithin())
		}
		s.Trial.Reset(s.Trial.Node())
		l = s.Runner.RunLeast(s.Trial, potential, best, w, aims, beat[:min(known, len(beat))])
		if found := s.q.Score(l.Victims, l.Parts, l.Violations, domain.Assignment{Node: s.Trial.Node()}); l.Victims != nil && (best.Victims == nil || s.q.CompareScores(&found, &score) <= 0) {
			best, score = l, found
		}
	}
	// Whoever looks harder begins as who looks less hard, in steps of which the other nodes know nothing: so nothing worse is found.
	before := s.Runner.Decided
	look(min(w.AimSteps, whole, ask.FewSteps))
	s.decided += s.Runner.Decided - before
	most := min(s.q.AimSteps(), whole, s.stepsLeft(whole))
	if most > ask.FewSteps && best.Victims != nil && l.Proof != reprieve.Found && l.Proof != reprieve.Refuted {
		look(most)
	}
	s.Stats.Searched++
	if l.Proof != reprieve.Found && l.Proof != reprieve.Refuted || known < all {
		s.open(l.Bound)
	}
	switch {
	case l.Beaten:
		s.beaten = true
		return reprieve.Outcome{}, domain.Reason{}
	case best.Victims == nil:
		if s.Stats.Exact = s.Stats.Exact && l.Proof == reprieve.Refuted; !s.q.Monotone() {
			s.doubt()
		}
		return reprieve.Outcome{}, ask.Beyond(over, l.Proof)
	}
	s.Trial.Reset(s.Trial.Node())
	return s.Runner.Watch(s.Trial, potential, best.Victims, best.Parts), domain.Reason{}
}

// beat are the numbers of the best so far, nil if there is none, or every node counts or is
// told of.
func (s *Search) beat() []int64 {
	if b := s.bound(); b != nil && s.q.Compare == nil && s.Runner.Observe == nil {
		return s.q.Ranking.Values(*b)
	}
	return nil
}

// open notes that on some node victims may have as little as bound.
func (s *Search) open(bound []int64) {
	if !s.Open || slices.Compare(bound, s.Bound) < 0 {
		s.Open, s.Bound = true, bound
	}
}

// GivesBack reports whether victims are who did not come back, and no search for them.
func (s *Search) GivesBack() bool { return s.q.Effort == ask.Greedy && !s.q.Bounded() }

// Watch tells who observes what giving back comes to with the victims of c, who are out then.
func (s *Search) Watch(c *Candidate) {
	potential := s.q.Evictable(c.Node)
	s.Trial.Reset(c.Node)
	if s.GivesBack() { // a search that is repeated has fewer steps left
		out, _ := s.Reprieve(potential)
		for _, u := range c.Victims {
			if s.q.Hooks && !slices.Contains(out.Victims, u) {
				panic(&domain.Misuse{Value: "a second answer to the same question", Want: "the first one"})
			}
		}
	} else {
		s.Runner.Watch(s.Trial, potential, c.Victims, c.Parts)
	}
}
