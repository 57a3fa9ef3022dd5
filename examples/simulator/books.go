package simulator

import (
	"maps"
	"slices"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// books say who runs where, in numbers: what is measured is read from them, and whom it may
// be worth to ask about again. What fits is for the planner to say.
type books struct {
	resources []string // in order of name
	levels    []int32  // the priorities, from the lowest
	machines  []machine
	byName    map[string]int32
	splits    map[string]*split // by the label that gangs run within
	stale     []int32           // machines where room has come up since those who wait were asked about

	amounts  []amount // by job
	measured int      // among the resources; -1: none
	capacity int64    // of the resource that is measured
	used     int64
}

// amount is what each pod of a job asks for, and the level of its priority.
type amount struct {
	row   []int64 // by resource
	level int
	pods  int64
}

// machine is a node.
type machine struct {
	node     preemption.Node
	up       bool
	free     []int64
	clear    time.Duration // until then victims are still there, and whoever comes does not begin to run
	measured int64         // what it has of the resource that is measured
	jobs     []int32       // of the pods on it
}

// split is the machines by the value of a label.
type split struct {
	of     []int32 // by machine
	in     [][]int32
	number map[string]int32 // by value
}

func newBooks(farm *Farm) books {
	b := books{byName: map[string]int32{}, splits: map[string]*split{}, measured: -1}
	names := map[string]bool{}
	levels := map[int32]bool{}
	for i := range farm.Jobs {
		for name := range farm.Jobs[i].Requests {
			names[name] = true
		}
		levels[farm.Jobs[i].Priority] = true
		if farm.Jobs[i].Pods > 1 {
			b.splits[farm.Jobs[i].Within] = &split{number: map[string]int32{}}
		}
	}
	b.resources, b.levels = slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(levels))
	b.measured = slices.Index(b.resources, farm.Measured)
	for i := range farm.Nodes {
		b.add(farm.Nodes[i])
	}
	return b
}

// enter notes what a job asks for.
func (b *books) enter(j *Job) {
	a := amount{row: make([]int64, len(b.resources)), pods: int64(max(j.Pods, 1))}
	for r, name := range b.resources {
		a.row[r] = j.Requests[name]
	}
	a.level, _ = slices.BinarySearch(b.levels, j.Priority)
	b.amounts = append(b.amounts, a)
}

// add takes a node in, or one that was away.
func (b *books) add(n preemption.Node) {
	m, ok := b.byName[n.Name]
	if !ok {
		m = int32(len(b.machines))
		b.byName[n.Name] = m
		b.machines = append(b.machines, machine{})
	}
	for key, s := range b.splits {
		s.put(m, n.Labels[key])
	}
	at := &b.machines[m]
	if at.up {
		b.capacity -= at.measured
	}
	at.node, at.up, at.free = n, true, make([]int64, len(b.resources))
	for r, name := range b.resources {
		at.free[r] = n.Allocatable[name]
	}
	for _, j := range at.jobs {
		for r, v := range b.amounts[j].row {
			at.free[r] -= v
		}
	}
	if at.measured = 0; b.measured >= 0 {
		at.measured = n.Allocatable[b.resources[b.measured]]
	}
	b.capacity += at.measured
	b.stale = append(b.stale, m)
}

// down takes a node away, on which nobody runs any more.
func (b *books) down(m int32) {
	b.machines[m].up = false
	b.capacity -= b.machines[m].measured
}

// put takes a machine in, the next or one that had another value.
func (s *split) put(m int32, value string) {
	number, ok := s.number[value]
	if !ok {
		number = int32(len(s.in))
		s.number[value] = number
		s.in = append(s.in, nil)
	}
	if int(m) < len(s.of) {
		if s.of[m] == number {
			return
		}
		was := &s.in[s.of[m]]
		*was = slices.DeleteFunc(*was, func(other int32) bool { return other == m })
		s.of[m] = number
	} else {
		s.of = append(s.of, number)
	}
	s.in[number] = append(s.in[number], m)
}

// occupy books a job's pods on the machines of places.
func (b *books) occupy(j int32, places []int32) {
	for _, m := range places {
		at := &b.machines[m]
		for r, v := range b.amounts[j].row {
			at.free[r] -= v
		}
		at.jobs = append(at.jobs, j)
	}
	b.used += b.weight(j)
}

func (b *books) vacate(j int32, places []int32) {
	for _, m := range places {
		at := &b.machines[m]
		for r, v := range b.amounts[j].row {
			at.free[r] += v
		}
		i, last := slices.Index(at.jobs, j), len(at.jobs)-1
		at.jobs[i] = at.jobs[last]
		at.jobs = at.jobs[:last]
		b.stale = append(b.stale, m)
	}
	b.used -= b.weight(j)
}

// weight is how much a job has of the resource that is measured.
func (b *books) weight(j int32) int64 {
	if b.measured < 0 {
		return 0
	}
	return b.amounts[j].row[b.measured] * b.amounts[j].pods
}

// below writes to room what machine m could offer if all who are below a level left.
func (b *books) below(room []int64, m int32, level int) []int64 {
	at := &b.machines[m]
	room = append(room[:0], at.free...)
	for _, j := range at.jobs {
		if a := &b.amounts[j]; a.level < level {
			for r, v := range a.row {
				room[r] += v
			}
		}
	}
	return room
}

// seats is how many pods of a row of requests room holds, at most so many.
func seats(room, row []int64, most int64) int64 {
	for r, v := range row {
		if v > 0 {
			most = min(most, max(room[r], 0)/v)
		}
	}
	return most
}
