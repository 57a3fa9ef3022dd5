package simulator

import (
	"encoding/binary"
	"slices"
)

// queues hold who waits, those who are alike in one. The answer about the first of them is
// the answer about all, until room has come up where they could go.
type queues struct {
	queue  []queue
	of     []int32 // by job; of one that was evicted, where the policy heeds that, the next
	filled []int32 // the queues that are not empty
	open   []int32 // those of them whose first is to be asked about

	all int64 // how many wait

	rooms [][]int64 // by level
	reach int       // evicts who is so many levels below it or more; the number of levels: nobody
	room  []int64
}

// queue is those who wait and are alike, by number, which is by arrival.
type queue struct {
	jobs   []int32
	filled int // where it stands among the filled, from 1; 0: it is empty
	open   bool
	level  int
}

func newQueues(list []*Job, b *books, p Policy) queues {
	q := queues{reach: p.reach(len(b.levels)), rooms: make([][]int64, len(b.levels))}
	known := map[string]int32{}
	var key []byte
	for i, j := range list {
		b.enter(j)
		a := &b.amounts[i]
		key = binary.AppendVarint(key[:0], int64(a.level))
		key = binary.AppendVarint(key, a.pods)
		for _, v := range a.row {
			key = binary.AppendVarint(key, v)
		}
		key = append(key, j.Within...)
		number, ok := known[string(key)]
		if !ok {
			number = int32(len(q.queue))
			known[string(key)] = number
			q.queue = append(q.queue, queue{level: a.level}, queue{level: a.level})
		}
		q.of = append(q.of, number)
	}
	return q
}

// queueOf is the queue that a job waits in.
func (s *Simulation) queueOf(j int32) int32 {
	if s.policy.remembers() && len(s.jobs[j].Evictions) > 0 {
		return s.of[j] + 1
	}
	return s.of[j]
}

// wait lets a job wait.
func (s *Simulation) wait(j int32) {
	l := &s.jobs[j]
	l.State, l.Since = waiting, s.now
	s.enqueue(j)
}

// enqueue puts a job into its queue. It is asked about unless somebody like it waits already,
// and is not.
func (s *Simulation) enqueue(j int32) {
	n := s.queueOf(j)
	q := &s.queue[n]
	at, _ := slices.BinarySearch(q.jobs, j)
	q.jobs = slices.Insert(q.jobs, at, j)
	s.all++
	if q.filled == 0 {
		s.filled = append(s.filled, n)
		q.filled = len(s.filled)
		s.wake(n)
	}
}

// leaveQueue takes the first of queue n out.
func (s *Simulation) leaveQueue(n int32) {
	q := &s.queue[n]
	q.jobs = q.jobs[1:]
	s.all--
	if len(q.jobs) > 0 {
		return
	}
	last := s.filled[len(s.filled)-1]
	s.filled[q.filled-1] = last
	s.queue[last].filled = q.filled
	s.filled = s.filled[:len(s.filled)-1]
	q.filled, q.jobs = 0, nil
}

// wake lets the first of queue n be asked about.
func (s *Simulation) wake(n int32) {
	if q := &s.queue[n]; !q.open {
		q.open = true
		s.open = append(s.open, n)
	}
}

func (s *Simulation) wakeAll() {
	for _, n := range s.filled {
		s.wake(n)
	}
}

// wakeThose wakes the queues for whose first there may be room where some has come up.
func (s *Simulation) wakeThose() {
	for _, m := range s.stale {
		if !s.machines[m].up {
			continue
		}
		for level := range s.levels {
			s.rooms[level] = s.below(s.rooms[level], m, level-s.reach+1)
		}
		for _, n := range s.filled {
			q := &s.queue[n]
			if a := &s.amounts[q.jobs[0]]; !q.open && seats(s.rooms[q.level], a.row, 1) > 0 && s.seatsAll(q.jobs[0], m) {
				s.wake(n)
			}
		}
	}
	s.stale = s.stale[:0]
}

// seatsAll reports whether a gang, one of whose pods may have room on machine m, may have
// room for all of them.
func (s *Simulation) seatsAll(j, m int32) bool {
	a := &s.amounts[j]
	missing := a.pods
	if missing == 1 {
		return true
	}
	split := s.splits[s.list[j].Within]
	for _, m := range split.in[split.of[m]] {
		if !s.machines[m].up {
			continue
		}
		s.room = s.below(s.room, m, a.level-s.reach+1)
		if missing -= seats(s.room, a.row, missing); missing <= 0 {
			return true
		}
	}
	return false
}

// first is the open queue whose first is asked about next: the most important, and of
// those the one that arrived first. It is -1 if none is open.
func (s *Simulation) first() int32 {
	best := int32(-1)
	for _, n := range s.open {
		q := &s.queue[n]
		if b := best; b < 0 || q.level > s.queue[b].level || q.level == s.queue[b].level && q.jobs[0] < s.queue[b].jobs[0] {
			best = n
		}
	}
	return best
}

// close ends the asking about queue n.
func (s *Simulation) close(n int32) {
	s.queue[n].open = false
	s.open = slices.DeleteFunc(s.open, func(x int32) bool { return x == n })
}
