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

// prepare writes a version into the go.mod files of nested modules and into the
// changelog, and prints the commands that publish it.
func prepare(root, version, date string, w io.Writer) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("%q is not a version such as v0.1.0", version)
	}
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return fmt.Errorf("%q is not a date such as 2027-01-31", date)
	}
	mods, err := released(root)
	if err != nil {
		return err
	}
	written := map[string][]byte{}
	for _, m := range mods {
		for _, other := range mods {
			if required(m.file, other.path) != "" {
				if err := m.file.AddRequire(other.path, version); err != nil {
					return err
				}
			}
		}
		written[m.dir+"/go.mod"] = modfile.Format(m.file.Syntax)
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
	if strings.Contains(after, "## ["+version[1:]+"]") {
		return fmt.Errorf("CHANGELOG.md has version %s already", version)
	}
	written["CHANGELOG.md"] = []byte(before + unreleased + "\n## [" + version[1:] + "] - " + date + "\n" + after)
	for name, text := range written {
		if err := os.WriteFile(filepath.Join(root, name), text, 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "Read the diff, then:\n\n\tgit commit -am 'all: release %s'\n\tbash .ci/run\n", version)
	var tags []string
	for _, m := range mods {
		tags = append(tags, m.tag(version))
		fmt.Fprintf(w, "\tgit tag -a -m %s %[1]s\n", m.tag(version))
	}
	fmt.Fprintf(w, "\tgit push --atomic origin main %s\n", strings.Join(tags, " "))
	return nil
}
