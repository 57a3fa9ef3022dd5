package preemption_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// forged is r after a trip through JSON on which one field was changed; nil if that is no
// result any more.
func forged(t *rapid.T, m *gen.Maker, r *preemption.Result) *preemption.Result {
	var fields map[string]any
	if json.Unmarshal([]byte(asJSON(t, r)), &fields) != nil {
		return nil
	}
	for _, key := range []string{"score", "message", "stats", "candidates", "trace", "warnings", "rejected", "kept"} {
		delete(fields, key) // nobody reads them
	}
	forge(m, fields)
	var out preemption.Result
	if json.Unmarshal([]byte(asJSON(t, fields)), &out) != nil {
		return nil
	}
	return &out
}

// forge changes something in v and returns it.
func forge(m *gen.Maker, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return nil
		}
		key := gen.One(m, slices.Sorted(maps.Keys(v)))
		if m.N(6) == 5 {
			delete(v, key)
		} else {
			v[key] = forge(m, v[key])
		}
		return v
	case []any:
		if len(v) == 0 {
			return nil
		}
		i := m.N(len(v))
		switch m.N(6) {
		case 0:
			return slices.Delete(v, i, i+1)
		case 1:
			return append(v, v[i])
		}
		v[i] = forge(m, v[i])
		return v
	case string:
		return gen.One(m, []string{"", "nobody", "n0", "n1", "Pod", "PodGroup", "Workload", "feasible", "fits without preemption", v + "x"})
	case float64:
		return gen.One(m, []float64{-1, 0, v + 1, 1 << 31, -1 << 31})
	case bool:
		return !v
	}
	return "something"
}

// evicted lists the pods that run in before and in after have been told to go, or have left.
func evicted(before, after *preemption.Snapshot) []preemption.Pod {
	stay := map[preemption.PodRef]bool{}
	for _, p := range after.Pods {
		stay[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}] = p.Node != "" && !(p.Terminating && p.Preempted)
	}
	var list []preemption.Pod
	for _, p := range before.Pods {
		if p.Node != "" && !(p.Terminating && p.Preempted) && !stay[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}] {
			list = append(list, p)
		}
	}
	return list
}

// keepsBounds looks whether an answer that was accepted took more than there was.
func keepsBounds(t require.TestingT, o preemption.Options, gone []preemption.Pod, budgets []preemption.Budget) {
	if o.Limits.Pods > 0 {
		require.LessOrEqual(t, int64(len(gone)), o.Limits.Pods)
	}
	if !o.HardBudgets.All {
		return
	}
	rule := disruption.Rule137
	if o.Rules == preemption.Kubernetes136 {
		rule = disruption.PodRule136
	}
	for _, b := range budgets {
		selects, err := b.Selector.Compile()
		require.NoError(t, err)
		covered := 0
		for _, p := range gone {
			if rule.Covers(&b, selects, p.Namespace, p.Name, p.Labels) {
				covered++
			}
		}
		require.LessOrEqual(t, covered, int(max(b.Allowed, 0)), "budget %s of %s", asJSON(t, b), asJSON(t, gone))
	}
}

// answersLive is what answers have to keep, however late, often or forged they are carried
// out: an error changes nothing, and what is accepted keeps all bounds.
func answersLive(t *rapid.T) {
	m, q := gen.NewMaker(t, gen.AnyProfile(t))
	o := preemption.Options{HardBudgets: preemption.HardBudgets{All: m.N(3) == 0}}
	o.Rules = []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136, preemption.KEP5710Alpha}[m.N(3)]
	o.Limits.Pods = int64(m.N(4))
	if m.N(3) == 0 {
		o.Limits.Window = preemption.Window{Seconds: 600, Pods: int64(1 + m.N(3))}
	}
	q.Snapshot.Time, q.Snapshot.Disruptions = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), nil
	pl, err := preemption.NewPlanner(&q.Snapshot, o)
	if err != nil {
		t.SkipNow()
	}
	var answers []*preemption.Result
	inWindow := int64(0)
	for range rapid.IntRange(1, 10).Draw(t, "steps") {
		m.See(pl.Snapshot())
		for i := range m.N(4) {
			p := q.Preemptor
			if i > 0 {
				p = m.Preemptor()
			}
			if r, err := pl.Preempt(p); err == nil && (r.Verdict == preemption.Feasible || m.N(4) == 0) {
				answers = append(answers, r)
			}
		}
		if len(answers) == 0 {
			continue
		}
		r := gen.One(m, answers)
		somethingElse(m, pl)
		if m.N(2) == 0 {
			inline := r.Preemptor.Inline
			if r = forged(t, m, r); r == nil {
				continue
			}
			r.Preemptor.Inline = inline
		}
		before := pl.Snapshot()
		v, validErr := pl.StillValid(r)
		carryOut := pl.Apply
		if m.N(2) == 0 {
			carryOut = pl.Evict
		}
		err := carryOut(r)
		after := pl.Snapshot()
		if err != nil {
			require.ErrorIs(t, err, preemption.ErrNotApplicable)
			require.Equal(t, asJSON(t, before), asJSON(t, after))
			require.False(t, validErr == nil && v.Advice == preemption.Keep, "%v", err)
			continue
		}
		require.NoError(t, validErr)
		require.Equal(t, preemption.Keep, v.Advice)
		gone := evicted(before, after)
		if r.Preemptor.Kind != cluster.KindWorkload { // these are not bounded
			keepsBounds(t, o, gone, before.Budgets)
			if inWindow += int64(len(gone)); o.Limits.Window.Pods > 0 && len(gone) > 0 {
				require.LessOrEqual(t, inWindow, o.Limits.Window.Pods)
			}
		}
		for _, n := range r.Nominations {
			i := slices.IndexFunc(after.Pods, func(p preemption.Pod) bool { return p.Namespace == n.Pod.Namespace && p.Name == n.Pod.Name })
			require.GreaterOrEqual(t, i, 0)
			require.Contains(t, []string{after.Pods[i].Node, after.Pods[i].NominatedNode}, n.Node)
		}
		if m.N(2) == 0 {
			again := carryOut(r) // twice: it is done, or has become needless
			if again != nil {
				require.ErrorIs(t, again, preemption.ErrNotApplicable)
			}
			require.Empty(t, evicted(after, pl.Snapshot()))
			require.Equal(t, len(after.Disruptions), len(pl.Snapshot().Disruptions))
		}
	}
}

// somethingElse changes something, or nothing; a change that is refused changes nothing.
func somethingElse(m *gen.Maker, pl *preemption.Planner) {
	s := pl.Snapshot()
	switch p := gen.One(m, s.Pods); m.N(12) {
	case 0, 1:
		_ = pl.SetPod(m.Pod())
	case 2:
		_ = pl.Remove(preemption.PodRef{Namespace: p.Namespace, Name: p.Name})
	case 3:
		_ = pl.Bind(preemption.PodRef{Namespace: p.Namespace, Name: p.Name}, gen.One(m, s.Nodes).Name)
	case 4:
		_ = pl.SetNode(m.Node())
	case 5:
		_ = pl.SetPodGroup(m.PodGroup())
	case 6:
		_ = pl.SetWorkload(m.Workload())
	case 7, 8:
		b := gen.One(m, s.Budgets)
		b.Allowed = 0
		_ = pl.SetBudget(b)
	}
}

func TestAnswersLive(t *testing.T) { rapid.Check(t, answersLive) }

func FuzzAnswersLive(f *testing.F) { f.Fuzz(rapid.MakeFuzz(answersLive)) }
