package floors

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
)

// Check returns a sentence for every breach of the rules, sorted, and none if the
// module keeps them all.
func Check(t *Tree, r Rules) []string {
	c := &checker{Tree: t, rules: r}
	c.layout()
	c.dependencies()
	for _, p := range t.Packages {
		c.floors(p)
		c.apart(p)
		c.wordless(p)
		c.size(p)
		c.names(p)
		c.documented(p)
	}
	c.total()
	c.signatures()
	slices.Sort(c.breaches)
	return slices.Compact(c.breaches)
}

type checker struct {
	*Tree
	rules    Rules
	breaches []string
}

func (c *checker) breach(format string, args ...any) {
	c.breaches = append(c.breaches, fmt.Sprintf(format, args...))
}

// wordless checks that a package which leaves words to others makes none, nor imports one that
// does, and that a package which is listed as one that makes them does.
func (c *checker) wordless(p *Package) {
	wordless := slices.ContainsFunc(c.rules.Wordless, func(root string) bool { return within(p.Dir, root) })
	telling := slices.Contains(c.rules.Telling, p.Dir)
	makes := slices.Contains(imports(p.Files), "fmt")
	switch {
	case telling && !(wordless && makes):
		c.breach("package %s: leaves no words to others or makes none, and need not be listed as telling", p.Dir)
	case telling || !wordless:
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		for _, i := range p.Files[name].Imports {
			if i.Path.Value == `"fmt"` {
				c.breach("package %s: %s imports fmt, where words are left to others", p.Dir, name)
			}
		}
	}
	for _, path := range imports(p.Files) {
		if dir, ok := c.local(path); ok && slices.Contains(c.rules.Telling, dir) {
			c.breach("package %s: imports %s, which makes words of what the others return", p.Dir, dir)
		}
	}
}

// size checks that a package has not too many files and lines.
func (c *checker) size(p *Package) {
	if c.rules.Files == 0 {
		return
	}
	files, lines := len(p.Files), 0
	for _, f := range p.Files {
		lines += c.files.File(f.FileStart).LineCount()
	}
	fits := files <= c.rules.Files && lines <= c.rules.Lines
	switch most, larger := c.rules.Larger[p.Dir]; {
	case larger && fits:
		c.breach("package %s: has %d files and %d lines, which need not be listed as larger", p.Dir, files, lines)
	case larger && files != most:
		c.breach("package %s: has %d files, listed as larger with %d", p.Dir, files, most)
	case !larger && !fits:
		c.breach("package %s: has %d files and %d lines, more than %d and %d", p.Dir, files, lines, c.rules.Files, c.rules.Lines)
	}
}

// names checks that a package that is listed exports as many names as the list says.
func (c *checker) names(p *Package) {
	most, listed := c.rules.Names[p.Dir]
	if !listed {
		return
	}
	if n, _ := c.exported(p); n != most {
		c.breach("package %s: exports %d names, listed with %d", p.Dir, n, most)
	}
}

// total checks that all public packages together export as many names as the rules say.
func (c *checker) total() {
	exported, distinct := 0, 0
	for _, p := range c.Packages {
		if isInternal(p.Dir) || isTop(p.Dir) {
			continue
		}
		n, again := c.exported(p)
		exported, distinct = exported+n, distinct+n-again
	}
	if c.rules.Exported > 0 && (exported != c.rules.Exported || distinct != c.rules.Distinct) {
		c.breach("the module exports %d names, %d of them distinct, listed with %d and %d", exported, distinct, c.rules.Exported, c.rules.Distinct)
	}
}

// exported is how many names a package exports, methods aside, and how many of them are those of
// another package again.
func (c *checker) exported(p *Package) (n, again int) {
	var file *ast.File
	count := func(name *ast.Ident, as ast.Expr) {
		if !name.IsExported() {
			return
		}
		n++
		if of, ok := as.(*ast.SelectorExpr); ok && c.isLocal(file, of.X) {
			again++
		}
	}
	for _, file = range p.Files {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					count(d.Name, nil)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						var as ast.Expr
						if spec.Assign.IsValid() {
							as = spec.Type
						}
						count(spec.Name, as)
					case *ast.ValueSpec:
						for i, name := range spec.Names {
							var as ast.Expr
							if i < len(spec.Values) {
								as = spec.Values[i]
							}
							count(name, as)
						}
					}
				}
			}
		}
	}
	return n, again
}

// isLocal reports whether x names a package of the module that file imports.
func (c *checker) isLocal(file *ast.File, x ast.Expr) bool {
	name, ok := x.(*ast.Ident)
	return ok && slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
		dir, ok := c.local(strings.Trim(i.Path.Value, `"`))
		return ok && path.Base(dir) == name.Name
	})
}

// layout checks the folders: only the allowed ones at the top, nested modules only
// where everything may be imported, no package without a floor.
func (c *checker) layout() {
	for _, f := range c.Folders {
		if !slices.Contains(c.rules.Folders, f) {
			c.breach("folder %s: not one of the module's top-level folders", f)
		}
	}
	for _, dir := range c.Nested {
		if !isTop(dir) {
			c.breach("folder %s: a nested module belongs under examples or bench", dir)
		}
	}
	for _, p := range c.Packages {
		if _, _, ok := c.rules.floor(p.Dir); !ok && !isTop(p.Dir) && !isInternal(p.Dir) {
			c.breach("package %s: has no floor", p.Dir)
		}
	}
}

