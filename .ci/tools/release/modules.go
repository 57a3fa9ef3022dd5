package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// library is the path of the root module, and the prefix of those of nested ones.
const library = "github.com/preempt-go/preempt"

// A mod is a module of the checkout that is released.
type mod struct {
	path string // of the module
	dir  string // in the checkout, with slashes; "." for the root
	file *modfile.File
}

// tag is the name that git and the go command have for a version of the module.
func (m mod) tag(version string) string {
	if m.dir == "." {
		return version
	}
	return m.dir + "/" + version
}

// released lists the modules that are released, each after those that it requires: the
// root, and the nested ones that require a release of it. A nested module that
// requires v0.0.0 is for work on the library alone.
func released(root string) ([]mod, error) {
	files, err := tracked(root)
	if err != nil {
		return nil, err
	}
	var all []mod
	for _, name := range files {
		if filepath.Base(name) != "go.mod" || strings.Contains("/"+name, "/testdata/") || strings.HasPrefix(name, ".") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		f, err := modfile.Parse(name, text, nil)
		if err != nil {
			return nil, err
		}
		m := mod{f.Module.Mod.Path, filepath.ToSlash(filepath.Dir(name)), f}
		if v := required(f, library); m.dir == "." || semver.Compare(v, "v0.0.1") >= 0 {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b mod) int {
		switch {
		case required(b.file, a.path) != "":
			return -1
		case required(a.file, b.path) != "":
			return 1
		}
		return strings.Compare(a.path, b.path)
	})
	if len(all) < 2 || all[0].path != library {
		return nil, fmt.Errorf("%s: not a checkout of the library with its nested modules", root)
	}
	return all, nil
}

// required is the version of a module that a go.mod file requires; "" if it does not.
func required(f *modfile.File, path string) string {
	for _, r := range f.Require {
		if r.Mod.Path == path {
			return r.Mod.Version
		}
	}
	return ""
}

// planned is the version that the nested modules require, the one to be released next,
// or the last one if none is prepared.
func planned(mods []mod) (string, error) {
	version := ""
	for _, m := range mods {
		for _, other := range mods {
			v := required(m.file, other.path)
			if v != "" && version != "" && v != version {
				return "", fmt.Errorf("%s/go.mod requires %s, another one %s", m.dir, module.Version{Path: other.path, Version: v}, version)
			}
			if v != "" {
				version = v
			}
		}
	}
	return version, nil
}

// tracked lists the files of a checkout that git has or would add, sorted.
func tracked(root string) ([]string, error) {
	out, err := git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	var files []string
	for _, name := range strings.Split(strings.TrimRight(out, "\x00"), "\x00") {
		if _, err := os.Lstat(filepath.Join(root, name)); !errors.Is(err, fs.ErrNotExist) {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// git runs git in a checkout, whoever owns it, and returns what it prints.
func git(root string, args ...string) (string, error) {
	c := exec.Command("git", append([]string{"-C", root, "-c", "safe.directory=*"}, args...)...)
	var complaint strings.Builder
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", args[0], err, complaint.String())
	}
	return string(out), nil
}
