package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := command(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// settings are what the flags say.
type settings struct {
	tests      string  // packages whose tests are run beside the mutated package's own, by spaces
	run, skip  string  // expressions for the names of tests; "": all, none
	among      string  // a file with what an earlier run printed: mutants that neither reached nor killed; "": all
	equivalent string  // the file that lists what changes no answer; "": none
	number     int     // how many mutants, by chance; 0: all
	seed       uint64  // of that chance, and of rapid's
	least      float64 // percentage of mutants that have to be killed
	short      bool    // as of go test
	list       bool    // lists the mutants and runs nothing
}

func command(args []string, w io.Writer) error {
	var s settings
	f := flag.NewFlagSet("mutate", flag.ContinueOnError)
	f.StringVar(&s.tests, "tests", "", "packages whose tests are run beside the mutated package's own")
	f.StringVar(&s.run, "run", "", "tests whose names match (all)")
	f.StringVar(&s.skip, "skip", "", "not those whose names match")
	f.StringVar(&s.among, "among", "", "mutants that an earlier run printed into this file")
	f.StringVar(&s.equivalent, "equivalent", filepath.Join(".ci", "tools", "equivalent.txt"), "mutants that change no answer, with their reasons")
	f.IntVar(&s.number, "n", 0, "how many mutants, by chance (0: all)")
	f.Uint64Var(&s.seed, "seed", 1, "of -n, and of rapid")
	f.Float64Var(&s.least, "least", 0, "percentage that has to be killed")
	f.BoolVar(&s.short, "short", false, "as of go test")
	f.BoolVar(&s.list, "list", false, "list the mutants and run nothing")
	f.Func("C", "a folder to change to first", os.Chdir)
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return errors.New("usage: mutate [flags] PACKAGES")
	}
	for _, path := range f.Args() {
		if err := s.mutate(path, w); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// mutate tries the mutants of one package.
func (s *settings) mutate(path string, w io.Writer) error {
	began := time.Now()
	p, err := load(path)
	if err != nil {
		return err
	}
	all := p.mutants()
	known, err := s.known(p, all)
	if err != nil {
		return err
	}
	if s.list {
		for _, m := range all {
			fmt.Fprintln(w, m)
		}
		return nil
	}
	r, err := s.build(p, all, append([]string{path}, strings.Fields(s.tests)...))
	if err != nil {
		return err
	}
	defer r.close()
	r.baseline()
	printed, err := s.printed()
	if err != nil {
		return err
	}
	var tried []*mutant
	unreached, equivalent := 0, 0
	for _, m := range all {
		switch {
		case s.among != "" && !strings.Contains(printed, ": "+m.String()+"\n"):
		case known[m.key()]:
			equivalent++
		case !r.reaches(m):
			unreached++
			fmt.Fprintln(w, "not reached:", m)
		default:
			tried = append(tried, m)
		}
	}
	covered := len(tried)
	if s.number > 0 && s.number < covered {
		chance := rand.New(rand.NewPCG(s.seed, 0))
		chance.Shuffle(len(tried), func(i, j int) { tried[i], tried[j] = tried[j], tried[i] })
		tried = tried[:s.number]
		slices.SortFunc(tried, func(a, b *mutant) int { return slices.Index(all, a) - slices.Index(all, b) })
	}
	killed := 0
	for _, m := range tried {
		dead, err := r.kills(m)
		if err != nil {
			return err
		}
		if dead {
			killed++
			continue
		}
		fmt.Fprintln(w, "survived:", m)
	}
	share := 100.0
	if len(tried) > 0 {
		share = 100 * float64(killed) / float64(len(tried))
	}
	fmt.Fprintf(w, "%s: %d of %d killed (%.1f %%), %d survived; reached %d, not reached %d, equivalent %d; seed %d, %d s\n",
		p.dir, killed, len(tried), share, len(tried)-killed, covered, unreached, equivalent, s.seed, int(time.Since(began).Seconds()))
	if share < s.least {
		return fmt.Errorf("%.1f %% killed, fewer than %g %%", share, s.least)
	}
	return nil
}

// printed reads what an earlier run printed.
func (s *settings) printed() (string, error) {
	if s.among == "" {
		return "", nil
	}
	text, err := os.ReadFile(s.among)
	return string(text), err
}

// known reads which mutants of a package change no answer. A line has a mutant as it is
// printed, without the number of its line, and a reason after " # ".
func (s *settings) known(p *pkg, all []*mutant) (map[string]bool, error) {
	known := map[string]bool{}
	if s.equivalent == "" {
		return known, nil
	}
	text, err := os.ReadFile(s.equivalent)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason, _ := strings.Cut(line, " # ")
		key = strings.TrimSpace(key)
		if strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s:%d: no reason after %q", s.equivalent, i+1, " # ")
		}
		file, _, _ := strings.Cut(key, ": ")
		if filepath.ToSlash(filepath.Dir(file)) != p.dir {
			continue
		}
		if !slices.ContainsFunc(all, func(m *mutant) bool { return m.key() == key }) {
			return nil, fmt.Errorf("%s:%d: no mutant is %s", s.equivalent, i+1, key)
		}
		known[key] = true
	}
	return known, nil
}
