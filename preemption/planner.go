package preemption

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/parked"
	"github.com/preempt-go/preempt/preemption/internal/tell"
	"github.com/preempt-go/preempt/preemption/internal/workload"
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
	return o.PreemptContext(context.Background(), p, s)
}

// PreemptContext is Preempt that is stopped as [Planner.PreemptContext] is; the reading of s is
// not.
func (o Options) PreemptContext(ctx context.Context, p Preemptor, s *Snapshot) (r *Result, err error) {
	defer caughtAnswer(&r, &err)
	a := o.asks(ctx, "Preempt", &p)
	if a != nil {
		defer func() { a.told(r, err) }()
	}
	if err := a.stopped(); err != nil {
		return nil, err
	}
	c, err := o.compileSnapshot(s)
	if err != nil {
		return nil, err
	}
	a.passed(PhaseCompile)
	r, _, err = preempt(c, p, c.Quota, a)
	if answered != nil && err == nil {
		answered(s, o, p, r)
	}
	return r, err
}

// compileSnapshot checks s and compiles it for questions under o.
func (o Options) compileSnapshot(s *Snapshot) (*live.Cluster, error) {
	if s == nil {
		s = &Snapshot{}
	}
	quota, err := workload.New(s.QuotaObjects(), o.Quota.rules())
	c, err2 := o.compile(s.Objects(), quota)
	if err := errors.Join(err2, err); err != nil {
		return nil, err
	}
	return c, nil
}

// compile checks objects and compiles them for questions under o. quota may be nil
// if it could not be compiled.
func (o Options) compile(objects cluster.Objects, quota *workload.Model) (*live.Cluster, error) {
	if wrong := o.validate(); wrong != nil {
		_, err := objects.Index()
		return nil, errors.Join(wrong, err)
	}
	return live.New(o.settings(), objects, quota)
}

// prepare makes c ready for many questions, and for changes as far as it can follow
// them. Without it units are formed for the kind of preemptor that is asked about.
func prepare(c *live.Cluster) (err error) {
	defer caught(&err)
	c.Prepare()
	return nil
}

// preempt answers one question, with the quota as it is in m. needs is how many pods the gang of a
// lone pod needs beside it.
func preempt(c *live.Cluster, p Preemptor, m *workload.Model, a *asking) (_ *Result, needs int, err error) {
	defer caught(&err)
	return tell.Answer(c, p, m, a.caller())
}

// answered, if set, looks over every answer: a test's.
var answered func(s *Snapshot, o Options, p Preemptor, r *Result)

// Planner is a live model of a cluster: one preparation, many questions, and
// changes in between. It is safe for concurrent use. NewPlanner makes one; the zero
// Planner is of no use.
type Planner struct {
	options Options
	lone    bool               // pods of groups preempt by themselves, for one preemption: for a Gathering
	spent   cluster.Disruption // what lone has taken by now

	gate sync.RWMutex // held by Apply and Evict while they check and carry out, against other changes

	// mu is held by changes, as long as they take, never as long as a question does.
	// Questions go without: they read shown.
	mu      sync.RWMutex
	changes uint64                            // how many there were
	parked  *parked.Lot[parkedKey, Preemptor] // who waits for one; nil: nobody ever did
	forking sync.Mutex                        // held by Fork beside mu for reading: it writes what changes alone look at
	shown   atomic.Pointer[moment]

	held live.Held // the cluster

	quota       *workload.Model
	quotaShared bool // with a fork: cloned before it is changed
	quotaHeld   bool // its lock is held, until what it has become is shown
}

// moment is a cluster and its quota as questions find them. A live cluster that no
// question uses changes in place; where one does, the change goes to a fork, which is
// shown from then on, and the question keeps what it began with. So neither waits for
// the other, and a reader that waits for the lock of a cluster waits for one change.
type moment struct {
	ready *live.Cluster
	quota *workload.Model
	idle  bool // quota is
	open  bool // ready has to be settled before a question
}

// take begins the use of a moment by a question, release ends it.
func (now *moment) take() {
	now.ready.Use.RLock()
	if !now.idle {
		now.quota.Mu.RLock()
	}
}

func (now *moment) release() {
	if !now.idle {
		now.quota.Mu.RUnlock()
	}
	now.ready.Use.RUnlock()
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
	if err := prepare(c); err != nil {
		return nil, err
	}
	pl := &Planner{options: o, held: live.Held{First: s, Ready: c}, quota: c.Quota}
	pl.show()
	return pl, nil
}

// Preempt answers one question about the cluster as it is. See [Options.Preempt].
//
// The question is about the cluster as it is when it begins: neither does it wait for
// changes, but for the one that is being made, nor they for it. A change that finds a
// question in progress copies the pages that it changes, as after a Fork. Hooks may call
// the planner, but must not change it while an answer is applied.
func (pl *Planner) Preempt(p Preemptor) (*Result, error) {
	return pl.PreemptContext(context.Background(), p)
}

