package preemption_test

import (
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// memory is what some values can be changed through: where it is, and the way there.
type memory map[uintptr]string

// note adds all that v leads to.
func (m memory) note(v reflect.Value, path string) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			m.note(v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Array:
		for i := range v.Len() {
			m.note(v.Index(i), path+"[]")
		}
	case reflect.Interface:
		if !v.IsNil() {
			m.note(v.Elem(), path)
		}
	case reflect.Pointer, reflect.Map, reflect.Slice:
		m.follow(v, path)
	}
}

func (m memory) follow(v reflect.Value, path string) {
	if v.IsNil() || v.Kind() == reflect.Slice && v.Cap() == 0 {
		return
	}
	if at := v.Pointer(); v.Kind() != reflect.Pointer || v.Type().Elem().Size() > 0 {
		if m[at] != "" && v.Kind() == reflect.Pointer {
			return // been there
		}
		m[at] = path
	}
	switch v.Kind() {
	case reflect.Pointer:
		m.note(v.Elem(), path)
	case reflect.Slice:
		for i := range v.Len() {
			m.note(v.Index(i), path+"[]")
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			m.note(it.Value(), path+"[]")
		}
	}
}

func memoryOf(v any, path string) memory {
	m := memory{}
	m.note(reflect.ValueOf(v), path)
	return m
}

// TestResultsShareNothing: with what was given, with each other, or with what Apply keeps of them.
func TestResultsShareNothing(t *testing.T) {
	together := 0
	eachKind(t, 60, func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot) {
		o.Proof = true
		s, heads := twoHeads(s)
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		given := memoryOf(s, "snapshot")
		given.note(reflect.ValueOf(p), "preemptor")
		var results []memory
		var alive []any // so that no memory is given out again
		apart := func(answer any, kept *preemption.Planner) {
			mine := memoryOf(answer, "result")
			for _, others := range append(results, given, memoryOf(kept, "planner")) {
				for at, path := range others {
					require.Empty(t, mine[at], "%s is %s", path, mine[at])
				}
			}
			results, alive = append(results, mine), append(alive, answer, kept)
		}
		list := append(others(s), p)
		for _, p := range append(list, p) {
			r, err := pl.Preempt(p)
			if err != nil {
				continue
			}
			kept := pl.Fork()
			_ = kept.Apply(r)
			if len(results)%2 == 0 {
				_ = kept.Evict(r)
			}
			apart(r, kept)
			if why, err := pl.WhyNot(p, preemption.NodeTarget("n0")); err == nil {
				apart(why, pl)
			}
		}
		several, _ := pl.PreemptAll(list)
		cycle, err := pl.Cycle(heads)
		require.NoError(t, err)
		if len(cycle) > 1 {
			together++
		}
		g := pl.Gather()
		for _, p := range list {
			if r, err := g.Preempt(p); err == nil {
				several = append(several, r)
			}
		}
		for range 2 {
			if plan, err := g.Plan(); err == nil {
				several = append(several, plan)
			}
		}
		for _, r := range append(several, cycle...) {
			apart(r, pl)
		}
		runtime.KeepAlive(alive)
	})
	require.Positive(t, together)
}

// twoHeads is s where each workload that asks for quota is there twice, and those workloads.
func twoHeads(s *preemption.Snapshot) (*preemption.Snapshot, []preemption.Preemptor) {
	twice := *s
	twice.Workloads = slices.Clone(s.Workloads)
	for _, w := range s.Workloads {
		if w.Admission == nil {
			w.Name += "-2"
			twice.Workloads = append(twice.Workloads, w)
		}
	}
	var heads []preemption.Preemptor
	for i := range twice.Workloads {
		if w := &twice.Workloads[i]; w.Admission == nil {
			heads = append(heads, preemption.Preemptor{Kind: preemption.KindWorkload, Namespace: w.Namespace, Name: w.Name})
		}
	}
	return &twice, heads
}

