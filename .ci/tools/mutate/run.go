package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A runner has test programs into which the mutants of a package are compiled.
type runner struct {
	*settings
	dir      string // temporary, as is all that go build and tests make meanwhile
	before   string // TMPDIR
	programs []*program
}

// interrupted ends what is started, so that it is cleared away.
var interrupted, _ = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)

// start makes a command that is interrupted, too.
func start(name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(interrupted, name, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	return c
}

// A program is the compiled tests of a package.
type program struct {
	path, dir string // of the package
	file      string
	flags     []string
	tests     []*test
}

// A test is a function of a program.
type test struct {
	name    string
	reached map[string]bool // FILE:LINE of what it reaches
	takes   time.Duration
	kills   int // mutants, so far
}

// memory is the address space of a run, in KiB: a mutant that allocates without end fails.
const memory = 6 << 20

// build compiles the tests of packages with all mutants of a package.
func (s *settings) build(p *pkg, all []*mutant, tests []string) (*runner, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	r := &runner{settings: s, dir: dir, before: os.Getenv("TMPDIR")}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return nil, err
	}
	if err := r.compile(p, all, tests); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *runner) close() {
	os.Setenv("TMPDIR", r.before)
	os.RemoveAll(r.dir)
}

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
		if r.short {
			t.flags = append(t.flags, "-test.short")
		}
		if slices.ContainsFunc(deps, func(l listed) bool { return l.ImportPath == "pgregory.net/rapid" }) {
			t.flags = append(t.flags, "-rapid.nofailfile", "-rapid.shrinktime=0s", fmt.Sprintf("-rapid.seed=%d", r.seed))
		}
		if _, err := run("go", "test", "-c", "-vet=off", "-overlay="+overlay, "-o", t.file, path); err != nil {
			return err
		}
		if _, err := os.Stat(t.file); err != nil {
			continue // no test files
		}
		if err := r.find(p, t); err != nil {
			return err
		}
		r.programs = append(r.programs, t)
	}
	return nil
}

// find runs each test of a program by itself, without mutants, and notes which lines of a
// package it reaches. One that reaches none is left out.
func (r *runner) find(p *pkg, t *program) error {
	plain := &program{path: t.path, dir: t.dir, file: t.file + ".plain", flags: t.flags}
	if _, err := run("go", "test", "-c", "-vet=off", "-cover", "-coverpkg="+p.path, "-o", plain.file, t.path); err != nil {
		return err
	}
	wanted, err := regexp.Compile(r.run)
	if err != nil {
		return err
	}
	unwanted, err := regexp.Compile(cmp.Or(r.skip, "^$"))
	if err != nil {
		return err
	}
	names, err := plain.command(0, "-test.list=.").Output()
	if err != nil {
		return err
	}
	profile := filepath.Join(r.dir, "cover.out")
	for _, name := range strings.Fields(string(names)) {
		if !wanted.MatchString(name) || unwanted.MatchString(name) || strings.HasPrefix(name, "Benchmark") {
			continue
		}
		if out, err := plain.command(0, only(name), "-test.coverprofile="+profile).CombinedOutput(); err != nil {
			return fmt.Errorf("%s of %s fails without mutants: %w\n%s", name, t.path, err, out)
		}
		text, err := os.ReadFile(profile)
		if err != nil {
			return err
		}
		if reached := p.reached(text); len(reached) > 0 {
			t.tests = append(t.tests, &test{name: name, reached: reached})
		}
	}
	return nil
}

// only is the flag that runs tests by their names.
func only(names ...string) string { return "-test.run=^(" + strings.Join(names, "|") + ")$" }

// reached reads a profile: which lines of a package are reached, as FILE:LINE.
func (p *pkg) reached(profile []byte) map[string]bool {
	reached := map[string]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(profile)); lines.Scan(); {
		file, block, _ := strings.Cut(strings.TrimPrefix(lines.Text(), p.path+"/"), ":")
		var first, from, last, to, statements, count int
		if n, _ := fmt.Sscanf(block, "%d.%d,%d.%d %d %d", &first, &from, &last, &to, &statements, &count); n < 6 || count == 0 {
			continue
		}
		for ; first <= last; first++ {
			reached[strings.TrimPrefix(fmt.Sprintf("%s/%s:%d", p.dir, file, first), "./")] = true
		}
	}
	return reached
}

// reaches reports whether a test reaches a mutant. What is outside of functions runs before all tests.
func (t *test) reaches(m *mutant) bool {
	return m.in == "" || t.reached[m.line()] || t.reached[fmt.Sprintf("%s:%d", m.file.name, m.head)]
}

// reaches reports whether any test reaches a mutant.
func (r *runner) reaches(m *mutant) bool {
	return m.in == "" || slices.ContainsFunc(r.programs, func(t *program) bool {
		return slices.ContainsFunc(t.tests, func(t *test) bool { return t.reaches(m) })
	})
}

// baseline runs the tests with no mutant, and measures how long they take. A test that
// does not hold with conditions in the code, such as one that counts allocations, is
// left out.
func (r *runner) baseline() {
	for _, t := range r.programs {
		t.tests = slices.DeleteFunc(t.tests, func(one *test) bool {
			began := time.Now()
			err := t.command(0, only(one.name)).Run()
			one.takes = time.Since(began)
			if err != nil && interrupted.Err() == nil {
				fmt.Printf("left out, as it fails without a mutant: %s of %s\n", one.name, t.path)
			}
			return err != nil
		})
	}
}

// command is a run of a test program with a mutant, or with none for 0.
func (t *program) command(id int, flags ...string) *exec.Cmd {
	limited := fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, memory)
	c := start("sh", append([]string{"-c", limited, t.file}, append(slices.Clone(t.flags), flags...)...)...)
	c.Dir = t.dir
	c.Env = append(os.Environ(), fmt.Sprintf("MUTANT=%d", id))
	return c
}

var failing = regexp.MustCompile(`(?m)^--- FAIL: ([^/ ]+)|^panic: test timed out after .*\n\s*running tests:\n\s*([^/ ]+)`)

// kills reports whether tests notice a mutant. Of those that reach it the ones that noticed most for their time are
// asked first, for half a second, then those after them for twice that time, and so on.
func (r *runner) kills(m *mutant) (bool, error) {
	for _, t := range r.programs {
		var left []*test
		for _, one := range t.tests {
			if one.reaches(m) {
				left = append(left, one)
			}
		}
		worth := func(t *test) float64 { return float64(t.kills+1) / (t.takes + 20*time.Millisecond).Seconds() }
		slices.SortStableFunc(left, func(a, b *test) int { return cmp.Compare(worth(b), worth(a)) })
		for limit := time.Second / 2; len(left) > 0; limit *= 2 {
			var names []string
			var takes time.Duration
			for len(names) < len(left) && (len(names) == 0 || takes+left[len(names)].takes <= limit) {
				takes += left[len(names)].takes
				names = append(names, left[len(names)].name)
			}
			timeout := 10*takes + 3*time.Second
			out, err := t.command(m.id, only(names...), "-test.failfast", "-test.timeout="+timeout.String()).CombinedOutput()
			if interrupted.Err() != nil {
				return false, interrupted.Err()
			}
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				return false, err
			}
			if err != nil {
				found := failing.FindSubmatch(out)
				for _, one := range left {
					if found != nil && one.name == strings.TrimSpace(string(found[1])+string(found[2])) {
						one.kills++
					}
				}
				return true, nil
			}
			left = left[len(names):]
		}
	}
	return false, nil
}
