package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A pkg is a package with the types of its expressions.
type pkg struct {
	dir   string // in its module, with slashes
	path  string // that it is imported by
	name  string
	fset  *token.FileSet
	files []*source
	info  types.Info
}

// A source is a file of a package, tests aside.
type source struct {
	at   string // absolute
	name string // in the module, with slashes
	text []byte
	tree *ast.File
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir, Name, Export string
	GoFiles                       []string
	Module                        *struct{ Dir string }
	Error                         *struct{ Err string }
}

// load reads a package and its types; what it imports is compiled by the go command.
func load(path string) (*pkg, error) {
	all, err := list("-deps", "-export", path)
	if err != nil {
		return nil, err
	}
	l := all[len(all)-1]
	if l.Module == nil {
		return nil, errors.New("not in a module")
	}
	dir, err := filepath.Rel(l.Module.Dir, l.Dir)
	if err != nil {
		return nil, err
	}
	p := &pkg{dir: filepath.ToSlash(dir), path: l.ImportPath, name: l.Name, fset: token.NewFileSet()}
	p.info.Types = map[ast.Expr]types.TypeAndValue{}
	var trees []*ast.File
	for _, name := range l.GoFiles {
		at := filepath.Join(l.Dir, name)
		text, err := os.ReadFile(at)
		if err != nil {
			return nil, err
		}
		tree, err := parser.ParseFile(p.fset, at, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, &source{at, strings.TrimPrefix(p.dir+"/"+name, "./"), text, tree})
		trees = append(trees, tree)
	}
	compiled := map[string]string{}
	for _, l := range all {
		compiled[l.ImportPath] = l.Export
	}
	c := types.Config{Importer: importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(compiled[path])
	})}
	_, err = c.Check(l.ImportPath, p.fset, trees, &p.info)
	return p, err
}

// list asks go list for packages.
func list(args ...string) ([]listed, error) {
	out, err := run("go", append([]string{"list", "-json=ImportPath,Dir,Name,Export,GoFiles,Module,Error"}, args...)...)
	if err != nil {
		return nil, err
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if l.Error != nil {
			return nil, errors.New(l.Error.Err)
		}
		all = append(all, l)
	}
	if len(all) == 0 {
		return nil, errors.New("no such package")
	}
	return all, nil
}

// run runs a program and returns what it prints.
func run(name string, args ...string) ([]byte, error) {
	c := start(name, args...)
	var complaint strings.Builder
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, args[0], err, complaint.String())
	}
	return out, nil
}
