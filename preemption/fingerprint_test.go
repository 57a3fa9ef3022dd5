package preemption

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Fingerprint has a number for every field of every struct that can be reached from pl:
// options, objects, index, units, columns, budgets, quota. A question must leave all of
// them as they are.
//
// What every question may form if it is the first to need it is formed before. Left out
// is what remembers answers or parts of them, so that questions are meant to write it:
// see remembered.
func (pl *Planner) Fingerprint() (map[string]uint64, error) {
	now, err := pl.hold()
	if err != nil {
		return nil, err
	}
	now.ready.PodUnits()
	now.ready.GroupUnits()
	now.release()
	f := fingerprint{memo: map[address]uint64{}, fields: map[string]uint64{}, named: map[reflect.Type][]string{}}
	f.of(reflect.ValueOf(pl))
	return f.fields, nil
}

// forgettable are the fields that questions may write: what a change forgets, or brings
// up to date, and a new planner does not have. A field that is not listed is part of the
// fingerprint.
var forgettable = map[string]string{
	"live.Sides.Shapes":        "how nodes stand for the shapes of pods that were asked about",
	"live.Sides.formed":        "set when a question has formed the sides, which Fingerprint does before",
	"workload.Queued.base":     "of which model the jobs were formed",
	"workload.Queued.version":  "likewise",
	"workload.Queued.model":    "the pods that hold quota as workloads, formed by the first question after a change",
	"workload.Model.idle":      "searches that are out of use",
	"live.Cluster.Tools":       "tools that are out of use",
	"live.Cluster.CountTools":  "likewise",
	"cluster.Index.lazy":       "columns that are computed when a question first needs them",
	"columns.NodeColumns.cuts": "which units would violate a budget, for the priorities that were asked about",
	"victims.Units.sorted":     "all units in order, once that was needed",
}

// tokens are fields that tell who may change a part in place. Forks, which some questions
// make, take that from both sides; what the parts say is the same.
var tokens = map[string]bool{"owner": true, "cow": true, "shared": true, "budgetsShared": true, "groupsShared": true, "poolsShared": true, "quotaShared": true}

// fingerprint walks over values. It knows what it has seen, since the objects form a graph.
type fingerprint struct {
	memo   map[address]uint64
	fields map[string]uint64         // by type and field: the sum over all values
	named  map[reflect.Type][]string // the same names of a type's fields; "" for one that is left out
}

type address struct {
	at   uintptr
	kind reflect.Type
	len  int
}

func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

func (f *fingerprint) of(v reflect.Value) uint64 {
	h := uint64(v.Kind())
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			h++
		}
		return mix(h, 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return mix(h, uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return mix(h, v.Uint())
	case reflect.Float32, reflect.Float64:
		return mix(h, math.Float64bits(v.Float()))
	case reflect.String:
		for _, b := range []byte(v.String()) {
			h = mix(h, uint64(b))
		}
		return mix(h, uint64(v.Len()))
	case reflect.Pointer:
		return f.once(v, 0, func() uint64 { return f.of(v.Elem()) })
	case reflect.Slice:
		return f.once(v, v.Len(), func() uint64 { return f.list(v) })
	case reflect.Array:
		return f.list(v)
	case reflect.Interface:
		if v.IsNil() {
			return h
		}
		return mix(f.text(v.Elem().Type().String()), f.of(v.Elem()))
	case reflect.Map:
		if v.IsNil() {
			return h
		}
		for it := v.MapRange(); it.Next(); { // in no order, so the entries are summed up
			h += mix(f.of(it.Key()), f.of(it.Value()))
		}
		return mix(h, uint64(v.Len()))
	case reflect.Struct:
		return f.structure(v)
	case reflect.Func:
		if v.IsNil() {
			h++
		}
		return h
	}
	panic(fmt.Sprintf("fingerprint of a %s", v.Type()))
}

// once is compute's number for what v points to. On a cycle it is a constant.
func (f *fingerprint) once(v reflect.Value, length int, compute func() uint64) uint64 {
	if v.IsNil() {
		return 2
	}
	at := address{v.Pointer(), v.Type(), length}
	h, seen := f.memo[at]
	if !seen {
		f.memo[at] = 1
		h = compute()
		f.memo[at] = h
	}
	return h
}

func (f *fingerprint) list(v reflect.Value) uint64 {
	h := uint64(v.Len())
	for i := range v.Len() {
		h = mix(h, f.of(v.Index(i)))
	}
	return h
}

func (f *fingerprint) text(s string) uint64 { return f.of(reflect.ValueOf(s)) }

func (f *fingerprint) structure(v reflect.Value) uint64 {
	t := v.Type()
	h := uint64(t.NumField())
	if p := t.PkgPath(); p == "sync" || p == "sync/atomic" { // locks, and what is out of use
		return h
	}
	names, ok := f.named[t]
	if !ok {
		names = fieldNames(t)
		f.named[t] = names
	}
	for i, name := range names {
		if name != "" {
			field := f.of(v.Field(i))
			f.fields[name] += field
			h = mix(h, field)
		}
	}
	return h
}

func fieldNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		name := t.String() + "." + t.Field(i).Name
		if _, ok := forgettable[name]; ok || tokens[t.Field(i).Name] {
			name = ""
		}
		names = append(names, name)
	}
	return names
}

// TestWhatTheFingerprintLeavesOutIsThere: every field that is left out.
func TestWhatTheFingerprintLeavesOutIsThere(t *testing.T) {
	found, seen := map[string]bool{}, map[reflect.Type]bool{}
	var look func(t reflect.Type)
	look = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				found[t.String()+"."+t.Field(i).Name] = true
				look(t.Field(i).Type)
			}
		}
	}
	look(reflect.TypeFor[Planner]())
	for field := range forgettable {
		require.Contains(t, found, field)
	}
}

// TestAnyChangeShows in the fingerprint, however deep, and no question does.
func TestAnyChangeShowsInTheFingerprint(t *testing.T) {
	s := Snapshot{
		Nodes: []cluster.Node{{Name: "n", Allocatable: Resources{cluster.CPU: 2}}},
		Pods:  []Pod{{Name: "p", Node: "n", Requests: Resources{cluster.CPU: 2}}, {Name: "q", Node: "gone", Tokens: []string{"t"}}},
	}
	pl, err := NewPlanner(&s, Options{Rules: Kubernetes136})
	require.NoError(t, err)
	print := func() map[string]uint64 {
		f, err := pl.Fingerprint()
		require.NoError(t, err)
		return f
	}
	before := print()
	_, err = pl.Preempt(Preemptor{Pods: []Pod{{Name: "web", Priority: new(int32), Requests: Resources{cluster.CPU: 1}}}})
	require.NoError(t, err)
	require.Equal(t, before, print())
	for what, change := range map[string]func(){
		"an option":              func() { pl.held.Ready.Settings.Ask.Candidates = !pl.held.Ready.Settings.Ask.Candidates },
		"an object":              func() { s.Pods[1].Tokens[0] += "x" },
		"a map of an object":     func() { s.Nodes[0].Allocatable[cluster.CPU]++ },
		"a row of the index":     func() { pl.held.Ready.Index.Free(0)[1]++ },
		"a unit":                 func() { pl.held.Ready.PodUnits().Units.Unit(0).Pods[0]++ },
		"a block of the columns": func() { pl.held.Ready.PodUnits().Columns.Levels().Blocks()[0].Plain ^= 1 },
		"the units of a group":   func() { pl.held.Ready.GroupUnits().Units = nil },
	} {
		before := print()
		change()
		require.NotEqual(t, before, print(), what)
	}
}
