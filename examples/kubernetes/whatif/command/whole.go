package command

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/examples/kubernetes/whatif/manifest"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/check"
)

// Whole is the answer about a manifest or a drained node.
type Whole struct {
	Title    string            `json:"name"`
	Pods     int               `json:"pods"`    // that were asked about
	Placed   int               `json:"placed"`  // of them: they run somewhere, and nothing holds them up
	Victims  []string          `json:"victims"` // namespace/name of the pods that others evict, sorted
	Outcomes []cascade.Outcome `json:"outcomes"`
	Notes    []string          `json:"notes,omitempty"`
	Problems []string          `json:"problems,omitzero"` // with -verify
}

// whole answers for a manifest or for the pods of a drained node.
func (c *config) whole(stdin io.Reader, stdout, stderr io.Writer) error {
	p := startProgress(stderr)
	defer p.stop()
	dump, err := c.cluster(stdin, stderr, p)
	if err != nil {
		return err
	}
	o := c.asked(c.rules, nil)
	o.Candidates = false
	planner, err := preemption.NewPlanner(&dump.Snapshot, o)
	if err != nil {
		return dump.Locate(err)
	}
	p.doing(func() string { return "asking" })
	w := &Whole{Notes: c.notes(dump)}
	if c.verify {
		w.Problems = []string{}
	}
	w.Title = strings.Join(c.drain, ", ")
	var wanted *manifest.Manifest
	if len(c.apply) > 0 {
		if wanted, err = c.applied(stdin, w, dump, planner); err != nil {
			return fmt.Errorf("-apply: %w", err)
		}
	}
	all, err := cascade.New(planner, cascade.Options{Look: func(p preemption.Preemptor, r *preemption.Result) {
		if c.verify {
			for _, problem := range check.Verify(planner.Snapshot(), o, p, r) {
				w.Problems = append(w.Problems, problem.String())
			}
		}
	}})
	switch {
	case err != nil:
		return err
	case wanted != nil:
		err = wanted.Ask(all)
	default:
		err = all.Drain(c.drain)
	}
	if err != nil {
		return dump.Locate(err)
	}
	w.count(all.Outcomes)
	r := &report{problems: w.Problems}
	if err := c.tell(stdout, w, r, func() { c.writeWhole(r, w) }); err != nil {
		return err
	}
	if err := untrue(w.Problems); err != nil {
		return err
	}
	if c.check && w.Placed < w.Pods {
		return errNoPlace
	}
	return nil
}

// applied makes what the manifests have part of the cluster.
func (c *config) applied(stdin io.Reader, w *Whole, dump *convert.Dump, planner *preemption.Planner) (*manifest.Manifest, error) {
	loader := c.reading(dump.Snapshot.Time).Loader()
	for _, name := range c.apply {
		in, err := open(name, stdin)
		if err != nil {
			return nil, err
		}
		err = errors.Join(loader.Read(name, in), in.Close())
		if err != nil {
			return nil, err
		}
	}
	read, err := loader.Dump()
	if err == nil {
		err = recognized(read)
	}
	if err != nil {
		return nil, err
	}
	m, err := manifest.Add(planner, &dump.Snapshot, read, c.apply)
	if err != nil {
		return nil, err
	}
	w.Title = strings.Join(c.apply, ", ")
	w.Notes = append(append(w.Notes, inputNotes(read, math.MaxInt)...), m.Notes...)
	return m, nil
}

// count sums up what became of whom.
func (w *Whole) count(outcomes []cascade.Outcome) {
	w.Victims, w.Outcomes = []string{}, outcomes
	if w.Outcomes == nil {
		w.Outcomes = []cascade.Outcome{}
	}
	for i := range outcomes {
		if o := &outcomes[i]; direct(o) {
			w.Pods += o.Pods
			if o.Status != cascade.Held {
				w.Placed += len(o.Places)
			}
		}
		w.Victims = append(w.Victims, podNames(outcomes[i].Victims)...)
	}
	slices.Sort(w.Victims)
}

// writeWhole writes w to r.
func (c *config) writeWhole(r *report, w *Whole) {
	notes := w.Notes
	if c.sample {
		notes = notes[1:] // it is said already
	}
	what := "applied"
	if len(c.drain) > 0 {
		what = "drained"
	}
	r.Printf("%s %s: %s", w.Title, what, pods(w.Pods, "", ""))
	if w.Pods > 0 {
		r.Printf(": %s", tally(w.Outcomes, direct))
	}
	r.Printf(".\n")
	r.outcomes("POD OR GROUP", w.Outcomes, direct)
	if n := len(w.Victims); n > 0 {
		r.Printf("\n%s for that", pods(n, " is evicted", " are evicted"))
		if of := tally(w.Outcomes, indirect); of != "" {
			r.Printf(": %s", of)
		}
		r.Printf(".\n")
	}
	r.outcomes("EVICTED", w.Outcomes, indirect)
	r.listed(notes)
	r.verified()
}
