package simulator

import (
	"cmp"
	"container/heap"
	"time"
)

// The kinds of events, in the order in which those of one moment happen.
const (
	finish     = iota // a job's run is complete
	gone              // its grace period is over: it waits
	checkpoint        // it saves its progress, where the policy prices work
	change            // a node comes or goes
	arrival
	alarm // those who wait are asked about again, where the policy heeds the time
)

// event is what happens to a job, or as a change, by its number, at a time.
type event struct {
	At   time.Duration `json:"at"`
	Kind int           `json:"kind"`
	Of   int32         `json:"of"`
	Run  int32         `json:"run"` // of the job: once that run is over, nothing happens
}

func compareEvents(a, b event) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Of, b.Of), cmp.Compare(a.Run, b.Run))
}

// agenda is what will happen, but for arrivals and changes, which are known in order.
type agenda []event

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return compareEvents(a[i], a[j]) < 0 }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push and Pop serve package heap.
func (a *agenda) Push(e any) { *a = append(*a, e.(event)) }

// Pop takes the last one.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	e := (*a)[last]
	*a = (*a)[:last]
	return e
}

// plan notes what will happen to a job's present run.
func (s *Simulation) plan(kind int, job int32, after time.Duration) {
	heap.Push(&s.agenda, event{s.now + after, kind, job, s.jobs[job].Run})
}

// remind plans to ask everybody again.
func (s *Simulation) remind() {
	retry := s.settings.Retry
	if retry == 0 {
		retry = 5 * time.Minute
	}
	heap.Push(&s.agenda, event{At: s.now + retry, Kind: alarm})
}

// peek is when something happens next; ok is false if nothing does.
func (s *Simulation) peek() (at time.Duration, ok bool) {
	at = 1<<63 - 1
	if s.arrived < len(s.list) {
		at = s.list[s.arrived].Arrives
	}
	if s.changed < len(s.changes) {
		at = min(at, s.changes[s.changed].At)
	}
	if len(s.agenda) > 0 {
		at = min(at, s.agenda[0].At)
	}
	return at, at < 1<<63-1
}

// next takes the next event; ok is false if nothing happens any more.
func (s *Simulation) next() (e event, ok bool) {
	const never = 1<<63 - 1
	e.At = never
	if s.arrived < len(s.list) {
		e = event{At: s.list[s.arrived].Arrives, Kind: arrival, Of: int32(s.arrived)}
	}
	if s.changed < len(s.changes) {
		if c := (event{At: s.changes[s.changed].At, Kind: change, Of: int32(s.changed)}); compareEvents(c, e) < 0 {
			e = c
		}
	}
	if len(s.agenda) > 0 && compareEvents(s.agenda[0], e) < 0 {
		return heap.Pop(&s.agenda).(event), true
	}
	switch {
	case e.At == never:
		return e, false
	case e.Kind == arrival:
		s.arrived++
	default:
		s.changed++
	}
	return e, true
}
