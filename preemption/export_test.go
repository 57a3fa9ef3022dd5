package preemption

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/review"
	"github.com/preempt-go/preempt/preemption/internal/tell"
)

// PreemptSearching is Preempt with a number of feasibility checks that the search
// for better placements of a gang may spend, in place of searchChecks.
func (o Options) PreemptSearching(p Preemptor, s *Snapshot, checks int) (*Result, error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	c.Ask.Checks = checks
	return onceAsked(c, p)
}

func onceAsked(c *live.Cluster, p Preemptor) (*Result, error) {
	r, _, err := preempt(c, p, c.Quota, nil)
	return r, err
}

// Trials returns the trial of a gang after its question was answered, and one as it
// was before; nil for who is no gang.
func (o Options) Trials(p Preemptor, s *Snapshot) (after, before *domain.GangTrial, err error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range []**domain.GangTrial{&after, &before} {
		q, err := tell.Read(c, p, tell.Caller{})
		if err != nil || q.Tree == nil {
			return nil, nil, err
		}
		search := q.SearchGang()
		if t == &after {
			if _, err := search.Answer(); err != nil {
				return nil, nil, err
			}
			search.Trial.UnplaceTo(0) // where it fits as things are, the members stay placed
		}
		*t = search.Trial
	}
	return after, before, nil
}

// PreemptPlainly is Preempt without columns: every node is looked at
// by itself, over a trial.
func (o Options) PreemptPlainly(p Preemptor, s *Snapshot) (*Result, error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	c.PodUnits().Columns = new(columns.NodeColumns)
	return onceAsked(c, p)
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

// Begin begins a question, about quota too, which is in progress until end is called.
func Begin(pl *Planner) (ask func(p Preemptor) (*Result, error), end func()) {
	now, err := pl.hold()
	if err != nil {
		panic(err)
	}
	return func(p Preemptor) (*Result, error) { r, _, err := preempt(now.ready, p, now.quota, nil); return r, err }, now.release
}

// Compiled returns what tells whether the planner has compiled its cluster anew.
func (pl *Planner) Compiled() any { return pl.held.Ready }

// FitsBothWays says whether a single pod fits with everybody in place: as StillValid
// asks, and node by node.
func (o Options) FitsBothWays(p Preemptor, s *Snapshot) (quick, plain bool, err error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return false, false, err
	}
	q, err := tell.Read(c, p, tell.Caller{})
	if err != nil || q.Tree != nil || len(q.Members) != 1 || q.Queue() != "" {
		return false, false, err
	}
	if quick, err = (&review.Review{Inquiry: q}).FitsAsItIs(nil); err != nil {
		return false, false, err
	}
	if q, err = tell.Read(c, p, tell.Caller{}); err != nil {
		return false, false, err
	}
	search := q.SearchPod()
	defer search.Close()
	return quick, search.Filter() != cluster.NoNode, nil
}

// ReviewBothWays says whether the nominated place of a single pod fits once gone have
// left: at that node alone, and in a trial of the whole cluster.
func (o Options) ReviewBothWays(r *Result, s *Snapshot) (alone, whole bool, err error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return false, false, err
	}
	q, err := review.Again(c, r)
	if err != nil || q.Tree != nil || len(q.Members) != 1 || q.Queue() != "" {
		return false, false, err
	}
	l, text := q.ReviewVictims(r.Victims)
	if text != "" {
		return false, false, nil
	}
	alone = q.FitsAlone(r, l)
	trial := q.GangTrial()
	l.Pods(trial.Remove)
	return alone, q.ReviewNominations(r, trial).Advice == Keep, nil
}

// Answered lets look look over every answer from now on.
func Answered(look func(s *Snapshot, o Options, p Preemptor, r *Result)) { answered = look }

// Tune lets pl answer on at most so many goroutines, in chunks of so many nodes, with so
// many checks for better placements of a gang, until it compiles its cluster anew.
func (pl *Planner) Tune(goroutines, chunkSize, searchChecks int) error {
	now, err := pl.hold()
	if err != nil {
		return err
	}
	c := now.ready
	c.Ask.Goroutines, c.Ask.ChunkSize, c.Ask.Checks = goroutines, chunkSize, searchChecks
	now.release()
	return nil
}

// CloseRoad closes the road of that name to every question until open is called. No
// question may be in progress.
func CloseRoad(name string) (open func()) {
	for _, r := range ask.Roads {
		if r.Name == name {
			return r.Close()
		}
	}
	panic("no such road: " + name)
}
