package preemption_test

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// twoZones has eight nodes of four CPUs, in the zones a and b in turn; full, if asked,
// with a pod on each.
func twoZones(full bool) *preemption.Snapshot {
	snap := &preemption.Snapshot{}
	for i := range 8 {
		node := fmt.Sprintf("n%d", i)
		snap.Nodes = append(snap.Nodes, cluster.Node{
			Name: node, Labels: map[string]string{"zone": string(rune('a' + i%2))}, Allocatable: cluster.Resources{"cpu": 4},
		})
		if full {
			snap.Pods = append(snap.Pods, cluster.Pod{Name: fmt.Sprintf("p%d", i), Node: node, Requests: cluster.Resources{"cpu": 4}})
		}
	}
	return snap
}

// zonal asks for a pod in a zone.
func zonal(zone string) preemption.Preemptor {
	prio := int32(10)
	return preemption.Preemptor{Pods: []cluster.Pod{{
		Name: "x", Priority: &prio, Requests: cluster.Resources{"cpu": 2}, NodeSelector: map[string]string{"zone": zone},
	}}}
}

// TestWhatWasAskedInlineMayBeChangedAfterwards: also where the planner remembers how the
// nodes stand for the pod's shape.
func TestWhatWasAskedInlineMayBeChangedAfterwards(t *testing.T) {
	pl, err := preemption.NewPlanner(twoZones(true), preemption.Options{})
	require.NoError(t, err)
	p := zonal("a")
	for range 4 {
		r, err := pl.Preempt(p)
		require.NoError(t, err)
		require.Equal(t, "n0", r.Domain)
	}
	p.Pods[0].NodeSelector["zone"] = "b"
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "p4"})) // looked at anew, for a pod in zone a
	d, err := pl.Decide(zonal("a"))
	require.NoError(t, err)
	require.Equal(t, preemption.Decision{Verdict: preemption.Fits, Domain: "n4"}, d)
}

// TestWhyNotTellsNothingOfOtherPlanners: where a pod fits, nodes after that are not
// looked at, and what another search has left of its own must not be told of them.
func TestWhyNotTellsNothingOfOtherPlanners(t *testing.T) {
	sampled, err := preemption.NewPlanner(twoZones(true), preemption.Options{Sampling: &preemption.Sampling{Percent: 10, Minimum: 1}})
	require.NoError(t, err)
	pl, err := preemption.NewPlanner(twoZones(false), preemption.Options{})
	require.NoError(t, err)
	for range 20 { // memory is used again at the runtime's pleasure
		_, err := sampled.Preempt(zonal("a"))
		require.NoError(t, err)
		why, err := pl.WhyNot(zonal("a"), preemption.NodeTarget("n4"))
		require.NoError(t, err)
		require.Equal(t, "it fits on n4 too, but n0 comes first", why.Text)
	}
}

// TestWarningsThatHaveGoneLeaveNothing: not even an empty list.
func TestWarningsThatHaveGoneLeaveNothing(t *testing.T) {
	pl, err := preemption.NewPlanner(twoZones(true), preemption.Options{})
	require.NoError(t, err)
	require.NoError(t, pl.SetPod(cluster.Pod{Name: "lost", Node: "nowhere"}))
	r, err := pl.Preempt(zonal("a"))
	require.NoError(t, err)
	require.Len(t, r.Warnings, 1)
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "lost"}))
	fresh, err := preemption.Preempt(zonal("a"), pl.Snapshot())
	require.NoError(t, err)
	r, err = pl.Preempt(zonal("a"))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(fresh, r))
}

// TestWarningsOfALargeClusterAreCounted: the first 1,000, and how many others; what is odd about the question is said beside.
func TestWarningsOfALargeClusterAreCounted(t *testing.T) {
	s := twoZones(false)
	for i := range 1_234 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprintf("lost-%04d", i), Node: "nowhere"})
	}
	r, err := preemption.Preempt(zonal("a"), s)
	require.NoError(t, err)
	require.Len(t, r.Warnings, 1_001)
	require.Equal(t, "lost-0999", r.Warnings[999].Name)
	require.Equal(t, cluster.Warning{Kind: cluster.KindSnapshot, Field: "Warnings", Value: "1234", Text: "234 more are not listed"}, r.Warnings[1_000])
	_, err = preemption.Options{Strict: true}.Preempt(zonal("a"), s)
	require.ErrorContains(t, err, "234 more")
}

// TestAGangThatFitsGoesElsewhere: where it fits, nobody may be told that it goes nowhere.
func TestAGangThatFitsGoesElsewhere(t *testing.T) {
	pl, err := preemption.NewPlanner(twoZones(false), preemption.Options{})
	require.NoError(t, err)
	p := zonal("a")
	p.Group = &preemption.PodGroup{Name: "gang"}
	p.Pods[0].Group = "gang"
	r, err := pl.Preempt(p)
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, r.Verdict)
	why, err := pl.WhyNot(p, preemption.NodeTarget("n4"))
	require.NoError(t, err)
	require.Equal(t, "it goes elsewhere: "+r.Message, why.Text)
}
