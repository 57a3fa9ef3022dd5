package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// planVersion writes a version into the go.mod files of nested modules: it is what they
// will be released with.
func planVersion(root, version string) ([]mod, error) {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return nil, fmt.Errorf("%q is not a version such as v0.1.0", version)
	}
	last, err := lastRelease(root)
	if err == nil && last != "" && semver.Compare(version, last) <= 0 {
		err = fmt.Errorf("%s is not after %s, which is released", version, last)
	}
	if err != nil {
		return nil, err
	}
	mods, err := released(root)
	if err != nil {
		return nil, err
	}
	for _, m := range mods {
		for _, other := range mods {
			if required(m.file, other.path) != "" {
				if err := m.file.AddRequire(other.path, version); err != nil {
					return nil, err
				}
			}
		}
		if err := os.WriteFile(filepath.Join(root, m.dir, "go.mod"), modfile.Format(m.file.Syntax), 0o644); err != nil {
			return nil, err
		}
	}
	return mods, nil
}

// prepare plans a version, gives what the changelog has for it its heading, and prints
// the commands that publish it.
func prepare(root, version, date string, w io.Writer) error {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return fmt.Errorf("%q is not a date such as 2027-01-31", date)
	}
	log, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	const unreleased = "## [Unreleased]\n"
	before, after, ok := strings.Cut(string(log), unreleased)
	if !ok || strings.HasPrefix(strings.TrimSpace(after), "## ") || strings.TrimSpace(after) == "" {
		return fmt.Errorf("CHANGELOG.md has nothing under %q", strings.TrimSpace(unreleased))
	}
	mods, err := planVersion(root, version)
	if err != nil {
		return err
	}
	text := before + unreleased + "\n## [" + version[1:] + "] - " + date + "\n" + after
	if err := os.WriteFile(filepath.Join(root, "CHANGELOG.md"), []byte(text), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(w, "Read the diff, then:\n\n\tgit commit -a -m release-%s\n\tbash .ci/run\n", version)
	var tags []string
	for _, m := range mods {
		tags = append(tags, m.tag(version))
		fmt.Fprintf(w, "\tgit tag -a -m %s %[1]s\n", m.tag(version))
	}
	fmt.Fprintf(w, "\tgit push --atomic origin main %s\n", strings.Join(tags, " "))
	return nil
}