// eachKind calls check with random questions of every kind: of pods, gangs, workloads,
// and pods and groups of a queue.
func eachKind(t *testing.T, n uint64, check func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot)) {
	for seed := range seeds(n) {
		o := seededOptions(seed)
		switch seed % 4 {
		case 1:
			o.HardBudgets.All = true
		case 2:
			o.Limits.Window = preemption.Window{Seconds: 600, Victims: 3}
		case 3:
			o.BrokenGroupsFree = true
		}
		pod := gen.Random(seed, gen.Everything())
		gang := sound(o, gen.RandomGang(seed, gen.EverythingForGangs()))
		quota, queued := seededQuota(seed), seededQueued(seed)
		check(t, o, pod.Preemptor, &pod.Snapshot)
		if asksSomething(gang) {
			check(t, o, gang.Preemptor, &gang.Snapshot)
		}
		check(t, quota.options, quotaPreemptor, quota.snapshot)
		check(t, queued.options, queued.preemptor, queued.snapshot)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// reads are all questions that can be asked of a planner about p; last is an answer.
func reads(p preemption.Preemptor, s *preemption.Snapshot, last *preemption.Result) []func(pl *preemption.Planner) {
	list := []func(pl *preemption.Planner){
		func(pl *preemption.Planner) { _, _ = pl.Preempt(p) },
		func(pl *preemption.Planner) { _, _ = pl.Decide(p) },
		func(pl *preemption.Planner) { _, _ = pl.StillValid(last) },
		func(pl *preemption.Planner) { _, _ = pl.Cycle([]preemption.Preemptor{p}) },
		func(pl *preemption.Planner) { _ = pl.Snapshot() },
		func(pl *preemption.Planner) {
			g := pl.Gather()
			_, _ = g.Preempt(p)
			_, _ = g.Plan()
		},
	}
	for i := range s.Nodes {
		list = append(list, func(pl *preemption.Planner) { _, _ = pl.WhyNot(p, preemption.NodeTarget(s.Nodes[i].Name)) })
	}
	for i := range s.Pods {
		list = append(list, func(pl *preemption.Planner) {
			_, _ = pl.WhyNot(p, preemption.UnitTarget(s.Pods[i].Namespace+"/"+s.Pods[i].Name))
		})
	}
	for i := range s.Workloads {
		list = append(list, func(pl *preemption.Planner) {
			_, _ = pl.WhyNot(p, preemption.UnitTarget(s.Workloads[i].Namespace+"/"+s.Workloads[i].Name))
		})
	}
	return list
}

// others are preemptors of every other kind that s has.
func others(s *preemption.Snapshot) []preemption.Preemptor {
	var list []preemption.Preemptor
	if len(s.PodGroups) > 0 {
		g := &s.PodGroups[0]
		list = append(list, preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: g.Namespace, Name: g.Name})
	}
	return append(list, preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "ns", Name: "other", Priority: prio(7), Requests: preemption.Resources{cluster.CPU: 1}}}})
}

// TestQuestionsOnlyRead: whatever is asked, later answers are the same, of forks too.
func TestQuestionsOnlyRead(t *testing.T) {
	eachKind(t, 60, func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot) {
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		fork := pl.Fork()
		asked := append(others(s), p)
		answers := func(pl *preemption.Planner) (text string) {
			for _, p := range asked {
				r, err := pl.Preempt(p)
				if text += string(toJSON(&named{T: t}, r)); err != nil {
					text += err.Error()
				}
			}
			return text
		}
		before := answers(pl)
		last, _ := pl.Preempt(p)
		for i, read := range reads(p, s, last) {
			read(pl)
			require.Equal(t, before, answers(pl), "read %d", i)
		}
		require.Equal(t, before, answers(fork))
	})
}

// TestQuestionsMayBeAskedAtOnce is for the race detector.
func TestQuestionsMayBeAskedAtOnce(t *testing.T) {
	eachKind(t, 12, func(t *testing.T, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot) {
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		last, _ := pl.Preempt(p)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for _, read := range reads(p, s, last) {
					read(pl)
				}
			})
		}
		wg.Wait()
	})
}
