package preemption_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/scenario"
	"github.com/preempt-go/preempt/preemption"
)

// TestMigratingNamesFields: the page for those who come from elsewhere names fields that
// there are, and every field of the structs that one has to fill.
func TestMigratingNamesFields(t *testing.T) {
	text, err := os.ReadFile("MIGRATING.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([A-Z]\\w+\\.[A-Z]\\w+)`").FindAllStringSubmatch(string(text), -1) {
		named[m[1]] = true
	}
	known := map[string]bool{}
	add := func(v any, whole bool) {
		typ := reflect.TypeOf(v)
		name := typ.Name()
		switch name {
		case "Class":
			name = "PriorityClass"
		case "":
			name = typ.Elem().Name()
		}
		for i := range typ.NumMethod() {
			known[name+"."+typ.Method(i).Name] = true
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		for _, f := range reflect.VisibleFields(typ) {
			known[name+"."+f.Name] = true
			if whole && !named[name+"."+f.Name] {
				t.Errorf("MIGRATING.md does not name %s.%s", name, f.Name)
			}
		}
	}
	for _, v := range []any{
		preemption.Node{}, preemption.Pod{}, preemption.PodGroup{}, preemption.Budget{}, preemption.PriorityClass{},
		preemption.ResourceFlavor{}, preemption.ClusterQueue{}, preemption.ResourceQuota{}, preemption.Cohort{}, preemption.LocalQueue{},
		preemption.Workload{}, preemption.PodSet{},
	} {
		add(v, true)
	}
	for _, v := range []any{preemption.Options{}, preemption.Result{}, &preemption.Planner{}} {
		add(v, false)
	}
	for name := range named {
		if !known[name] {
			t.Errorf("MIGRATING.md names %s, which is not there", name)
		}
	}
}

// TestOptionsNamesFields: the page of options names each of them, and no other.
func TestOptionsNamesFields(t *testing.T) {
	text, err := os.ReadFile("OPTIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`Options\\.(\\w+)`").FindAllStringSubmatch(string(text), -1) {
		named[m[1]] = true
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[preemption.Options]()) {
		if !named[f.Name] {
			t.Errorf("OPTIONS.md does not name %s", f.Name)
		}
		delete(named, f.Name)
	}
	for name := range named {
		t.Errorf("OPTIONS.md names %s, which is not there", name)
	}
}

// TestEverythingHasAnExample: each exported method of a planner and a gathering is called in one, and
// each field of the options set.
func TestEverythingHasAnExample(t *testing.T) {
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	methods, called := map[string]bool{}, map[string]bool{}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			switch {
			case !ok:
			case strings.HasSuffix(name, "_test.go") && strings.HasPrefix(f.Name.Name, "Example"):
				ast.Inspect(f, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.SelectorExpr:
						called[n.Sel.Name] = true
					case *ast.KeyValueExpr:
						if field, ok := n.Key.(*ast.Ident); ok {
							called[field.Name] = true
						}
					}
					return true
				})
			case !strings.HasSuffix(name, "_test.go") && f.Recv != nil && f.Name.IsExported():
				if of, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok && (of.X.(*ast.Ident).Name == "Planner" || of.X.(*ast.Ident).Name == "Gathering") {
					methods[f.Name.Name] = true
				}
			}
		}
	}
	require.Greater(t, len(methods), 40)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[preemption.Options]()) {
		methods[f.Name] = true
	}
	for method := range methods {
		assert.True(t, called[method], "%s: no Example shows it", method)
	}
}

// TestTheTableOfRulesNamesScenarios: every scenario that GUARDS.md names is there,
// and every scenario about rules that meet is named.
func TestTheTableOfRulesNamesScenarios(t *testing.T) {
	page, err := os.ReadFile("GUARDS.md")
	require.NoError(t, err)
	names := regexp.MustCompile("`([a-z]+-(?:[0-9]+|\\*))`").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(names), 50)
	there := scenarioNames(t)
	for _, name := range names {
		require.Contains(t, there, "\n"+strings.TrimSuffix(name[1], "*"), name[1])
	}
	pairs := regexp.MustCompile(`\npair-\d+`).FindAllString(there, -1)
	require.NotEmpty(t, pairs)
	for _, pair := range pairs {
		require.Contains(t, string(page), "`"+pair[1:]+"`")
	}
}

// scenarioNames has a line for each scenario.
func scenarioNames(t *testing.T) string {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	names := "\n"
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for name := range scenario.Sections(string(text)) {
			names += name + "\n"
		}
	}
	return names
}
