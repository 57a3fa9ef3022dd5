package simulator

import (
	"cmp"
	"time"

	"github.com/google/btree"
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
type agenda = btree.BTreeG[event]

func newAgenda() *agenda {
	return btree.NewG(32, func(a, b event) bool { return compareEvents(a, b) < 0 })
}

// plan notes what will happen to a job's present run.
func (s *Simulation) plan(kind int, job int32, after time.Duration) {
	s.agenda.ReplaceOrInsert(event{s.now + after, kind, job, s.jobs[job].Run})
}

// remind plans to ask everybody again.
func (s *Simulation) remind() {
	retry := s.settings.Retry
	if retry == 0 {
		retry = 5 * time.Minute
	}
	s.agenda.ReplaceOrInsert(event{At: s.now + retry, Kind: alarm})
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
	if first, ok := s.agenda.Min(); ok {
		at = min(at, first.At)
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
	if first, ok := s.agenda.Min(); ok && compareEvents(first, e) < 0 {
		return s.agenda.DeleteMin()
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
