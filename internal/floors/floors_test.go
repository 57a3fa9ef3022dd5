package floors_test

import (
	"errors"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/preempt-go/preempt/internal/floors"
)

// TestModule holds this module to its rules.
func TestModule(t *testing.T) {
	tree, err := floors.Load(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	rules := floors.Module()
	if tree.Path != "github.com/preempt-go/preempt" || len(tree.Packages) < len(rules.Floor)-2 {
		t.Fatalf("loaded module %q with %d packages: not the whole module", tree.Path, len(tree.Packages))
	}
	for _, breach := range floors.Check(tree, rules) {
		t.Error(breach)
	}
}

// good is a module that keeps every rule. Each case below changes or adds files.
var good = map[string]string{
	"go.mod": "module github.com/preempt-go/preempt\n\ngo 1.26\n\nrequire github.com/google/btree v1.1.3\n",

	"priority/doc.go":          "// Package priority is floor 0.\npackage priority\n",
	"priority/class.go":        "package priority\n\n// Class is a level.\ntype Class struct{ Value int32 }\n",
	"priority/example_test.go": example("priority_test"),

	"domain/doc.go":          "// Package domain is floor 2.\npackage domain\n",
	"domain/trial.go":        "package domain\n\nimport \"github.com/preempt-go/preempt/priority\"\n\n// Best is the best of classes.\nfunc Best(cs []priority.Class) priority.Class { return cs[0] }\n",
	"domain/third.go":        "package domain\n",
	"domain/fourth.go":       "package domain\n",
	"domain/fifth.go":        "package domain\n",
	"domain/example_test.go": example("domain_test"),
	"domain/quota/doc.go":    "// Package quota stands above domain.\npackage quota\n",
	"domain/quota/tree.go":   "package quota\n\nimport _ \"github.com/preempt-go/preempt/domain\"\n",
	"domain/quota/q_test.go": example("quota_test"),

	"internal/plain/doc.go":   "// Package plain is internal.\npackage plain\n",
	"internal/plain/plain.go": "package plain\n\n// ID is a number.\ntype ID int\n\n// New returns an ID.\nfunc New() ID { return 0 }\n",

	"internal/gen/doc.go": "// Package gen is for tests.\npackage gen\n",
	"internal/gen/gen.go": "package gen\n\nimport (\n\t_ \"github.com/preempt-go/preempt/domain\"\n\t_ \"pgregory.net/rapid\"\n)\n",

	"examples/show/main.go":  "// Command show shows.\npackage main\n\nimport _ \"github.com/preempt-go/preempt/domain\"\n\nfunc main() {}\n",
	"examples/nested/go.mod": "module github.com/preempt-go/preempt/examples/nested\n",
	"examples/nested/n.go":   "package nested\n\nimport _ \"k8s.io/api/core/v1\"\n",
	".ci/tools/go.mod":       "module tools\n",
}

func example(pkg string) string {
	return "package " + pkg + "\n\nimport (\n\t\"fmt\"\n\n\t_ \"github.com/preempt-go/preempt/internal/gen\"\n)\n\nfunc Example() {\n\tfmt.Println(1)\n\t// Output: 1\n}\n"
}

func TestCheck(t *testing.T) {
	cases := map[string]struct {
		files map[string]string // on top of good; an empty text removes the file
		want  string            // the one breach; empty: none
	}{
		"a module that keeps every rule": {},
		"an import of a higher floor": {
			files: map[string]string{"priority/up.go": "package priority\n\nimport _ \"github.com/preempt-go/preempt/domain\"\n"},
			want:  "package priority: imports domain, which is not on a lower floor",
		},
		"an import of the same floor": {
			files: map[string]string{
				"disruption/doc.go": "// Package disruption is floor 0 too.\npackage disruption\n",
				"priority/up.go":    "package priority\n\nimport _ \"github.com/preempt-go/preempt/disruption\"\n",
			},
			want: "package priority: imports disruption, which is not on a lower floor",
		},
		"an import of a package that stands above its own folder": {
			files: map[string]string{"domain/third.go": "package domain\n\nimport _ \"github.com/preempt-go/preempt/domain/quota\"\n"},
			want:  "package domain: imports domain/quota, which is not on a lower floor",
		},
		"a higher floor through an internal package": {
			files: map[string]string{
				"internal/gen/gen.go": "package gen\n\nimport _ \"github.com/preempt-go/preempt/domain\"\n",
				"priority/up.go":      "package priority\n\nimport _ \"github.com/preempt-go/preempt/internal/gen\"\n",
			},
			want: "package priority: imports domain through internal/gen, which is not on a lower floor",
		},
		"a higher floor in a test of the package itself": {
			files: map[string]string{"priority/up_test.go": "package priority\n\nimport _ \"github.com/preempt-go/preempt/domain\"\n"},
			want:  "package priority: imports in a test domain, which is not on a lower floor",
		},
		"a higher floor in an external test": {
			files: map[string]string{"priority/up_test.go": "package priority_test\n\nimport _ \"github.com/preempt-go/preempt/domain\"\n"},
		},
		"an example that is imported": {
			files: map[string]string{"priority/up.go": "package priority\n\nimport _ \"github.com/preempt-go/preempt/examples/show\"\n"},
			want:  "package priority: imports examples/show, which nothing below may import",
		},
		"a package without a floor": {
			files: map[string]string{"victims/doc.go": "// Package victims has its floor taken away.\npackage victims\n"},
			want:  "package victims: has no floor",
		},
		"words where they are left to others": {
			files: map[string]string{"domain/quota/words.go": "package quota\n\nimport _ \"fmt\"\n"},
			want:  "package domain/quota: words.go imports fmt, where words are left to others",
		},
		"words in a test": {
			files: map[string]string{"domain/quota/words_test.go": "package quota\n\nimport _ \"fmt\"\n"},
		},
		"words where they are told": {
			files: map[string]string{"domain/quota/tell/doc.go": "// Package tell tells.\npackage tell\n", "domain/quota/tell/tell.go": "package tell\n\nimport _ \"fmt\"\n", "domain/quota/tell/t_test.go": example("tell_test")},
		},
		"words beneath where they are told": {
			files: map[string]string{
				"domain/quota/tell/doc.go": "// Package tell tells.\npackage tell\n", "domain/quota/tell/tell.go": "package tell\n\nimport _ \"fmt\"\n", "domain/quota/tell/t_test.go": example("tell_test"),
				"domain/quota/tell/deep/doc.go": "// Package deep tells.\npackage deep\n", "domain/quota/tell/deep/deep.go": "package deep\n\nimport _ \"fmt\"\n", "domain/quota/tell/deep/t_test.go": example("deep_test"),
			},
			want: "package domain/quota/tell/deep: deep.go imports fmt, where words are left to others",
		},
		"words from where they are told": {
			files: map[string]string{
				"domain/quota/tell/doc.go": "// Package tell tells.\npackage tell\n", "domain/quota/tell/tell.go": "package tell\n\nimport _ \"fmt\"\n", "domain/quota/tell/t_test.go": example("tell_test"),
				"domain/quota/tell/deep/doc.go": "// Package deep asks.\npackage deep\n", "domain/quota/tell/deep/deep.go": "package deep\n\nimport _ \"github.com/preempt-go/preempt/domain/quota/tell\"\n", "domain/quota/tell/deep/t_test.go": example("deep_test"),
			},
			want: "package domain/quota/tell/deep: imports domain/quota/tell, which makes words of what the others return",
		},
		"a package that is said to tell and makes no words": {
			files: map[string]string{"domain/quota/tell/doc.go": "// Package tell tells.\npackage tell\n", "domain/quota/tell/tell.go": "package tell\n", "domain/quota/tell/t_test.go": example("tell_test")},
			want:  "package domain/quota/tell: leaves no words to others or makes none, and need not be listed as telling",
		},
		"too many files": {
			files: map[string]string{"priority/a.go": "package priority\n", "priority/b.go": "package priority\n", "priority/c.go": "package priority\n"},
			want:  "package priority: has 5 files and 9 lines, more than 4 and 100",
		},
		"too many lines": {
			files: map[string]string{"priority/a.go": "package priority\n" + strings.Repeat("\n", 100)},
			want:  "package priority: has 3 files and 107 lines, more than 4 and 100",
		},
		"a larger package that has grown": {
			files: map[string]string{"domain/a.go": "package domain\n"},
			want:  "package domain: has 6 files, listed as larger with 5",
		},
		"a larger package that is not any more": {
			files: map[string]string{"domain/third.go": "", "domain/fourth.go": "", "domain/fifth.go": ""},
			want:  "package domain: has 2 files and 8 lines, which need not be listed as larger",
		},
		"a folder too many": {
			files: map[string]string{"pkg/readme.txt": "no Go here\n"},
			want:  "folder pkg: not one of the module's top-level folders",
		},
		"a nested module in the wrong place": {
			files: map[string]string{"internal/other/go.mod": "module other\n"},
			want:  "folder internal/other: a nested module belongs under examples or bench",
		},
		"a test's dependency in a package that users get": {
			files: map[string]string{"priority/dep.go": "package priority\n\nimport _ \"pgregory.net/rapid\"\n"},
			want:  "package priority: imports pgregory.net/rapid, which is not one of the module's dependencies",
		},
		"a test's dependency in a package for tests": {
			files: map[string]string{
				"preemption/clustertest/doc.go":          "// Package clustertest is for tests.\npackage clustertest\n",
				"preemption/clustertest/dep.go":          "package clustertest\n\nimport _ \"pgregory.net/rapid\"\n",
				"preemption/clustertest/example_test.go": example("clustertest_test"),
			},
		},
		"a package for tests in a package that users get": {
			files: map[string]string{
				"preemption/clustertest/doc.go":          "// Package clustertest is for tests.\npackage clustertest\n",
				"preemption/clustertest/dep.go":          "package clustertest\n\nimport _ \"pgregory.net/rapid\"\n",
				"preemption/clustertest/example_test.go": example("clustertest_test"),
				"examples/show/main.go":                  "// Command show shows.\npackage main\n\nimport _ \"github.com/preempt-go/preempt/preemption/clustertest\"\n\nfunc main() {}\n",
			},
			want: "package preemption/clustertest: imports pgregory.net/rapid, which is not one of the module's dependencies",
		},
		"a test's dependency in a test": {
			files: map[string]string{"priority/dep_test.go": "package priority\n\nimport _ \"pgregory.net/rapid\"\n"},
		},
		"a foreign dependency in a test": {
			files: map[string]string{"priority/dep_test.go": "package priority\n\nimport _ \"example.com/other\"\n"},
			want:  "package priority: imports example.com/other, which is not one of the module's dependencies",
		},
		"Kubernetes in go.mod": {
			files: map[string]string{"go.mod": good["go.mod"] + "\nrequire (\n\tk8s.io/api v0.37.0 // indirect\n)\n"},
			want:  "go.mod: requires k8s.io/api",
		},
		"an internal type in a parameter": {
			files: map[string]string{"priority/sig.go": sig("// F takes an ID.\nfunc F(m map[string][]plain.ID) {}")},
			want:  "package priority: F has the internal type github.com/preempt-go/preempt/internal/plain.ID",
		},
		"an internal type in a field": {
			files: map[string]string{"priority/sig.go": sig("// T has an ID.\ntype T struct{ F *plain.ID }")},
			want:  "package priority: T.F has the internal type github.com/preempt-go/preempt/internal/plain.ID",
		},
		"an internal type in a method of a type that users can hold": {
			files: map[string]string{"priority/sig.go": sig("type t struct{}\n\nfunc (t) M() plain.ID { return 0 }\n\n// V is a t.\nvar V t")},
			want:  "package priority: V.M has the internal type github.com/preempt-go/preempt/internal/plain.ID",
		},
		"an internal type that is inferred": {
			files: map[string]string{"priority/sig.go": sig("// V is an ID.\nvar V = plain.New()")},
			want:  "package priority: V has the internal type github.com/preempt-go/preempt/internal/plain.ID",
		},
		"an internal type under another name": {
			files: map[string]string{"priority/sig.go": sig("// T is an ID.\ntype T = plain.ID")},
			want:  "package priority: T has the internal type github.com/preempt-go/preempt/internal/plain.ID",
		},
		"an internal type in what is not exported": {
			files: map[string]string{"priority/sig.go": sig("// T hides an ID.\ntype T struct{ f plain.ID }\n\nfunc f(plain.ID) {}")},
		},
		"a reader of answers that shares code with the searches": {
			files: map[string]string{
				"preemption/check/internal/found/doc.go": "// Package found is a part of it.\npackage found\n",
				"preemption/check/internal/read/doc.go":  "// Package read reads answers.\npackage read\n",
				"preemption/check/internal/read/read.go": "package read\n\nimport (\n\t_ \"github.com/preempt-go/preempt/domain\"\n\t_ \"github.com/preempt-go/preempt/domain/quota\"\n\t_ \"github.com/preempt-go/preempt/preemption/check/internal/found\"\n)\n",
			},
			want: "package preemption/check/internal/read: imports domain/quota, from which it is kept apart",
		},
		"no package doc": {
			files: map[string]string{"priority/doc.go": "package priority\n"},
			want:  "package priority: has no doc.go with a package doc",
		},
		"no doc.go": {
			files: map[string]string{"priority/doc.go": ""},
			want:  "package priority: has no doc.go with a package doc",
		},
		"a declaration in doc.go": {
			files: map[string]string{"priority/doc.go": good["priority/doc.go"] + "\nconst one = 1\n"},
			want:  "package priority: doc.go has more than the package doc",
		},
		"a package doc in another file": {
			files: map[string]string{"priority/class.go": "// Package priority says it again.\n" + good["priority/class.go"]},
			want:  "package priority: class.go has a package doc; it belongs into doc.go",
		},
		"no example": {
			files: map[string]string{"priority/example_test.go": ""},
			want:  "package priority: has no Example with an Output comment",
		},
		"an example that is not run": {
			files: map[string]string{"priority/example_test.go": "package priority_test\n\nfunc Example() {}\n"},
			want:  "package priority: has no Example with an Output comment",
		},
		"a type without a comment": {
			files: map[string]string{"priority/t.go": "package priority\n\ntype T int\n"},
			want:  "package priority: T has no comment",
		},
		"a method whose comment begins otherwise": {
			files: map[string]string{"priority/t.go": "package priority\n\n// T is a number.\ntype T int\n\n// Runs the T.\nfunc (t *T) Run() {}\n"},
			want:  "package priority: the comment of T.Run does not begin with its name",
		},
		"a constant without a comment": {
			files: map[string]string{"priority/t.go": "package priority\n\nconst T = 1\n"},
			want:  "package priority: T has no comment",
		},
		"a name more than is listed": {
			files: map[string]string{"priority/t.go": "package priority\n\n// T and U are two.\nconst T, U = 1, 2\n\n// V is a third.\ntype V int\n\n// W is a fourth.\nfunc W() {}\n\n// X is a method, and inner is nobody else's.\nfunc (V) X() {}\n\nfunc inner() {}\n"},
			want:  "package priority: exports 5 names, listed with 4",
		},
		"names of another package again": {
			files: map[string]string{"domain/t.go": "package domain\n\nimport \"github.com/preempt-go/preempt/priority\"\n\n// Class is one.\ntype Class = priority.Class\n", "domain/fifth.go": ""},
			want:  "the module exports 3 names, 2 of them distinct, listed with 2 and 2",
		},
		"a method of an interface without a comment": {
			files: map[string]string{"priority/t.go": "package priority\n\n// I runs.\ntype I interface{ Run() }\n"},
			want:  "package priority: I.Run has no comment",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tree, err := floors.Load(write(t, tc.files))
			if err != nil {
				t.Fatal(err)
			}
			rules := floors.Module()
			rules.Files, rules.Lines, rules.Larger = 4, 100, map[string]int{"domain": 5}
			rules.Wordless, rules.Telling = []string{"domain/quota"}, []string{"domain/quota/tell"}
			rules.Names, rules.Exported = nil, 0
			if strings.HasPrefix(tc.want, "the module") {
				rules.Exported, rules.Distinct = 2, 2
			} else if strings.Contains(tc.want, "exports") {
				rules.Names = map[string]int{"priority": 4}
			}
			rules.Examples = true
			if strings.HasPrefix(tc.want, "package victims") {
				delete(rules.Floor, "victims")
			}
			got := strings.Join(floors.Check(tree, rules), "\n")
			if got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// TestLoadErrors: sources that cannot be read are errors, not modules without faults.
func TestLoadErrors(t *testing.T) {
	if _, err := floors.Load(t.TempDir()); err == nil {
		t.Error("a folder without go.mod: no error")
	}
	for name, files := range map[string]map[string]string{
		"a file that does not parse":      {"priority/bad.go": "package priority\n\nfunc {"},
		"two packages in one folder":      {"priority/bad.go": "package other\n"},
		"a go.mod that names no module":   {"go.mod": "go 1.26\n"},
		"a file without a package clause": {"priority/bad.go": "// nothing\n"},
	} {
		if _, err := floors.Load(write(t, files)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func sig(decl string) string {
	return "package priority\n\nimport \"github.com/preempt-go/preempt/internal/plain\"\n\n" + decl + "\n"
}

// write lays the good module out in a folder, changed by files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	all := map[string]string{}
	for name, text := range good {
		all[name] = text
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if text == "" {
			continue
		}
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestDependenciesAreListed in SECURITY.md, with a license: what the root module requires,
// and what the nested ones do directly.
func TestDependenciesAreListed(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (.*) \| \S.* \| \S.* \|$`)
	listed := map[string]bool{}
	for _, cells := range row.FindAllStringSubmatch(string(page), -1) {
		for module := range strings.SplitSeq(cells[1], ", ") {
			listed[module] = true
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*", "go.mod"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	module := regexp.MustCompile(`(?m)^(?:require )?\s*([a-z]\S*\.\S*/\S+) v\S+( // indirect)?$`)
	seen := 0
	for _, file := range append(files, filepath.Join(root, "go.mod")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range module.FindAllStringSubmatch(string(text), -1) {
			seen++
			switch path := m[1]; {
			case strings.HasPrefix(path, "github.com/preempt-go/preempt"), file != filepath.Join(root, "go.mod") && m[2] != "":
			case !listed[path] && !(listed["k8s.io/*"] && strings.HasPrefix(path, "k8s.io/")):
				t.Errorf("%s requires %s, which SECURITY.md does not list with its license", file, path)
			}
		}
	}
	if seen < 20 {
		t.Errorf("found %d modules only", seen)
	}
}

// pages reads the Markdown files of the repository by their path, those of nested modules
// too.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	texts := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && strings.HasPrefix(name, ".") && name != ".." && name != ".github" {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := texts[filepath.Join(root, "README.md")]; !ok {
		t.Fatalf("found no README.md among %d pages", len(texts))
	}
	return texts
}

var (
	fences   = regexp.MustCompile("(?ms)^```.*?^```$")
	code     = regexp.MustCompile("`[^`\n]*`")
	link     = regexp.MustCompile(`\]\(([^)]*)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	unlinked = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are the names that a page's headings have in links to them.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
		name := unlinked.ReplaceAllString(strings.ToLower(m[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

// TestLinks: what a page links to within the repository is there, and so is the heading.
func TestLinks(t *testing.T) {
	all := pages(t)
	links := 0
	for page, text := range all {
		text = code.ReplaceAllString(fences.ReplaceAllString(text, ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			} else if anchor != "" && !anchors(all[target])[anchor] {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
	if links < 20 {
		t.Errorf("found %d links", links)
	}
}

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// TestPagesCode: the Go code of a page is lines of an example beside it, in a file that
// is named for the page (pages_test.go for PAGES.md), or documents_test.go for several, and
// has nothing but examples whose output is checked. The program of the root's README is a
// command, with a test of its own.
func TestPagesCode(t *testing.T) {
	root := filepath.Join("..", "..", "README.md")
	for page, text := range pages(t) {
		blocks := goBlock.FindAllStringSubmatch(text, -1)
		if page == root || len(blocks) == 0 {
			continue
		}
		name := strings.TrimSuffix(page, ".md")
		name = filepath.Join(filepath.Dir(name), strings.ToLower(filepath.Base(name))+"_test.go")
		source, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			name = filepath.Join(filepath.Dir(name), "documents_test.go")
			source, err = os.ReadFile(name)
		}
		if err != nil {
			t.Errorf("%s has code: %v", page, err)
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range doc.Examples(file) {
			if e.Output == "" {
				t.Errorf("%s: Example%s is not run", name, e.Name)
			}
		}
		if strings.Contains(string(source), "\nfunc Test") || len(doc.Examples(file)) == 0 {
			t.Errorf("%s: it has tests, or no examples", name)
		}
		lines := dedented(string(source))
		for _, b := range blocks {
			if !strings.Contains(lines, dedented(b[1])) {
				t.Errorf("%s shows what %s does not have:\n%s", page, name, b[1])
			}
		}
	}
}

// dedented is a text without the spaces at the ends of its lines, so that code may stand
// on another depth.
func dedented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
