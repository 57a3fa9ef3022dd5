package floors

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Tree holds the sources of one module, nested modules left out.
type Tree struct {
	Path     string   // the module's path
	Requires []string // the modules that go.mod names
	Folders  []string // the top-level folders, sorted
	Nested   []string // folders of nested modules, sorted
	Packages []*Package

	files *token.FileSet
	byDir map[string]*Package
}

// A Package is the sources of one folder.
type Package struct {
	Dir  string // path in the module, with slashes
	Name string

	Files     map[string]*ast.File // by base name, without tests
	Tests     map[string]*ast.File // in the package itself
	Externals map[string]*ast.File // in package name_test
}

// Load reads the module whose go.mod lies in root.
func Load(root string) (*Tree, error) {
	t := &Tree{files: token.NewFileSet(), byDir: map[string]*Package{}}
	if err := t.readModFile(filepath.Join(root, "go.mod")); err != nil {
		return nil, err
	}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(rel)
		if dir == "." {
			return nil
		}
		if base := path.Base(dir); strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" {
			return fs.SkipDir
		}
		if !strings.Contains(dir, "/") {
			t.Folders = append(t.Folders, dir)
		}
		if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil {
			t.Nested = append(t.Nested, dir)
			return fs.SkipDir
		}
		return t.readPackage(file, dir)
	})
	if err != nil {
		return nil, fmt.Errorf("floors: %w", err)
	}
	return t, nil
}

// readModFile takes the module's path and requirements from a go.mod.
func (t *Tree) readModFile(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("floors: %w", err)
	}
	block := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == ")":
			block = ""
		case len(words) == 2 && words[1] == "(":
			block = words[0]
		case words[0] == "module" && len(words) == 2:
			t.Path = words[1]
		case words[0] == "require" && len(words) == 3:
			t.Requires = append(t.Requires, words[1])
		case block == "require":
			t.Requires = append(t.Requires, words[0])
		}
	}
	if t.Path == "" {
		return fmt.Errorf("floors: %s names no module", file)
	}
	return nil
}

// readPackage parses the Go files of one folder, if it has any for this platform.
func (t *Tree) readPackage(folder, dir string) error {
	found, err := build.ImportDir(folder, 0)
	var none *build.NoGoError
	if errors.As(err, &none) {
		return nil
	}
	if err != nil {
		return err
	}
	p := &Package{Dir: dir, Name: found.Name}
	if p.Files, err = t.parse(folder, found.GoFiles); err != nil {
		return err
	}
	if p.Tests, err = t.parse(folder, found.TestGoFiles); err != nil {
		return err
	}
	if p.Externals, err = t.parse(folder, found.XTestGoFiles); err != nil {
		return err
	}
	t.Packages = append(t.Packages, p)
	t.byDir[dir] = p
	return nil
}

func (t *Tree) parse(folder string, names []string) (map[string]*ast.File, error) {
	files := make(map[string]*ast.File, len(names))
	for _, name := range names {
		file, err := parser.ParseFile(t.files, filepath.Join(folder, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files[name] = file
	}
	return files, nil
}

// local returns the path in the module of an import path, and false for a package
// of another module or of the standard library.
func (t *Tree) local(importPath string) (string, bool) {
	return strings.CutPrefix(importPath, t.Path+"/")
}

// imports lists the import paths of files, sorted, each once.
func imports(files map[string]*ast.File) []string {
	set := map[string]bool{}
	for _, f := range files {
		for _, spec := range f.Imports {
			set[strings.Trim(spec.Path.Value, "\"`")] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// sorted yields files in order of their names.
func sorted(files map[string]*ast.File) []*ast.File {
	out := make([]*ast.File, 0, len(files))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out = append(out, files[name])
	}
	return out
}
