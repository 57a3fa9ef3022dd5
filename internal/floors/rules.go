package floors

import "strings"

// Rules say what a module may look like.
type Rules struct {
	// Folders are the allowed top-level folders, besides those that begin with a dot.
	Folders []string

	// Floor gives the floor of each public package, by its path in the module. A
	// package may import only packages of lower floors. A package that is not listed
	// stands just above the nearest listed folder above it.
	Floor map[string]int

	// Dependencies are the modules that packages may import; TestDependencies those
	// that only tests, and packages that only tests import, may.
	Dependencies, TestDependencies []string

	// ForTests are public packages that only tests of users import: no other public
	// package imports them, and they have the dependencies of tests.
	ForTests []string

	// Forbidden are prefixes of import paths that nothing in the module may require,
	// directly or indirectly.
	Forbidden []string

	// Apart says of folders which packages of the module what is in them may import at
	// all, tests aside, so that they share no code with the others; of an entry that ends
	// in a slash everything beneath it.
	Apart map[string][]string

	// Wordless are packages, and those beneath them, that return numbers and leave words
	// to others: nothing in them imports fmt, tests aside.
	Wordless []string

	// Telling are the packages beneath those that put into words what the others return. They
	// import fmt, nothing that is wordless imports them, and what lies beneath them is wordless.
	Telling []string

	// Files and Lines are the most of a package of the module, tests aside. Larger says
	// of packages that have outgrown them how many files they have; they may only
	// shrink, and one that fits again is taken off the list.
	Files, Lines int
	Larger       map[string]int

	// Names says of packages that are to be learned how many names they export, methods aside. It only
	// ever becomes less, or a reader has to gain from the name that comes.
	Names map[string]int

	// Exported is how many names all public packages export together, methods aside, and
	// Distinct without those that say a name of another package again. Both only ever become less.
	Exported, Distinct int

	// Examples asks every public package for a runnable Example.
	Examples bool
}

// Module returns the rules of this module; the page DESIGN.md explains them.
func Module() Rules {
	return Rules{
		Folders: []string{"preemption", "domain", "victims", "priority", "disruption", "reprieve", "internal", "examples", "bench"},
		Floor: map[string]int{
			"preemption/clustertest": 7,
			"preemption/cascade":     6,
			"preemption/check":       6,
			"preemption/record":      6,
			"preemption":             5,
			"preemption/answer":      4,
			"reprieve":               4,
			"victims":                3,
			"domain":                 2,
			"preemption/cluster":     1,
			"priority":               0,
			"disruption":             0,
		},
		Dependencies:     []string{"github.com/google/btree", "golang.org/x/exp"},
		TestDependencies: []string{"github.com/stretchr/testify", "pgregory.net/rapid", "github.com/google/go-cmp"},
		ForTests:         []string{"preemption/clustertest"},
		Forbidden:        []string{"k8s.io/", "sigs.k8s.io/"},
		Apart: map[string][]string{
			// What checks the answers has nothing from those who gave them but their words.
			"preemption/check/internal": {"preemption", "preemption/cluster", "domain", "disruption", "priority", "preemption/check/internal/"},
		},
		Wordless: []string{"internal/quotasearch", "internal/seating", "preemption/internal", "reprieve"},
		Telling:  []string{"preemption/internal/review", "preemption/internal/tell"},
		Files:    40, Lines: 5000,
		Larger:   map[string]int{"preemption/cluster": 36},
		Names:    map[string]int{"preemption": 163},
		Exported: 701, Distinct: 586,
		Examples: true,
	}
}

// within reports whether path is the import path root or lies below it.
func within(path, root string) bool {
	return path == root || strings.HasPrefix(path, root+"/")
}

// isInternal reports whether a package, by its path in the module, is internal.
func isInternal(path string) bool {
	return within(path, "internal") || strings.Contains(path, "/internal/") || strings.HasSuffix(path, "/internal")
}

// isTop reports whether a package stands above every floor: it may import anything
// of the module, and nothing may import it.
func isTop(path string) bool { return within(path, "examples") || within(path, "bench") }

// floor returns the floor of a public package as (floor, depth below the listed
// folder), and false if no folder above it is listed.
func (r *Rules) floor(path string) (floor, depth int, ok bool) {
	for p := path; ; depth++ {
		if f, ok := r.Floor[p]; ok {
			return f, depth, true
		}
		cut := strings.LastIndexByte(p, '/')
		if cut < 0 {
			return 0, 0, false
		}
		p = p[:cut]
	}
}
