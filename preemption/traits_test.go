package preemption

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/victims"
)

// What a road looks at is known for every field of the objects that it reads: columns
// hold it, or it is part of a shape's key, or it is a trait, which closes the road.
// Whoever adds a field says here which of these it is.
const (
	inColumns = "columns and keys"            // rooms, priorities, starts, static checks
	isTrait   = "trait of the pod"            // ask.TraitsOfPod tells
	ofUnits   = "trait of units or question"  // ask.TraitsOfUnits or Question.AllTraits tells
	noSay     = "has no say in a lone answer" // names, and what only others read
)

var classified = map[reflect.Type]map[string]string{
	reflect.TypeFor[cluster.Pod](): {
		"Namespace": noSay, "Name": noSay, "UID": noSay, "Annotations": noSay, "Owner": noSay,
		"Labels":       ofUnits, // read by constraints of others: AntiTerms, states
		"RequiredNode": inColumns, "Requests": inColumns, "Tolerations": inColumns, "NodeSelector": inColumns,
		"NodeAffinity": inColumns, "Class": inColumns, "Priority": inColumns, "Policy": inColumns,
		"PreemptionPriority": noSay, "Created": ofUnits, "Scheduled": noSay, "Started": noSay,
		"Terminating": noSay, "Preempted": noSay, "Cost": noSay, "RanSeconds": noSay,
		"Node": isTrait, "NominatedNode": isTrait, "Ports": isTrait, "Group": isTrait, "Queue": isTrait, "Guard": isTrait, "Evictions": isTrait,
		"Affinity": isTrait, "AntiAffinity": isTrait, "Spread": isTrait, "Tokens": isTrait, "Devices": isTrait,
	},
	reflect.TypeFor[cluster.Node](): {
		"Name": inColumns, "Labels": inColumns, "Allocatable": inColumns, "Taints": inColumns, "Unschedulable": inColumns,
		"Annotations": noSay, "Devices": ofUnits,
	},
	reflect.TypeFor[cluster.PodGroup](): {
		"Namespace": noSay, "Name": noSay, "UID": noSay, "Labels": noSay, "Basic": ofUnits, "Class": inColumns, "Priority": inColumns,
		"Parent": ofUnits, "Mode": ofUnits, "MinCount": ofUnits, "PreemptionPriority": ofUnits, "Policy": inColumns, "Leader": ofUnits,
		"Topology": ofUnits, "Queue": ofUnits, "Guard": ofUnits, "Cost": ofUnits, "Evictions": ofUnits, "RanSeconds": ofUnits,
	},
}

func TestEveryFieldIsClassified(t *testing.T) {
	for typ, fields := range classified {
		var names []string
		for i := range typ.NumField() {
			names = append(names, typ.Field(i).Name)
		}
		require.ElementsMatch(t, names, slices.Collect(maps.Keys(fields)), "%s", typ)
	}
}

// TestTraitsOfAPodAreToldByItsFields: a field that is a trait is seen when it is set, the
// others are not.
func TestTraitsOfAPodAreToldByItsFields(t *testing.T) {
	typ := reflect.TypeFor[cluster.Pod]()
	for i := range typ.NumField() {
		var pod cluster.Pod
		fill(t, reflect.ValueOf(&pod).Elem().Field(i))
		require.Equal(t, classified[typ][typ.Field(i).Name] == isTrait, new(ask.Settings).TraitsOf(&pod) != 0, "Pod.%s", typ.Field(i).Name)
	}
}

// fill gives v a value that is not zero.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem())
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
			break
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(t, f)
			}
		}
	default:
		t.Fatalf("nothing to fill a %s with", v.Type())
	}
	require.False(t, v.IsZero(), "%s", v.Type())
}

// forgetful are the options under which nothing is remembered for a decision at once.
// Whoever adds an option says here if it is one; else it is a function of the node and its
// units alone what the option has a say in, or it decides about errors, gangs, quota or what
// is told.
var forgetful = map[string]string{
	"Sampling":         "which nodes are looked at depends on what others come to",
	"BrokenGroupsFree": "what runs elsewhere of a gang prices its pods",
	"Hooks":            "they read what they like; filters, and constraints that declare it, what shapes are told apart by",
	"WaitSeconds":      "when the pod was created has a say",
}

func TestEveryOptionIsRememberedOrATrait(t *testing.T) {
	typ := reflect.TypeFor[Options]()
	for i := range typ.NumField() {
		o := Options{Rules: Kubernetes137}
		fill(t, reflect.ValueOf(&o).Elem().Field(i))
		if o.Hooks != nil {
			o.Hooks.Constraints = []domain.Constraint{domain.Devices()}
		}
		name := typ.Field(i).Name
		require.Equal(t, forgetful[name] == "", ask.AtOnce.Leads(traitsOf(t, o)), "Options.%s", name)
		delete(forgetful, name)
	}
	require.Empty(t, forgetful)
	for _, c := range append(slices.Clip(victims.AllCriteria), CriterionDomains+"rack") { // of the others the table above has one
		elsewhere := c.InUse() || slices.Contains([]CriterionName{CriterionStranded, CriterionCascade, CriterionLevels}, c)
		require.Equal(t, !elsewhere, ask.AtOnce.Leads(traitsOf(t, Options{Objective: []CriterionName{c}})), "%s", c)
	}
	filter := func(*Pod, *Node) bool { return true }
	require.True(t, ask.AtOnce.Leads(traitsOf(t, Options{Hooks: &Hooks{Filter: filter}})))
	hooks := &Hooks{Filter: filter, Constraints: []domain.Constraint{domain.Colocation{Check: "alone"}}}
	require.True(t, ask.AtOnce.Leads(traitsOf(t, Options{Hooks: hooks})))
	hooks.Constraints = append(hooks.Constraints, domain.Devices())
	require.False(t, ask.AtOnce.Leads(traitsOf(t, Options{Hooks: hooks})))
}

