package preemption

import (
	"sync"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Preempt answers the question with the default options. See [Options.Preempt].
func Preempt(p Preemptor, s *Snapshot) (*Result, error) { return Options{}.Preempt(p, s) }

// Preempt says whom preemptor p must evict in snapshot s, and where it goes.
//
// Neither argument is changed, and the result shares nothing with them. A nil s is
// an empty cluster. An error is for a question that cannot be read: it joins a
// [*cluster.FieldError] for each problem of s or p, an [*OptionError] for each of o. Equal questions
// get equal results, whatever the order of the slices in s.
//
// It compiles s for this one question; for several questions use a [Planner].
func (o Options) Preempt(p Preemptor, s *Snapshot) (*Result, error) {
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	return c.preempt(p)
}

// Planner is a live model of a cluster: one preparation, many questions, and
// changes in between. It is safe for concurrent use. NewPlanner makes one; the zero
// Planner is of no use.
type Planner struct {
	options Options
	lone    bool               // pods of groups preempt by themselves, for one preemption: for a Gathering
	spent   cluster.Disruption // what lone has taken by now

	gate sync.RWMutex // held by Apply and Evict while they check and carry out, against other changes

	// mu is held for writing by changes. Questions hold it for reading as long as they
	// use a live ready, which changes in place.
	mu      sync.RWMutex
	forking sync.Mutex // held by Fork beside mu for reading: it writes what changes alone look at

	first *Snapshot // what the planner began with
	model *model    // the cluster, where ready is not live and something has changed; else nil
	ready *compiled // of the cluster as it is; nil after a change that it could not follow

	quota       *quotaModel
	quotaShared bool // with a fork: cloned before it is changed
}

// NewPlanner checks s and compiles it for questions under options o. The planner
// keeps pointers into s, whose objects must not be changed while the planner is in
// use; change them through the planner. A nil s is an empty cluster.
//
// O(k log k) for k pods, some 0.4 microseconds for each where they are in order of
// namespace and name; many of them are shared out among processors. Errors are those of
// [Options.Preempt].
func NewPlanner(s *Snapshot, o Options) (*Planner, error) {
	if s == nil {
		s = &Snapshot{}
	}
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	c.prepare()
	return &Planner{options: o, first: s, ready: c, quota: c.quota}, nil
}

// Preempt answers one question about the cluster as it is. See [Options.Preempt].
//
// Changes wait for the end of the question, and it sees all of them or none. Hooks
// must not call the planner.
func (pl *Planner) Preempt(p Preemptor) (*Result, error) {
	c, quota, err := pl.hold()
	if err != nil {
		return nil, err
	}
	defer pl.release(c)
	return c.preemptOn(p, quota)
}

// hold returns the compiled form of the cluster as it is, and its quota, for a
// question, which then calls release.
func (pl *Planner) hold() (*compiled, *quotaModel, error) {
	for {
		pl.mu.RLock()
		c, quota := pl.ready, pl.quota
		if c != nil && c.live {
			return c, quota, nil
		}
		pl.mu.RUnlock()
		if c != nil {
			return c, quota, nil
		}
		if err := pl.compile(); err != nil {
			return nil, nil, err
		}
	}
}

// release ends the use of what hold returned.
func (pl *Planner) release(c *compiled) {
	if c.live {
		pl.mu.RUnlock()
	}
}

// compile compiles the cluster, unless it is.
func (pl *Planner) compile() error {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if pl.ready != nil {
		return nil
	}
	c, err := pl.options.compile(pl.open().objects(), pl.quota)
	if err != nil {
		return err
	}
	c.prepare()
	if pl.lone {
		c.rules.membersWait, c.spent = false, pl.spent
		c.limits = c.options.limits(c.ix, c.spent)
	}
	if pl.ready = c; c.live {
		pl.model = nil // c is the cluster from now on
	}
	return nil
}

// Fork returns an independent copy: neither sees the changes of the other. It costs
// a pointer for each 64 nodes, and each of the two costs memory only for what it changes:
// a page of some columns for each pod, and once a pointer for each page.
func (pl *Planner) Fork() *Planner {
	pl.mu.RLock()
	defer pl.mu.RUnlock()
	pl.forking.Lock()
	defer pl.forking.Unlock()
	pl.quotaShared = true
	fork := &Planner{options: pl.options, lone: pl.lone, spent: pl.spent, first: pl.first, ready: pl.ready, quota: pl.quota, quotaShared: true}
	if pl.ready != nil && pl.ready.live {
		fork.ready = pl.ready.fork()
	}
	if pl.model != nil {
		fork.model = pl.model.clone()
	}
	return fork
}

// open returns the model for a change or a look, which may go astray: it is not the
// planner's yet if ready is live. The lock is held.
func (pl *Planner) open() *model {
	switch {
	case pl.ready != nil && pl.ready.live:
		return newModel(pl.ready.ix.Objects())
	case pl.model == nil:
		pl.model = newModel(pl.first.Objects())
	}
	return pl.model
}
