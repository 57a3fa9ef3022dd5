package floors

import (
	"go/ast"
	"go/types"
	"path"
	"strings"
)

// signatures checks that what users can reach from a public package mentions no
// type of an internal one.
func (c *checker) signatures() {
	in := &importer{checker: c, done: map[string]*types.Package{}}
	for _, p := range c.Packages {
		if isInternal(p.Dir) || p.Name == "main" {
			continue
		}
		pkg := in.load(p.Dir)
		w := &walker{checker: c, pkg: pkg, dir: p.Dir, seen: map[types.Type]bool{}}
		for _, name := range pkg.Scope().Names() {
			if obj := pkg.Scope().Lookup(name); obj.Exported() {
				w.object(name, obj)
			}
		}
	}
}

// An importer type-checks the declarations of this module's packages. Packages of
// other modules and of the standard library come out empty: their types can't be
// internal to this module, and what uses them counts as unknown.
type importer struct {
	*checker
	done map[string]*types.Package
}

// Import implements types.Importer.
func (in *importer) Import(importPath string) (*types.Package, error) {
	if importPath == "unsafe" {
		return types.Unsafe, nil
	}
	if dir, ok := in.local(importPath); ok && in.byDir[dir] != nil {
		return in.load(dir), nil
	}
	if pkg := in.done[importPath]; pkg != nil {
		return pkg, nil
	}
	pkg := types.NewPackage(importPath, path.Base(importPath))
	pkg.MarkComplete()
	in.done[importPath] = pkg
	return pkg, nil
}

func (in *importer) load(dir string) *types.Package {
	importPath := in.Path + "/" + dir
	if pkg := in.done[importPath]; pkg != nil {
		return pkg
	}
	in.done[importPath] = types.NewPackage(importPath, in.byDir[dir].Name) // for an import cycle
	config := types.Config{
		Importer:         in,
		IgnoreFuncBodies: true,
		Error:            func(error) {}, // of the packages that come out empty
	}
	files := sorted(in.byDir[dir].Files)
	pkg, _ := config.Check(importPath, in.files, files, &types.Info{Defs: map[*ast.Ident]types.Object{}})
	in.done[importPath] = pkg
	return pkg
}

// A walker follows the types that users of one package can name or hold.
type walker struct {
	*checker
	pkg  *types.Package
	dir  string
	seen map[types.Type]bool
}

func (w *walker) object(name string, obj types.Object) {
	w.follow(name, obj.Type())
	if t, ok := obj.(*types.TypeName); ok {
		if named, ok := types.Unalias(t.Type()).(*types.Named); ok && named.Obj().Pkg() == w.pkg {
			w.members(name, named)
		}
	}
}

// members follows the methods and the structure of a type of the package itself.
func (w *walker) members(name string, t *types.Named) {
	for m := range t.Methods() {
		if m.Exported() {
			w.follow(name+"."+m.Name(), m.Type())
		}
	}
	w.follow(name, t.Underlying())
}

func (w *walker) follow(name string, t types.Type) {
	if t == nil || w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		if w.internal(name, t.Obj()) {
			return
		}
		w.follow(name, t.Rhs())
	case *types.Named:
		if w.internal(name, t.Obj()) {
			return
		}
		for arg := range t.TypeArgs().Types() {
			w.follow(name, arg)
		}
		if t.Obj().Pkg() == w.pkg && !t.Obj().Exported() {
			w.members(name, t) // users can hold it, and so use its exported members
		}
	case *types.TypeParam:
		w.follow(name, t.Constraint())
	case *types.Pointer:
		w.follow(name, t.Elem())
	case *types.Slice:
		w.follow(name, t.Elem())
	case *types.Array:
		w.follow(name, t.Elem())
	case *types.Chan:
		w.follow(name, t.Elem())
	case *types.Map:
		w.follow(name, t.Key())
		w.follow(name, t.Elem())
	case *types.Union:
		for term := range t.Terms() {
			w.follow(name, term.Type())
		}
	case *types.Signature:
		for p := range t.TypeParams().TypeParams() {
			w.follow(name, p)
		}
		w.follow(name, t.Params())
		w.follow(name, t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			w.follow(name, v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() {
				w.follow(name+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if m.Exported() {
				w.follow(name+"."+m.Name(), m.Type())
			}
		}
		for e := range t.EmbeddedTypes() {
			w.follow(name, e)
		}
	}
}

// internal reports a type of an internal package of this module.
func (w *walker) internal(name string, obj *types.TypeName) bool {
	if obj.Pkg() == nil || !strings.HasPrefix(obj.Pkg().Path(), w.Path+"/") {
		return false
	}
	dir, _ := w.local(obj.Pkg().Path())
	if !isInternal(dir) {
		return false
	}
	w.breach("package %s: %s has the internal type %s.%s", w.dir, name, obj.Pkg().Path(), obj.Name())
	return true
}
