// Command lint makes staticcheck's checks of the packages of a module, tests included. It reads what they import as it
// is compiled, and looks into no more of it than is imported directly, for what is deprecated, pure or never nil there:
// command staticcheck looks into all of it, and all of Kubernetes takes longer than everything else that is checked.
//
//	go run -C .ci/tools ./lint DIR
package main

import (
	"fmt"
	"go/token"
	"io"
	"maps"
	"os"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: lint DIR")
		os.Exit(2)
	}
	problems, err := lint(os.Stdout, os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(2)
	}
	if problems > 0 {
		os.Exit(1)
	}
}

// lint checks the module in a folder, prints what it finds, and counts it.
func lint(w io.Writer, dir string) (problems int, err error) {
	own, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedImports, Dir: dir, Tests: true}, "./...")
	if err != nil {
		return 0, err
	}
	ours, looked := map[string]bool{}, map[string]bool{}
	for _, p := range own {
		ours[p.ID], ours[p.PkgPath] = true, true
	}
	for _, p := range own {
		for _, direct := range p.Imports {
			if !ours[direct.PkgPath] && direct.PkgPath != "unsafe" {
				looked[direct.PkgPath] = true
			}
		}
	}
	all, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Dir: dir, Tests: true},
		append(slices.Sorted(maps.Keys(looked)), "./...")...)
	if err != nil {
		return 0, err
	}
	isLooked := map[*packages.Package]bool{}
	for _, p := range all {
		isLooked[p] = true
	}
	var pkgs []*packages.Package
	for _, p := range all {
		for _, e := range p.Errors {
			return 0, e
		}
		maps.DeleteFunc(p.Imports, func(_ string, q *packages.Package) bool { return !isLooked[q] })
		if ours[p.ID] {
			pkgs = append(pkgs, p)
		}
	}

	analyzers := []*analysis.Analyzer{unused.Analyzer.Analyzer}
	for _, a := range slices.Concat(simple.Analyzers, staticcheck.Analyzers, stylecheck.Analyzers) {
		analyzers = append(analyzers, a.Analyzer)
	}
	graph, err := checker.Analyze(analyzers, pkgs, nil)
	if err != nil {
		return 0, err
	}
	said := map[string]bool{} // with the tests of a package, it is there twice
	say := func(at token.Position, message, check string) {
		if text := fmt.Sprintf("%s: %s (%s)", at, message, check); !said[text] {
			said[text] = true
			fmt.Fprintln(w, text)
		}
	}
	used, left := map[token.Position]bool{}, []unused.Object(nil)
	for _, action := range graph.Roots {
		if action.Err != nil {
			return 0, fmt.Errorf("%s: %w", action.Package.PkgPath, action.Err)
		}
		for _, d := range action.Diagnostics {
			say(action.Package.Fset.Position(d.Pos), d.Message, action.Analyzer.Name)
		}
		if found, is := action.Result.(unused.Result); is {
			for _, o := range found.Used {
				used[o.Position] = true
			}
			left = append(left, found.Unused...)
		}
	}
	for _, o := range left {
		if !used[o.Position] {
			say(o.DisplayPosition, o.Kind+" "+o.Name+" is unused", unused.Analyzer.Analyzer.Name)
		}
	}
	fmt.Fprintf(w, "%d packages, %d problems\n", len(pkgs), len(said))
	return len(said), nil
}