// floors checks what a package imports from its own module. Tests in the package
// itself may use internal packages as they like; those in an external test package
// see the module as its users do and may import anything.
func (c *checker) floors(p *Package) {
	for _, path := range imports(p.Files) {
		if dir, ok := c.local(path); ok {
			c.checkImport(p, dir, "imports")
		}
	}
	for _, path := range imports(p.Tests) {
		if dir, ok := c.local(path); ok && !isInternal(dir) {
			c.checkImport(p, dir, "imports in a test")
		}
	}
}

func (c *checker) checkImport(p *Package, dir, verb string) {
	switch {
	case isTop(dir):
		if !isTop(p.Dir) {
			c.breach("package %s: %s %s, which nothing below may import", p.Dir, verb, dir)
		}
	case isTop(p.Dir):
	case isInternal(p.Dir):
		// The compiler forbids cycles, and a public package that imports this one is
		// judged by everything that this one reaches.
	default:
		for _, reached := range c.publicReached(dir) {
			if !c.below(reached, p.Dir) {
				via := ""
				if reached != dir {
					via = " through " + dir
				}
				c.breach("package %s: %s %s%s, which is not on a lower floor", p.Dir, verb, reached, via)
			}
		}
	}
}

// apart checks that a package which is to share no code with others imports none of
// them.
func (c *checker) apart(p *Package) {
	for folder, allowed := range c.rules.Apart {
		if !within(p.Dir, folder) {
			continue
		}
		for _, path := range imports(p.Files) {
			dir, ok := c.local(path)
			if ok && !slices.ContainsFunc(allowed, func(a string) bool { return dir == a || strings.HasSuffix(a, "/") && strings.HasPrefix(dir, a) }) {
				c.breach("package %s: imports %s, from which it is kept apart", p.Dir, dir)
			}
		}
	}
}

// publicReached returns the public packages that an import of dir brings in
// without another public package between: dir itself, or what an internal dir
// imports, and so on.
func (c *checker) publicReached(dir string) []string {
	seen := map[string]bool{}
	var out []string
	var visit func(dir string)
	visit = func(dir string) {
		if seen[dir] {
			return
		}
		seen[dir] = true
		if !isInternal(dir) {
			out = append(out, dir)
			return
		}
		if p := c.byDir[dir]; p != nil {
			for _, path := range imports(p.Files) {
				if next, ok := c.local(path); ok {
					visit(next)
				}
			}
		}
	}
	visit(dir)
	return out
}

// below reports whether package low stands on a lower floor than package high. A
// folder stands above the listed one that it lies in.
func (c *checker) below(low, high string) bool {
	lowFloor, lowDepth, ok1 := c.rules.floor(low)
	highFloor, highDepth, ok2 := c.rules.floor(high)
	if !ok1 || !ok2 {
		return false
	}
	if lowFloor != highFloor {
		return lowFloor < highFloor
	}
	return lowDepth < highDepth && within(high, low)
}

// dependencies checks what comes from other modules.
func (c *checker) dependencies() {
	for _, m := range c.Requires {
		for _, f := range c.rules.Forbidden {
			if strings.HasPrefix(m+"/", f) {
				c.breach("go.mod: requires %s", m)
			}
		}
	}
	shipped := c.shipped()
	for _, p := range c.Packages {
		for _, path := range imports(p.Files) {
			allowed := c.rules.Dependencies
			if !shipped[p.Dir] {
				allowed = slices.Concat(c.rules.Dependencies, c.rules.TestDependencies)
			}
			c.checkDependency(p, path, allowed)
		}
		for _, path := range slices.Concat(imports(p.Tests), imports(p.Externals)) {
			c.checkDependency(p, path, slices.Concat(c.rules.Dependencies, c.rules.TestDependencies))
		}
	}
}

func (c *checker) checkDependency(p *Package, path string, allowed []string) {
	first, _, _ := strings.Cut(path, "/")
	if _, ok := c.local(path); ok || path == c.Path || !strings.Contains(first, ".") {
		return // this module, or the standard library
	}
	if !slices.ContainsFunc(allowed, func(m string) bool { return within(path, m) }) {
		c.breach("package %s: imports %s, which is not one of the module's dependencies", p.Dir, path)
	}
}

// shipped is the set of packages that users get: all public ones, and what these
// import, but not what tests alone import.
func (c *checker) shipped() map[string]bool {
	set := map[string]bool{}
	var visit func(dir string)
	visit = func(dir string) {
		p := c.byDir[dir]
		if p == nil || set[dir] {
			return
		}
		set[dir] = true
		for _, path := range imports(p.Files) {
			if next, ok := c.local(path); ok {
				visit(next)
			}
		}
	}
	for _, p := range c.Packages {
		if !isInternal(p.Dir) && !slices.Contains(c.rules.ForTests, p.Dir) {
			visit(p.Dir)
		}
	}
	return set
}
