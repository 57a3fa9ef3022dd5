package preemption

import (
	"sync"
)

// Preempt answers the question with the default options. See [Options.Preempt].
func Preempt(p Preemptor, s *Snapshot) (*Result, error) { return Options{}.Preempt(p, s) }

// Preempt says whom preemptor p must evict in snapshot s, and where it goes.
//
// Neither argument is changed, and the result shares nothing with them. A nil s is
// an empty cluster. An error is for a question that cannot be read: it joins a
// [*cluster.FieldError] for each problem, or is an [*OptionError]. Equal questions
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
	lone    bool // pods of groups preempt by themselves: for a Gathering

	gate sync.RWMutex // held by Apply and Evict while they check and carry out, against other changes

	mu    sync.Mutex
	first *Snapshot // what the planner began with; model is built from it when first needed
	model *model    // nil as long as nothing has changed
	ready *compiled // of the cluster as it is; nil after a change

	quota       *quotaModel
	quotaShared bool // with a fork: cloned before it is changed
}

// NewPlanner checks s and compiles it for questions under options o. The planner
// keeps pointers into s, whose objects must not be changed while the planner is in
// use; change them through the planner. A nil s is an empty cluster.
//
// O(k log k) for k pods. Errors are those of [Options.Preempt].
func NewPlanner(s *Snapshot, o Options) (*Planner, error) {
	if s == nil {
		s = &Snapshot{}
	}
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	return &Planner{options: o, first: s, ready: c, quota: c.quota}, nil
}

// Preempt answers one question about the cluster as it is. See [Options.Preempt].
//
// The first question after a change compiles the cluster anew.
func (pl *Planner) Preempt(p Preemptor) (*Result, error) {
	c, err := pl.compiled()
	if err != nil {
		return nil, err
	}
	return c.preemptOn(p, pl.openQuota())
}

// compiled returns the compiled form of the model as it is.
func (pl *Planner) compiled() (*compiled, error) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if pl.ready == nil {
		c, err := pl.options.compile(pl.open().objects(), pl.quota)
		if err != nil {
			return nil, err
		}
		if pl.lone {
			c.rules.membersWait = false
		}
		pl.ready = c
	}
	return pl.ready, nil
}

// Fork returns an independent copy: neither sees the changes of the other. O(1),
// and each of the two costs memory only for what it changes.
func (pl *Planner) Fork() *Planner {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.quotaShared = true
	fork := &Planner{options: pl.options, first: pl.first, ready: pl.ready, quota: pl.quota, quotaShared: true}
	if pl.model != nil {
		fork.model = pl.model.clone()
	}
	return fork
}

// open returns the model for a change or a look. The lock is held.
func (pl *Planner) open() *model {
	if pl.model == nil {
		pl.model = newModel(pl.first)
	}
	return pl.model
}
