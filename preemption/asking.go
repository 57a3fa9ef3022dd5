package preemption

import (
	"context"
	"fmt"
	"time"

	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/tell"
)

// Observer is told of questions: [Hooks].Observer. It changes no answer, and closes no road
// to one. Many goroutines may call it at once. It must not call the planner.
type Observer interface {
	// Now is the caller's clock, since the library reads none. Only differences count.
	Now() time.Time

	// Answered is told of a question once it is answered.
	Answered(o Observation)
}

// Observation is what an [Observer] is told of one question. What upstream's metrics of the
// same purpose count is told by it:
//
//   - scheduler_preemption_attempts_total: one for each that has no Err and does not fit;
//   - scheduler_preemption_victims: Victims, where it is feasible;
//   - scheduler_framework_extension_point_duration_seconds: as PreFilter PhasePrepare, as
//     PostFilter PhaseSearch and PhaseTell, which here have the work of Filter in them.
type Observation struct {
	Call    string       // the method: Preempt, of Options too, Decide or WhyNot; Park calls Decide, Gather and Cycle call Preempt
	Kind    cluster.Kind // of the preemptor; empty: as Asked.Kind
	Verdict Verdict      // empty for WhyNot, and with an Err
	Victims int          // pods that have to go
	Trials  int          // feasibility checks; 0 where none is told: of Decide and WhyNot
	Phases  [NumPhases]time.Duration
	Err     error // what the question came to instead; it may have been stopped
}

// Phase is a part of a question.
type Phase int

// The phases, in their order.
const (
	PhaseCompile Phase = iota // the snapshot is read; of a planner nothing, but after changes that it could not follow
	PhasePrepare              // the preemptor is found, and constraints count
	PhaseSearch               // nodes and victims are looked for; of gangs and quota told, too
	PhaseTell                 // put into words
	NumPhases                 // how many there are
)

// String is the phase as a word.
func (p Phase) String() string {
	if p < 0 || p >= NumPhases {
		return fmt.Sprintf("Phase(%d)", int(p))
	}
	return [...]string{"compile", "prepare", "search", "tell"}[p]
}

// asking is what the caller of a question wants beside the answer. nil: nothing.
type asking struct {
	ctx      context.Context // nil: it is never stopped
	plan     bool            // the plan alone is told
	observer Observer        // nil: none
	last     time.Time
	seen     Observation
}

// asks is what is wanted of a question that begins, of method call about p.
func (o *Options) asks(ctx context.Context, call string, p *Preemptor) *asking {
	var observer Observer
	if o.Hooks != nil && o.Hooks.Observer != nil {
		observer = namedObserver{o.Hooks.Observer}
	}
	plan := tell.IsPlanOnly(ctx)
	if ctx != nil && ctx.Done() == nil {
		ctx = nil
	}
	if ctx == nil && observer == nil && !plan {
		return nil
	}
	a := &asking{ctx: ctx, plan: plan, observer: observer}
	if observer != nil {
		a.seen.Call, a.seen.Kind, a.last = call, tell.AskedBy(p).Kind, observer.Now()
	}
	return a
}

// stopped is the error of a question that nobody waits for any more, else nil.
func (a *asking) stopped() error {
	if a == nil || a.ctx == nil || a.ctx.Err() == nil {
		return nil
	}
	return stopped(a.ctx.Err())
}

func stopped(err error) error { return fmt.Errorf("preemption: the question was stopped: %w", err) }

// poll is for [ask.Question].Poll; nil: the question is never stopped. It looks each time:
// that costs some nanoseconds, and between two steps thousands of units may leave.
func (a *asking) poll() func() {
	if a == nil || a.ctx == nil {
		return nil
	}
	return func() {
		if err := a.ctx.Err(); err != nil {
			panic(&ranges.Stop{Err: stopped(err)})
		}
	}
}

// caller is a as questions know it.
func (a *asking) caller() tell.Caller {
	if a == nil {
		return tell.Caller{}
	}
	c := tell.Caller{Poll: a.poll(), Plan: a.plan}
	if a.observer != nil {
		c.Prepared, c.Searched = func() { a.passed(PhasePrepare) }, func() { a.passed(PhaseSearch) }
	}
	return c
}

// passed notes that a phase has ended.
func (a *asking) passed(p Phase) {
	if a == nil || a.observer == nil {
		return
	}
	now := a.observer.Now()
	a.seen.Phases[p] += now.Sub(a.last)
	a.last = now
}

// end tells the observer how the question ended, in phase p.
func (a *asking) end(p Phase, v Verdict, victims, trials int, err error) {
	if a == nil || a.observer == nil || v == "" && err == nil && a.seen.Call != "WhyNot" { // somebody has panicked, or left by runtime.Goexit
		return
	}
	a.passed(p)
	if a.seen.Err = err; err == nil {
		a.seen.Verdict, a.seen.Victims, a.seen.Trials = v, victims, trials
	}
	a.observer.Answered(a.seen)
}

// told is end for an answer in full.
func (a *asking) told(r *Result, err error) {
	if a == nil || a.observer == nil {
		return
	}
	if r == nil {
		r = &Result{}
	}
	a.end(PhaseTell, r.Verdict, numPods(r.Victims), r.Stats.Trials, err)
}
