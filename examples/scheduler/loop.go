package main

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// scheduler is the loop. The planner is all that it knows of nodes and pods.
type scheduler struct {
	diary   // what happens, and when
	planner *preemption.Planner
	grace   time.Duration   // between being told to go and being gone
	queue   []*job          // who waits, in order of priority and arrival
	jobs    map[string]*job // who waits or runs, by name
}

// run is the loop: something happens, and those who wait are asked about.
func (s *scheduler) run() error {
	for what := s.next(); what != nil; what = s.next() {
		if err := errors.Join(s.planner.SetTime(s.now), what(), s.schedule()); err != nil {
			return err
		}
	}
	return nil
}

// submit takes a job in.
func (s *scheduler) submit(j *job) error {
	s.jobs[j.name] = j
	s.wait(j)
	return j.submit(s.planner)
}

// wait puts a job into the queue, also one that has been evicted: as it arrived.
func (s *scheduler) wait(j *job) {
	j.verdict, j.parked = "", false
	at, _ := slices.BinarySearchFunc(s.queue, j, func(x, j *job) int {
		return cmp.Or(cmp.Compare(j.priority, x.priority), x.arrived.Compare(j.arrived), -1)
	})
	s.queue = slices.Insert(s.queue, at, j)
}

// schedule asks about those who have come, and those whom what has happened may concern, the
// most important first, and does what is answered. Park is cheap, and remembers who has to
// wait, for Wake; what is answered anew is asked again, in full.
func (s *scheduler) schedule() error {
	for _, p := range s.planner.Wake() {
		s.jobs[p.Name].parked = false
	}
	for _, j := range slices.Clone(s.queue) {
		if j.parked {
			continue
		}
		short, err := s.planner.Park(j.ask())
		if err != nil {
			return err
		}
		j.parked = short.Verdict != preemption.Fits && short.Verdict != preemption.Feasible
		if short.Verdict == j.verdict {
			continue // it waits as before
		}
		plan, err := s.planner.Preempt(j.ask())
		if err != nil {
			return err
		}
		switch j.verdict = plan.Verdict; plan.Verdict {
		case preemption.Fits:
			err = s.bind(j, plan)
		case preemption.Feasible:
			err = s.evict(j, plan)
		default:
			s.say("%s waits: %s", j.name, plan.Message)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bind lets j run where the plan says.
func (s *scheduler) bind(j *job, plan *preemption.Result) error {
	for _, n := range plan.Nominations {
		if err := s.planner.Bind(n.Pod, n.Node); err != nil {
			return err
		}
		s.say("%s runs on %s", n.Pod.Name, n.Node)
	}
	s.queue = slices.DeleteFunc(s.queue, func(x *job) bool { return x == j })
	run := j.runs
	s.after(j.takes, func() error {
		if j.runs != run {
			return nil // it was cut short
		}
		s.say("%s is done", j.name)
		delete(s.jobs, j.name)
		return j.remove(s.planner)
	})
	return nil
}

// evict tells the victims of a plan to go. What they leave is held for j: until they have
// gone the answer about it is that it waits, and then that it fits.
func (s *scheduler) evict(j *job, plan *preemption.Result) error {
	s.say("%s %s", j.name, plan.Message)
	if err := s.planner.Apply(plan); err != nil {
		return err
	}
	j.verdict = preemption.Waiting
	for _, victim := range plan.Victims {
		s.leave(s.jobs[victim.Name])
	}
	return nil
}

// leave gives a job that has to go its grace period; then it waits again.
func (s *scheduler) leave(j *job) {
	if j.leaving {
		return
	}
	s.say("%s has %s to leave", j.name, s.grace)
	j.leaving = true
	run := j.runs
	s.after(s.grace, func() error {
		if j.runs != run {
			return nil // it was done before
		}
		s.say("%s has left", j.name)
		s.wait(j)
		return j.end(s.planner.Requeue)
	})
}

// add takes a node in.
func (s *scheduler) add(node preemption.Node) error {
	s.say("%s is added", node.Name)
	return s.planner.SetNode(node)
}

// drain closes a node, and takes it away once those who run there have gone.
func (s *scheduler) drain(name string) error {
	s.say("%s is drained", name)
	var node preemption.Node
	var there []*job
	err := s.planner.View(func(v preemption.View) {
		node = *v.Node(name)
		for pod := range v.PodsOn(name) {
			there = append(there, s.jobs[cmp.Or(pod.Group, pod.Name)])
		}
	})
	if err != nil {
		return err
	}
	for _, j := range there {
		s.leave(j)
	}
	s.after(s.grace, func() error {
		s.say("%s is gone", name)
		return s.planner.RemoveNode(name)
	})
	node.Unschedulable = true
	return s.planner.SetNode(node)
}
