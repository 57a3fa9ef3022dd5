package main

import (
	"errors"
	"fmt"
	"go/types"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/mod/semver"
	"golang.org/x/tools/go/packages"
)

// compareAPI prints what has changed in the exported API of the library since its last
// release, and complains if the version that is planned may not have such changes.
func compareAPI(root string, w io.Writer) error {
	mods, err := released(root)
	if err != nil {
		return err
	}
	plan, err := planned(mods)
	if err != nil {
		return err
	}
	last, err := lastRelease(root)
	if err != nil {
		return err
	}
	if last == "" {
		fmt.Fprintf(w, "no released version: nothing to compare with; %s will be the first\n", plan)
		return nil
	}
	then, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(then)
	if _, err := git(root, "clone", "--quiet", "--shared", "--branch", last, ".", then); err != nil {
		return err
	}
	before, err := load(then)
	if err != nil {
		return fmt.Errorf("%s: %w", last, err)
	}
	now, err := load(root)
	if err != nil {
		return err
	}
	report := apidiff.ModuleChanges(before, now)
	fmt.Fprintf(w, "since %s, with %s planned:\n", last, plan)
	if err := report.Text(w); err != nil {
		return err
	}
	incompatible := slices.ContainsFunc(report.Changes, func(c apidiff.Change) bool { return !c.Compatible })
	if incompatible && !mayBreak(last, plan) {
		return fmt.Errorf("incompatible changes since %s, and %s is planned: plan a version that may have them", last, plan)
	}
	return nil
}

// lastRelease is the newest tag of the library that HEAD has among its ancestors; "" if
// there is none.
func lastRelease(root string) (string, error) {
	out, err := git(root, "tag", "--list", "v*", "--merged", "HEAD")
	if err != nil {
		return "", err
	}
	last := ""
	for _, tag := range strings.Fields(out) {
		if semver.IsValid(tag) && semver.Prerelease(tag) == "" && (last == "" || semver.Compare(tag, last) > 0) {
			last = tag
		}
	}
	return last, nil
}

// mayBreak reports whether a version may break what an earlier one has: before v1 with
// another minor number, afterwards with another major one.
func mayBreak(earlier, version string) bool {
	if semver.Major(version) == "v0" {
		return semver.Compare(semver.MajorMinor(version), semver.MajorMinor(earlier)) > 0
	}
	return semver.Compare(semver.Major(version), semver.Major(earlier)) > 0
}

// load type-checks the packages of a module that users can import.
func load(dir string) (*apidiff.Module, error) {
	all, err := packages.Load(&packages.Config{
		Dir:  dir,
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedModule,
		Env:  append(os.Environ(), "GOWORK=off"),
	}, "./...")
	if err != nil {
		return nil, err
	}
	m := &apidiff.Module{}
	var problems []error
	for _, p := range all {
		for _, e := range p.Errors {
			problems = append(problems, e)
		}
		if hidden(p.PkgPath) || p.Name == "main" {
			continue
		}
		m.Path, m.Packages = p.Module.Path, append(m.Packages, p.Types)
	}
	if len(m.Packages) == 0 {
		problems = append(problems, fmt.Errorf("%s has no package that users can import", dir))
	}
	slices.SortFunc(m.Packages, func(a, b *types.Package) int { return strings.Compare(a.Path(), b.Path()) })
	return m, errors.Join(problems...)
}

// hidden reports whether users cannot, or should not, import a package.
func hidden(importPath string) bool {
	return slices.ContainsFunc(strings.Split(importPath, "/"), func(part string) bool {
		return part == "internal" || part == "examples" || part == "bench"
	})
}
