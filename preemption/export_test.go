package preemption

import (
	"cmp"

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

// PreemptByTrials is Preempt with every member of a gang placed and every potential
// victim taken out of a trial, where Preempt counts.
func (o Options) PreemptByTrials(p Preemptor, s *Snapshot) (*Result, error) {
	return o.preemptTrying(p, s, 0, -1)
}

// Work is how much is asked, and how many checks are made, where the question about a gang is answered by trials; nothing for others.
func (pl *Planner) Work(p Preemptor) (work [2]int, err error) {
	now, err := pl.hold()
	if err != nil {
		return work, err
	}
	defer now.release()
	if q, err := tell.Read(now.ready, p, tell.Caller{}); err == nil && q.Tree != nil && q.Queue() == "" {
		search := q.SearchGang()
		_, err = search.Answer()
		return [2]int{search.Asked(), search.Checks()}, err
	}
	return work, nil
}

// PreemptWithoutColumns is PreemptByTrials where nothing is asked of the columns.
func (o Options) PreemptWithoutColumns(p Preemptor, s *Snapshot) (*Result, error) {
	return o.preemptTrying(p, s, ask.TraitColumns, -1)
}

// PreemptToTheEnd is PreemptByTrials where every placement is looked at to the end, with the columns or without.
func (o Options) PreemptToTheEnd(p Preemptor, s *Snapshot, columns bool) (*Result, error) {
	traits := ask.TraitRanking
	traits.Set(ask.TraitColumns, !columns)
	return o.preemptTrying(p, s, traits, -1)
}

// PreemptEvery is PreemptWithoutColumns where no better placements are looked for than those of the
// placers; with every, each of them is looked at to the end.
func (o Options) PreemptEvery(p Preemptor, s *Snapshot, every bool) (*Result, error) {
	traits := ask.TraitColumns
	traits.Set(ask.TraitRanking, every)
	return o.preemptTrying(p, s, traits, 0)
}

func (o Options) preemptTrying(p Preemptor, s *Snapshot, traits ask.Traits, checks int) (*Result, error) {
	q, err := o.gangOf(p, s)
	if q == nil || q.Queue() != "" {
		return nil, err
	}
	if q.Traits |= traits; checks >= 0 {
		q.Checks = checks
	}
	return q.SearchGang().Answer()
}

// BothWays is Preempt and PreemptByTrials, with so many checks for better placements;
// joint says that a decision places nobody, where units have several pods.
func (o Options) BothWays(p Preemptor, s *Snapshot, checks int) (counted, tried *Result, joint bool, err error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, nil, false, err
	}
	c.Ask.Checks = checks
	if counted, err = onceAsked(c, p); err != nil {
		return nil, nil, false, err
	}
	q, err := tell.Read(c, p, tell.Caller{})
	if err != nil || q.Tree == nil || q.Queue() != "" {
		return nil, nil, false, err
	}
	if tried, err = q.SearchGang().Answer(); err != nil {
		return nil, nil, false, err
	}
	if q, err = tell.ReadBriefly(c, p, tell.Caller{}); err != nil {
		return nil, nil, false, err
	}
	search := q.CountGang()
	search.Brief = true
	if _, err = search.Answer(); err != nil {
		return nil, nil, false, err
	}
	return counted, tried, search.Counting != nil && search.Trial == nil && search.Counting.CountedJoint(), nil
}

// LeastBothWays places a gang in the first domain where least has to go for each member,
// by counting and by trials; ok is false if that is not counted as where units have
// several pods.
func (o Options) LeastBothWays(p Preemptor, s *Snapshot) (counted, tried []cluster.NodeID, ok bool, err error) {
	q, err := o.gangOf(p, s)
	if q == nil {
		return nil, nil, false, err
	}
	levels, err := q.Levels()
	if err != nil || len(levels) == 0 || len(levels[0]) == 0 {
		return nil, nil, false, err
	}
	d, search := &levels[0][0], q.CountGang()
	if search.Counting == nil {
		return nil, nil, false, nil
	}
	counted = search.Counting.LeastJoint(d)
	for _, x := range q.SearchGang().PlaceCheapest(d) {
		tried = append(tried, x.Node)
	}
	return counted, tried, counted != nil, nil
}

// gangOf reads the question about a gang; nil: p is none.
func (o Options) gangOf(p Preemptor, s *Snapshot) (*tell.Inquiry, error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	q, err := tell.Read(c, p, tell.Caller{})
	if err != nil || q.Tree == nil {
		return nil, err
	}
	return q, nil
}

// ComparePrices calls same with the price of every place for every member of a gang, as units
// and as columns tell it, and with a bound from below; road is false where columns are not asked.
func (o Options) ComparePrices(p Preemptor, s *Snapshot, same func(offers, firsts, least domain.Price)) (road bool, err error) {
	q, err := o.gangOf(p, s)
	if q == nil {
		return false, err
	}
	d := domain.WholeCluster{}.Split(nil, q.Index)[0]
	return q.SearchGang().ComparePrices(&d, same), nil
}

// Counts reports whether Preempt answers the question about a gang by counting.
func (o Options) Counts(p Preemptor, s *Snapshot) (bool, error) {
	q, err := o.gangOf(p, s)
	if q == nil {
		return false, err
	}
	return q.CountGang().Counting != nil, nil
}

// PreemptInChunks is Preempt on at most so many goroutines, with the nodes in chunks of that size; 0: as many as ever.
func (o Options) PreemptInChunks(p Preemptor, s *Snapshot, goroutines, size int) (*Result, error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	c.Ask.Goroutines, c.Ask.ChunkSize = goroutines, cmp.Or(size, c.Ask.ChunkSize)
	return onceAsked(c, p)
}

// PreemptOn is Preempt on at most so many goroutines.
func (o Options) PreemptOn(p Preemptor, s *Snapshot, goroutines int) (*Result, error) {
	return o.PreemptInChunks(p, s, goroutines, 0)
}
