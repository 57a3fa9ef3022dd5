package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/preempt-go/preempt/examples/simulator"
)

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
