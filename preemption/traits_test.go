package preemption

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/live"
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
