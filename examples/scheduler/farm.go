package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

func main() {
	if err := morning(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scheduler:", err)
		os.Exit(1)
	}
}

// morning is what happens on the farm: two racks of two nodes, of 8 GPUs each.
func morning(out io.Writer) error {
	nine := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time:  nine,
		Nodes: []preemption.Node{node("a1"), node("a2"), node("b1"), node("b2")},
	}, preemption.Options{})
	if err != nil {
		return err
	}
	s := &scheduler{diary: diary{now: nine, out: out}, planner: planner, grace: 30 * time.Second, jobs: map[string]*job{}}
	for _, j := range []*job{
		{name: "notebook", priority: 50, pods: 1, gpus: 2, takes: 3 * time.Hour, arrived: nine},
		{name: "sweep", priority: 10, pods: 2, gpus: 8, takes: 2 * time.Hour, arrived: nine},
		{name: "batch", priority: 0, pods: 1, gpus: 8, takes: time.Hour, arrived: nine.Add(5 * time.Minute)},
		{name: "eval", priority: 10, pods: 1, gpus: 6, takes: time.Hour, arrived: nine.Add(5 * time.Minute)},
		{name: "train", priority: 100, pods: 2, gpus: 8, takes: time.Hour, arrived: nine.Add(10 * time.Minute)},
		{name: "urgent", priority: 1000, pods: 1, gpus: 4, takes: 10 * time.Minute, arrived: nine.Add(25 * time.Minute)},
		{name: "giant", priority: 100, pods: 3, gpus: 8, takes: time.Hour, arrived: nine.Add(40 * time.Minute)},
	} {
		s.after(j.arrived.Sub(nine), func() error { return s.arrive(j) })
	}
	s.after(20*time.Minute, func() error { return errors.Join(s.add(node("c1")), s.add(node("c2"))) })
	s.after(30*time.Minute, func() error { return s.drain("a2") })
	s.after(50*time.Minute, func() error { return s.add(node("c3")) })
	return s.run()
}

func node(name string) preemption.Node {
	return preemption.Node{
		Name: name, Labels: map[string]string{rack: name[:1]}, Allocatable: preemption.Resources{gpu: 8},
	}
}

// arrive submits a job for the first time.
func (s *scheduler) arrive(j *job) error {
	s.say("%s arrives: priority %d, %d x %d GPUs for %s", j.name, j.priority, j.pods, j.gpus, j.takes)
	return s.submit(j)
}
