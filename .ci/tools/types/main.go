// Command types checks the types of a module, tests and what it imports included, for other systems and
// processors, and what depends on their width: constants and shifts. Nothing is compiled.
//
//	go run -C .ci/tools ./types DIR linux/386 js/wasm
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: types DIR GOOS/GOARCH...")
		os.Exit(2)
	}
	problems := 0
	for _, target := range os.Args[2:] {
		n, err := checkTypes(os.Stdout, os.Args[1], target)
		if err != nil {
			fmt.Fprintln(os.Stderr, "types:", err)
			os.Exit(2)
		}
		problems += n
	}
	if problems > 0 {
		os.Exit(1)
	}
}

// checkTypes checks a module for a target, such as linux/386, prints what it finds, and counts it.
func checkTypes(w io.Writer, dir, target string) (problems int, err error) {
	system, processor, _ := strings.Cut(target, "/")
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedTypesInfo | packages.NeedSyntax | packages.NeedModule,
		Dir: dir, Tests: true,
		Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor),
	}, "./...")
	if err != nil {
		return 0, err
	}
	said := map[string]bool{} // with the tests of a package, it is there twice
	say := func(text string) {
		if !said[text] {
			said[text] = true
			fmt.Fprintln(w, target+":", text)
		}
	}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			say(e.Error())
		}
	})
	pkgs = slices.DeleteFunc(pkgs, func(p *packages.Package) bool { return p.IllTyped })
	graph, err := checker.Analyze([]*analysis.Analyzer{shift.Analyzer}, pkgs, nil)
	if err != nil {
		return 0, err
	}
	for _, action := range graph.Roots {
		if action.Err != nil {
			return 0, action.Err
		}
		for _, d := range action.Diagnostics {
			say(fmt.Sprintf("%s: %s", action.Package.Fset.Position(d.Pos), d.Message))
		}
	}
	fmt.Fprintf(w, "%s: %d packages, %d problems\n", target, len(pkgs), len(said))
	return len(said), nil
}