// traitsOf are those of a planner with options o.
func traitsOf(t *testing.T, o Options) ask.Traits {
	c, err := live.New(&live.Settings{Ask: o.toSearches(&generation{})}, new(Snapshot).Objects(), nil)
	require.NoError(t, err)
	c.Prepare()
	return c.Traits
}

// TestRoadsNameBenchmarks: what a road is there for can be run.
func TestRoadsNameBenchmarks(t *testing.T) {
	known := map[string]bool{}
	var files []string
	for _, dir := range []string{".", "../bench"} {
		list, err := filepath.Glob(dir + "/*_test.go")
		require.NoError(t, err)
		require.NotEmpty(t, list)
		files = append(files, list...)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Benchmark") {
				known[f.Name.Name] = true
			}
		}
	}
	for _, r := range ask.Roads {
		require.True(t, known[r.Benchmark], "%s: %s", r.Name, r.Benchmark)
	}
}

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
	"workload.Model.kept":      "what holds make of the usage, for the first question after a change",
	"workload.Model.Accounted": "how often that was",
	"live.Cluster.Tools":       "tools that are out of use",
	"live.Cluster.CountTools":  "likewise",
	"cluster.Index.lazy":       "columns that are computed when a question first needs them",
	"columns.NodeColumns.cuts": "which units would violate a budget, for the priorities that were asked about",
	"victims.Units.sorted":     "all units in order, once that was needed",
}

// tokens are fields that tell who may change a part in place. Forks, which some questions
// make, take that from both sides; what the parts say is the same.
var tokens = map[string]bool{"owner": true, "cow": true, "shared": true, "budgetsShared": true, "groupsShared": true, "poolsShared": true, "quotaShared": true, "warningsShared": true}

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

// TestQuestionsFindAChangeWholeOrNotAtAll: a question finds pods and quota before a change
// or after it, and goes on about what it has found.
func TestQuestionsFindAChangeWholeOrNotAtAll(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	low, high := int32(0), int32(9)
	snapshot := &Snapshot{
		Time:  start,
		Nodes: []cluster.Node{{Name: "n", Allocatable: Resources{"cpu": 5}}},
		Pods: []Pod{
			{Name: "web", Queue: "team", Priority: &high, Requests: Resources{"cpu": 4}},
			{Name: "old", Node: "n", Priority: &low, Requests: Resources{"cpu": 1}},
			{Name: "stays", Node: "n", Queue: "team", Priority: &high, Requests: Resources{"cpu": 1}}, // no live cluster follows it
		},
		ResourceFlavors: []ResourceFlavor{{Name: "any"}},
		ClusterQueues: []ClusterQueue{{
			Name: "all", Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "any", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 5}},
			}}}},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
		}},
		LocalQueues: []LocalQueue{{Name: "team", ClusterQueue: "all"}},
		Workloads: []Workload{{
			Name: "job", Queue: "team", Admission: &cluster.Admission{ClusterQueue: "all"},
			PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: Resources{"cpu": 1}, Flavors: map[string]string{"cpu": "any"}}},
		}},
	}
	for name, x := range map[string]struct {
		change func(pl *Planner) error
		look   func(c *live.Cluster, m *workload.Model) [2]bool // whether pods, and quota, are as they were
	}{
		"time": {
			func(pl *Planner) error { return pl.SetTime(start.Add(time.Hour)) },
			func(c *live.Cluster, m *workload.Model) [2]bool {
				return [2]bool{c.Index.Time().Equal(start), m.Held("", "job").Reserved == cluster.Nanos(start)}
			},
		},
		"an answer": {
			func(pl *Planner) error {
				r, err := pl.Preempt(Preemptor{Kind: cluster.KindPod, Name: "web"})
				if err != nil {
					return err
				}
				return pl.Evict(r)
			},
			func(c *live.Cluster, m *workload.Model) [2]bool {
				return [2]bool{c.Index.PodByName("", "old") != cluster.NoPod, m.Held("", "job") != nil}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 1000 {
				pl, err := NewPlanner(snapshot, Options{})
				require.NoError(t, err)
				require.NoError(t, pl.SetWorkload(snapshot.Workloads[0]), "its quota is its own")
				var done atomic.Bool
				found := make(chan string, 1)
				go func() {
					defer close(found)
					for last := false; !last; {
						last = done.Load()
						now, err := pl.hold()
						if err != nil {
							found <- err.Error()
							return
						}
						first := x.look(now.ready, now.quota)
						runtime.Gosched()
						then := x.look(now.ready, now.quota)
						now.release()
						if first[0] != first[1] || then != first || last && first[0] {
							found <- fmt.Sprint("pods and quota are as they were: ", first, ", then ", then)
							return
						}
					}
				}()
				runtime.Gosched()
				err = x.change(pl)
				done.Store(true)
				require.Empty(t, <-found)
				require.NoError(t, err)
			}
		})
	}
}
