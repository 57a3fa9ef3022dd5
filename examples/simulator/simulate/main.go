package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/preempt-go/preempt/examples/simulator"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, stop))
}

// errFlags is the error for flags that cannot be read.
var errFlags = errors.New("see -h")

// command is what the flags say.
type command struct {
	synthetic       simulator.Synthetic
	settings        simulator.Settings
	trace, data     string
	policies        []string
	csv, page, file string
}

func read(args []string, stdout io.Writer) (*command, error) {
	c := &command{}
	f := flag.NewFlagSet("simulate", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Uint64Var(&c.synthetic.Seed, "seed", 1, "of the synthetic farm")
	f.IntVar(&c.synthetic.Nodes, "nodes", 50, "of the synthetic farm, with 8 GPUs each")
	f.IntVar(&c.synthetic.Jobs, "jobs", 8000, "that come to it")
	f.Float64Var(&c.synthetic.Load, "load", 1, "how much of the farm they ask for on average")
	f.StringVar(&c.trace, "trace", "", "a recorded farm in place of the synthetic one: "+strings.Join(simulator.Recorded, ", "))
	f.StringVar(&c.data, "data", "", "the folder of the recorded farms; needed with -trace")
	f.DurationVar(&c.settings.Grace, "grace", 30*time.Second, "between being told to go and being gone")
	f.DurationVar(&c.settings.Checkpoint, "checkpoint", 0, "how often jobs save their progress; 0: never")
	f.DurationVar(&c.settings.Retry, "retry", 5*time.Minute, "how often those who wait are asked about again where the policy heeds the time")
	f.DurationVar(&c.settings.Until, "until", 0, "the end; 0: when all is done, or the recording ends")
	f.StringVar(&c.csv, "csv", "", "file for the numbers as CSV")
	f.StringVar(&c.page, "html", "", "file for the report as a page")
	f.StringVar(&c.file, "state", "", "file for how far it is: written when it is interrupted, and every minute")
	f.Func("policy", "a built-in policy or NAME=OPTIONS as JSON; may be repeated (default: none, default, kubernetes136, guaranteed, work, tie)", func(v string) error {
		c.policies = append(c.policies, v)
		return nil
	})
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		f.SetOutput(stdout)
		f.Usage()
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w; %w", err, errFlags)
	case f.NArg() > 0:
		return nil, fmt.Errorf("%q is not a flag; %w", f.Arg(0), errFlags)
	case c.trace != "" && c.data == "":
		return nil, fmt.Errorf("-trace reads the folder that -data names; %w", errFlags)
	case c.synthetic.Nodes < 1 || c.synthetic.Jobs < 1 || !(c.synthetic.Load > 0):
		return nil, fmt.Errorf("-nodes, -jobs and -load are above zero; %w", errFlags)
	case min(c.settings.Grace, c.settings.Checkpoint, c.settings.Retry, c.settings.Until) < 0:
		return nil, fmt.Errorf("-grace, -checkpoint, -retry and -until are not below zero; %w", errFlags)
	}
	return c, nil
}

// run is the command. It ends early when something comes from stop.
func run(args []string, stdout, stderr io.Writer, stop <-chan os.Signal) (status int) {
	c, err := read(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var done bool
	if err == nil {
		done, err = c.simulate(stdout, stderr, stop)
	}
	switch {
	case errors.Is(err, errFlags):
		status = 2
	case err != nil:
		status = 1
	case !done:
		return 3
	default:
		return 0
	}
	fmt.Fprintln(stderr, "simulate:", strings.ReplaceAll(err.Error(), "\n", "; "))
	return status
}

// simulate compares, and writes the reports; done is false if it was interrupted.
func (c *command) simulate(stdout, stderr io.Writer, stop <-chan os.Signal) (done bool, err error) {
	farm, title := c.synthetic.Farm(), fmt.Sprintf("Policies on a synthetic farm, seed %d", c.synthetic.Seed)
	if c.trace != "" {
		var until time.Duration
		if farm, until, err = simulator.ReadRecorded(c.data, c.trace); err != nil {
			return false, fmt.Errorf("%w; %w", err, errFlags)
		}
		if title = "Policies on " + c.trace; c.settings.Until == 0 {
			c.settings.Until = until
		}
	}
	var policies []simulator.Policy
	if len(c.policies) == 0 {
		policies = simulator.BuiltIn(farm.Measured)
	}
	for _, text := range c.policies {
		p, err := simulator.ReadPolicy(text, farm.Measured)
		if err != nil {
			return false, fmt.Errorf("%w; %w", err, errFlags)
		}
		policies = append(policies, p)
	}
	comparison, err := simulator.Compare(farm, c.settings, policies)
	if err != nil {
		return false, fmt.Errorf("%w; %w", err, errFlags)
	}
	if done, err = c.drive(comparison, stderr, stop); !done || err != nil {
		return false, err
	}
	outcomes := comparison.Outcomes()
	return true, errors.Join(
		simulator.WriteTable(stdout, outcomes),
		write(c.csv, func(w io.Writer) error { return simulator.WriteCSV(w, outcomes) }),
		write(c.page, func(w io.Writer) error { return simulator.WritePage(w, farm, title, outcomes) }),
	)
}

// write writes a file as a whole, if it has a name.
func write(name string, content func(w io.Writer) error) error {
	if name == "" {
		return nil
	}
	part := name + ".part"
	f, err := os.Create(part)
	if err != nil {
		return err
	}
	if err := errors.Join(content(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(part, name)
}

// drive goes through a comparison, from its file if there is one. done is false if it was
// interrupted, and the file says how far it is.
func (c *command) drive(comparison *simulator.Comparison, stderr io.Writer, stop <-chan os.Signal) (done bool, err error) {
	if err := c.resume(comparison); err != nil {
		return false, err
	}
	save := func() error { return write(c.file, comparison.Save) }
	begin := time.Now()
	told, saved := begin.Add(time.Second), begin // nothing is told for two seconds
	for steps := 0; ; steps++ {
		more, err := comparison.Step()
		if err != nil {
			return false, err
		}
		if !more {
			break
		}
		if steps%256 != 0 { // the clock is read now and then
			continue
		}
		select {
		case <-stop:
			if c.file != "" {
				fmt.Fprintf(stderr, "interrupted; the same command goes on from %s\n", c.file)
			}
			return false, save()
		default:
		}
		now := time.Now()
		if now.Sub(told) > time.Second {
			told = now
			tell(stderr, comparison, now.Sub(begin))
		}
		if now.Sub(saved) > time.Minute {
			saved = now
			if err := save(); err != nil {
				return false, err
			}
		}
	}
	if c.file != "" {
		if err := os.Remove(c.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return true, nil
}

func (c *command) resume(comparison *simulator.Comparison) error {
	if c.file == "" {
		return nil
	}
	f, err := os.Open(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := comparison.Resume(f); err != nil {
		return fmt.Errorf("%s: %w", c.file, err)
	}
	return nil
}

// tell is the progress.
func tell(stderr io.Writer, comparison *simulator.Comparison, took time.Duration) {
	if s := comparison.Current(); s != nil {
		fmt.Fprintf(stderr, "%.0f s: policy %s, %.0f %% of the jobs have come, %d events\n",
			took.Seconds(), s.Policy().Name, 100*s.Arrived(), s.Events())
	}
}