// PreemptContext is Preempt that ends once nobody waits for the answer any more: with every
// check it looks whether ctx is done, and then returns an error that wraps that of ctx. The
// planner is as it was, and remembers nothing of it. A question that is not stopped has the
// answer of Preempt. What takes no long is not stopped midway: the compiling after a change that
// the planner could not follow, and quota that workloads ask for.
func (pl *Planner) PreemptContext(ctx context.Context, p Preemptor) (*Result, error) {
	return pl.answer(ctx, "Preempt", &p, func(now *moment, a *asking) (*Result, error) { return pl.preemptAt(now, p, a) })
}

// answer answers a question in full, of method call about p, on the cluster as it is.
func (pl *Planner) answer(ctx context.Context, call string, p *Preemptor, ask func(now *moment, a *asking) (*Result, error)) (r *Result, err error) {
	defer caughtAnswer(&r, &err)
	a := pl.options.asks(ctx, call, p)
	if a != nil {
		defer func() { a.told(r, err) }()
	}
	if err := a.stopped(); err != nil {
		return nil, err
	}
	now, err := pl.hold()
	if err != nil {
		return nil, err
	}
	defer now.release()
	a.passed(PhaseCompile)
	return ask(now, a)
}

// preemptAt is the answer at one moment.
func (pl *Planner) preemptAt(now *moment, p Preemptor, a *asking) (*Result, error) {
	c, quota := now.ready, now.quota
	r, _, err := preempt(c, p, quota, a)
	if answered != nil && err == nil && !pl.lone {
		s := (&live.Held{Ready: c}).Snapshot()
		quota.AddTo(s, pl.held.First)
		answered(s, pl.options, p, r)
	}
	return r, err
}

// hold returns the cluster as it is for a question, which then calls its release.
func (pl *Planner) hold() (*moment, error) { return pl.holdFor(true) }

// holdFor is hold for a question, or for somebody who reads the index alone.
func (pl *Planner) holdFor(question bool) (*moment, error) {
	for {
		now := pl.shown.Load()
		if now.ready == nil || now.open && question {
			if err := pl.compile(); err != nil {
				return nil, err
			}
			continue
		}
		if now.take(); pl.shown.Load() == now {
			return now, nil
		}
		now.release()
	}
}

// show lets questions see the cluster as it is. The lock is held.
func (pl *Planner) show() {
	c := pl.held.Ready
	open := c != nil && c.Unsettled()
	if now := pl.shown.Load(); now == nil || now.ready != pl.held.Ready || now.quota != pl.quota || now.open != open {
		pl.shown.Store(&moment{pl.held.Ready, pl.quota, pl.quota.Idle(), open})
	}
	if pl.quotaHeld {
		pl.quotaHeld = false
		pl.quota.Mu.Unlock()
	}
}

// patience is how often a change looks whether questions in progress have ended before
// it forks the cluster: most of them take less than that.
const patience = 16

// exclude returns when nobody else uses mu, which it locks, or false if somebody does
// for longer. Nobody waits for a lock that waits for him.
func exclude(mu *sync.RWMutex) bool {
	for range patience {
		if mu.TryLock() {
			return true
		}
		runtime.Gosched()
	}
	return false
}

// alone returns c, or a fork of it where somebody uses it, which is the cluster from then on. Its Use is locked. The lock is held.
func (pl *Planner) alone(c *live.Cluster) *live.Cluster {
	if !exclude(&c.Use) {
		c = c.Fork()
		c.Use.Lock()
		pl.held.Ready = c
	}
	return c
}

// compile compiles the cluster, unless it is, settles what has changed, and shows it.
func (pl *Planner) compile() error {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	err := pl.compileHeld()
	pl.show()
	return err
}

// settleHeld settles what has changed in the cluster. The lock is held.
func (pl *Planner) settleHeld() {
	if c := pl.held.Ready; c != nil && c.Unsettled() {
		c = pl.alone(c)
		c.Settle()
		c.Use.Unlock()
	}
}

// compileHeld compiles the cluster, unless it is, or settles what has changed. The lock is held.
func (pl *Planner) compileHeld() error {
	if pl.held.Ready != nil {
		pl.settleHeld()
		return nil
	}
	c, err := pl.options.compile(pl.held.Objects(), pl.quota)
	if err != nil {
		return err
	}
	if err := prepare(c); err != nil {
		return err
	}
	if pl.lone {
		c.Ask.MembersWait, c.Ask.OneByOne = false, true
		c.SetSpent(pl.spent)
	}
	pl.held.Compiled(c)
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
	return pl.forkHeld()
}

// forkHeld is Fork for a caller that holds mu, and forking or mu for writing.
func (pl *Planner) forkHeld() *Planner {
	pl.quotaShared = true
	fork := &Planner{options: pl.options, lone: pl.lone, spent: pl.spent, held: pl.held.Fork(), quota: pl.quota, quotaShared: true}
	fork.show()
	return fork
}
