package preemption_test

import (
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
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
