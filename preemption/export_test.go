package preemption

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/victims"
)

// PreemptSearching is Preempt with a number of feasibility checks that the search
// for better placements of a gang may spend, in place of searchChecks.
func (o Options) PreemptSearching(p Preemptor, s *Snapshot, checks int) (*Result, error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	c.searchChecks = checks
	return c.preempt(p)
}

// Trials returns the trial of a gang after its question was answered, and one as it
// was before; nil for who is no gang.
func (o Options) Trials(p Preemptor, s *Snapshot) (after, before *domain.GangTrial, err error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range []**domain.GangTrial{&after, &before} {
		q, err := c.newQuestion(p)
		if err != nil || q.team == nil {
			return nil, nil, err
		}
		search := newGangSearch(q)
		if t == &after {
			if _, err := search.run(); err != nil {
				return nil, nil, err
			}
			search.trial.UnplaceTo(0) // where it fits as things are, the members stay placed
		}
		*t = search.trial
	}
	return after, before, nil
}

// PreemptPlainly is Preempt without the columns of a ladder: every node is looked at
// by itself, over a trial.
func (o Options) PreemptPlainly(p Preemptor, s *Snapshot) (*Result, error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	c.podUnits().ladder = new(victims.Ladder)
	return c.preempt(p)
}

// PreemptWarm is Preempt, asked three times.
func (o Options) PreemptWarm(p Preemptor, s *Snapshot) (*Result, error) {
	pl, err := NewPlanner(s, o)
	if err != nil {
		return nil, err
	}
	for range 2 {
		if _, err := pl.Preempt(p); err != nil {
			return nil, err
		}
	}
	return pl.Preempt(p)
}

// Compiled returns what tells whether the planner has compiled its cluster anew.
func (pl *Planner) Compiled() any { return pl.ready }
