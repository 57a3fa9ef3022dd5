package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
)

// diary stands for a clock and a cluster: what happens when, and what is told of it.
type diary struct {
	now    time.Time
	events []event // in order of time
	out    io.Writer
}

type event struct {
	at   time.Time
	what func() error
}

// after lets something happen in a while; of one moment, in the order in which it was said.
func (d *diary) after(wait time.Duration, what func() error) {
	e := event{d.now.Add(wait), what}
	at, _ := slices.BinarySearchFunc(d.events, e, func(x, e event) int { return cmp.Or(x.at.Compare(e.at), -1) })
	d.events = slices.Insert(d.events, at, e)
}

// next is what happens next, and when that is; nil: nothing does.
func (d *diary) next() func() error {
	if len(d.events) == 0 {
		return nil
	}
	e := d.events[0]
	d.events, d.now = d.events[1:], e.at
	return e.what
}

func (d *diary) say(format string, args ...any) {
	fmt.Fprintf(d.out, d.now.Format(time.TimeOnly)+" "+format+"\n", args...)
}
