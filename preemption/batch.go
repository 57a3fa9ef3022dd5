package preemption

import (
	"cmp"
	"context"
	"slices"

	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/tell"
)

// PreemptAll answers for several preemptors at once: the most important first, as they are
// given where they are as important. Each answer sees the earlier ones carried out, their victims gone,
// or where Result.Moves says, and budgets and limits spent by them. The planner itself is not changed.
//
// Pending pods of one priority that are equal, and that nothing ties to each other or to
// other pods, are planned together, however they are listed: as many as there can be room for,
// and of all ways to make it one that disrupts least, as far as Options.Search looks: for them
// it is Improved where it is Greedy. Such an answer names them in Asked.Gathered; Score, Optimal and
// Bound are those of all of them. There may be several about equal pods: of those that fit without evictions, of
// those that somebody goes for, and of the rest. Pods of other kinds come kind by kind, as the first of
// each is given. Everything else is answered as by [Planner.Preempt].
//
// Under limits, which hold for each preemption, and where the lowest level of victims is looked for, pods
// are asked about one by one, too.
//
// The answers are in the order in which they can be carried out, and each preemptor is in one of them. The
// error joins one for each preemptor that cannot be read, has a pod that another one has too, or is a
// workload, for which there is [Planner.Cycle].
func (pl *Planner) PreemptAll(list []Preemptor) ([]*Result, error) {
	return pl.PreemptAllContext(context.Background(), list)
}

// PreemptAllContext is PreemptAll that is stopped as [Planner.PreemptContext] is.
func (pl *Planner) PreemptAllContext(ctx context.Context, list []Preemptor) ([]*Result, error) {
	b := batch{ctx: ctx, fork: pl.Fork(), placed: map[PodRef]bool{}}
	turns, err := b.lineUp(list)
	if err != nil {
		return nil, err
	}
	for i := range turns {
		if err := b.take(&turns[i]); err != nil {
			return nil, err
		}
	}
	return b.results, nil
}

// batch is a question about several preemptors.
type batch struct {
	ctx     context.Context
	fork    *Planner // with all results carried out but the last
	results []*Result
	placed  map[PodRef]bool // by them
}

// turn is a preemptor, or pods that are planned together.
type turn struct {
	preemptor Preemptor
	priority  int32
	equal     []PodRef      // that are planned together; nil: it is asked about by itself
	as        *tell.Inquiry // of the first of them
}

// lineUp reads the preemptors and lists who is asked about in turn.
func (b *batch) lineUp(list []Preemptor) (turns []turn, err error) {
	defer caughtAnswer(&turns, &err)
	now, err := b.fork.hold()
	if err != nil {
		return nil, err
	}
	defer now.release()
	seen := map[PodRef]bool{}
	var errs []error
	for _, p := range list {
		t, err := turnOf(now.ready, p)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, m := range t.as.Members {
			ref := tell.RefTo(m.Pod)
			if seen[ref] {
				errs = append(errs, problems.Pod(m.Pod, "Name", words.Quoted(m.Pod.Name), "a pod of one preemptor alone", nil))
				break
			}
			seen[ref] = true
		}
		if t.equal != nil {
			same := func(o turn) bool { return o.equal != nil && t.as.Equals(o.as) }
			if i := slices.IndexFunc(turns, same); i >= 0 {
				turns[i].equal = append(turns[i].equal, t.equal...)
				continue
			}
		}
		turns = append(turns, t)
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(b.priority, a.priority) })
	return turns, problems.Join(errs)
}

// turnOf reads a preemptor.
func turnOf(c *live.Cluster, p Preemptor) (turn, error) {
	if err := p.Validate(); err != nil {
		return turn{}, err
	}
	t := turn{preemptor: p}
	if p.Kind == cluster.KindWorkload {
		return t, tell.Unknown(p, "a pod or a group: Cycle is about workloads")
	}
	q, joins, err := tell.ReadInTurn(c, p)
	if err != nil {
		return t, err
	}
	if t.priority, t.as = q.Priority, q; joins {
		t.equal = []PodRef{{Namespace: p.Namespace, Name: p.Name}}
	}
	return t, nil
}

// take asks about whose turn it is.
func (b *batch) take(t *turn) error {
	if t.equal == nil {
		return b.ask(func() (*Result, error) { return b.fork.PreemptContext(b.ctx, t.preemptor) })
	}
	for len(t.equal) > 0 {
		err := b.ask(func() (*Result, error) { return b.fork.preemptEqual(b.ctx, t.equal) })
		if err != nil || !b.results[len(b.results)-1].Verdict.IsPlan() {
			return err
		}
		t.equal = slices.DeleteFunc(t.equal, func(ref PodRef) bool { return b.placed[ref] })
	}
	return nil
}

// ask carries the latest result out, asks, and notes the answer.
func (b *batch) ask(question func() (*Result, error)) error {
	if n := len(b.results); n > 0 && b.results[n-1].Verdict.IsPlan() {
		if err := b.fork.carryOut(b.results[n-1]); err != nil {
			return err
		}
	}
	for {
		r, err := question()
		if err != nil {
			return err
		}
		kept, err := b.keep(r)
		if err != nil {
			return err
		}
		if kept {
			continue
		}
		b.results = append(b.results, r)
		if r.Verdict.IsPlan() {
			for _, n := range r.Nominations {
				b.placed[n.Pod] = true
			}
		}
		return nil
	}
}

// keep puts on standby whom r would evict though an earlier result has placed them, and reports
// whether there were some: under guards, equals may take turns.
func (b *batch) keep(r *Result) (kept bool, err error) {
	err = b.fork.change(func(h *live.Held) error {
		for _, v := range r.Victims {
			for _, ref := range v.Pods {
				p := h.Pod(ref.Namespace, ref.Name)
				if !b.placed[ref.PodRef] || p == nil || p.Guard != nil && p.Guard.Standby {
					continue
				}
				stays := *p
				stays.Guard, kept = &cluster.Guard{Standby: true}, true
				live.Pods.Set(h, &stays)
			}
		}
		return nil
	})
	return kept, err
}

// preemptEqual answers for pods that may be planned together; where none of them has a
// place, it is what each would hear.
func (pl *Planner) preemptEqual(ctx context.Context, pods []PodRef) (*Result, error) {
	if len(pods) > 1 {
		r, err := pl.preemptTogether(ctx, pods)
		if err != nil || r.Verdict.IsPlan() {
			return r, err
		}
	}
	r, err := pl.PreemptContext(ctx, Preemptor{Kind: cluster.KindPod, Namespace: pods[0].Namespace, Name: pods[0].Name})
	if err == nil && len(pods) > 1 && !r.Verdict.IsPlan() {
		r.Preemptor = Asked{Kind: cluster.KindPod, Gathered: slices.Clone(pods)}
	}
	return r, err
}

// preemptTogether answers for equal pods as for a gang that needs one of them: as many as
// there can be room for.
func (pl *Planner) preemptTogether(ctx context.Context, pods []PodRef) (*Result, error) {
	first := Preemptor{Kind: cluster.KindPod, Namespace: pods[0].Namespace, Name: pods[0].Name}
	return pl.answer(ctx, "PreemptAll", &first, func(now *moment, a *asking) (*Result, error) {
		return tell.Together(now.ready, pods, a.caller())
	})
}
