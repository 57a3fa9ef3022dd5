package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A runner has test programs into which the mutants of a package are compiled.
type runner struct {
	*settings
	dir     string          // temporary
	tests   []*program      // tried in this order
	reached map[string]bool // FILE:LINE of what the tests reach
}

// A program is the compiled tests of a package.
type program struct {
	path, dir string // of the package
	file      string
	flags     []string
	timeout   time.Duration // once it is known how long it takes
}

// memory is the address space of a run, in KiB: a mutant that allocates without end fails.
const memory = 6 << 20

// build compiles the tests of packages with all mutants of a package.
func (s *settings) build(p *pkg, all []*mutant, tests []string) (*runner, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	r := &runner{settings: s, dir: dir}
	if err := r.compile(p, all, tests); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *runner) close() { os.RemoveAll(r.dir) }

func (r *runner) compile(p *pkg, all []*mutant, tests []string) error {
	replace := map[string]string{}
	write := func(at string, text []byte) error {
		file := filepath.Join(r.dir, fmt.Sprintf("%d.go", len(replace)))
		replace[at] = file
		return os.WriteFile(file, text, 0o644)
	}
	for _, f := range p.files {
		if err := write(f.at, f.render(all)); err != nil {
			return err
		}
	}
	if err := write(filepath.Join(filepath.Dir(p.files[0].at), "mutate__.go"), help(p.name)); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	overlay := filepath.Join(r.dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o644); err != nil {
		return err
	}
	for i, path := range tests {
		deps, err := list("-test", "-deps", path)
		if err != nil {
			return err
		}
		of, err := list(path)
		if err != nil {
			return err
		}
		t := &program{path: path, dir: of[0].Dir, file: filepath.Join(r.dir, fmt.Sprintf("%d.test", i))}
		if r.run != "" {
			t.flags = append(t.flags, "-test.run="+r.run)
		}
		if r.short {
			t.flags = append(t.flags, "-test.short")
		}
		if slices.ContainsFunc(deps, func(l listed) bool { return l.ImportPath == "pgregory.net/rapid" }) {
			t.flags = append(t.flags, "-rapid.nofailfile", "-rapid.shrinktime=0s", fmt.Sprintf("-rapid.seed=%d", r.seed))
		}
		if _, err := run("go", "test", "-c", "-vet=off", "-overlay="+overlay, "-o", t.file, path); err != nil {
			return err
		}
		if err := r.reach(p, t); err != nil {
			return err
		}
		r.tests = append(r.tests, t)
	}
	return nil
}

// reach notes which lines of a package tests reach.
func (r *runner) reach(p *pkg, t *program) error {
	if r.reached == nil {
		r.reached = map[string]bool{}
	}
	profile, plain := filepath.Join(r.dir, "cover.out"), fmt.Sprintf("%s.plain", t.file)
	if _, err := run("go", "test", "-c", "-vet=off", "-cover", "-coverpkg="+p.path, "-o", plain, t.path); err != nil {
		return err
	}
	c := exec.Command(plain, append(t.flags, "-test.skip="+r.skip, "-test.coverprofile="+profile)...)
	c.Dir = t.dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("the tests of %s fail without mutants: %w\n%s", t.path, err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		file, block, _ := strings.Cut(strings.TrimPrefix(lines.Text(), p.path+"/"), ":")
		var first, from, last, to, statements, count int
		if n, _ := fmt.Sscanf(block, "%d.%d,%d.%d %d %d", &first, &from, &last, &to, &statements, &count); n < 6 || count == 0 {
			continue
		}
		for ; first <= last; first++ {
			r.reached[strings.TrimPrefix(fmt.Sprintf("%s/%s:%d", p.dir, file, first), "./")] = true
		}
	}
	return nil
}

var failing = regexp.MustCompile(`(?m)^--- FAIL: ([^/ ]+)`)

// baseline runs the tests with no mutant, and measures how long they take. A test that
// does not hold with conditions in the code, such as one that counts allocations, is
// left out.
func (r *runner) baseline() error {
	for _, t := range r.tests {
		for skip := r.skip; ; {
			began := time.Now()
			out, err := t.command(0, "-test.skip="+skip).CombinedOutput()
			if err == nil {
				t.flags = append(t.flags, "-test.skip="+skip)
				t.timeout = 10*time.Since(began) + 5*time.Second
				break
			}
			names := failing.FindAllStringSubmatch(string(out), -1)
			if len(names) == 0 {
				return fmt.Errorf("the tests of %s fail without a mutant: %w\n%s", t.path, err, out)
			}
			for _, n := range names {
				fmt.Printf("left out, as it fails without a mutant: %s of %s\n", n[1], t.path)
				skip = strings.TrimPrefix(skip+"|^"+n[1]+"$", "|")
			}
		}
	}
	return nil
}

// command is a run of a test program with a mutant, or with none for 0.
func (t *program) command(id int, flags ...string) *exec.Cmd {
	limited := fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, memory)
	c := exec.Command("sh", append([]string{"-c", limited, t.file}, append(slices.Clone(t.flags), flags...)...)...)
	c.Dir = t.dir
	c.Env = append(os.Environ(), fmt.Sprintf("MUTANT=%d", id))
	return c
}

// kills reports whether tests notice a mutant.
func (r *runner) kills(m *mutant) (bool, error) {
	for _, t := range r.tests {
		err := t.command(m.id, "-test.failfast", "-test.timeout="+t.timeout.String()).Run()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			return false, err
		}
		if err != nil {
			return true, nil
		}
	}
	return false, nil
}
