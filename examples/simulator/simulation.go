package simulator

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// epoch is the beginning, for the planner.
var epoch = time.Unix(1_000_000_000, 0).UTC()

// Settings say how a farm works, whatever the policy.
type Settings struct {
	Grace      time.Duration // between being told to go and being gone; 0: victims go at once
	Checkpoint time.Duration // how often jobs save their progress; 0: who is evicted begins anew
	Retry      time.Duration // how often those who wait are asked about again where the policy heeds the time; 0: five minutes
	Until      time.Duration // the end; 0: when nothing happens any more
}

// Simulation is one policy on one farm: a planner, and what happens to it.
type Simulation struct {
	farm     *Farm
	settings Settings
	policy   Policy
	planner  *preemption.Planner

	list    []*Job            // by arrival
	number  map[string]int32  // of a job, by name
	one     [1]preemption.Pod // of the question about a pod, and its answer
	short   preemption.Result
	there   []preemption.PodRef // of leave
	changes []Change            // by time
	jobs    []life              // by number
	now     time.Duration
	agenda  *agenda
	arrived int // so many have
	changed int
	events  int64
	alarmed bool // an alarm is planned

	books
	queues
	tally
}

// state is what a job does.
type state uint8

const (
	coming state = iota
	waiting
	running
	leaving // evicted, in its grace period
	done
)

// life is what has become of a job.
type life struct {
	State     state         `json:"state"`
	Run       int32         `json:"run"`              // that have ended
	Places    []int32       `json:"places,omitempty"` // of its pods, where it runs or is nominated
	Since     time.Duration `json:"since"`            // when it began to wait or to run
	Left      time.Duration `json:"left"`             // that it still has to run
	Waited    time.Duration `json:"waited"`
	Evictions []time.Time   `json:"evictions,omitempty"`
	Ran       time.Duration `json:"ran,omitempty"` // before the latest eviction
	Evicted   int32         `json:"evicted,omitempty"`
	Depth     int32         `json:"depth,omitempty"` // how long the chain of evictions is that it is the last victim of
}

// New prepares the simulation of a policy. The farm must not change meanwhile.
func New(farm *Farm, settings Settings, policy Policy) (*Simulation, error) {
	if err := farm.check(); err != nil {
		return nil, err
	}
	s := &Simulation{farm: farm, settings: settings, policy: policy, list: farm.byArrival(), agenda: newAgenda()}
	s.changes = slices.SortedStableFunc(slices.Values(farm.Changes), func(a, b Change) int { return cmp.Compare(a.At, b.At) })
	s.jobs = make([]life, len(s.list))
	s.books = newBooks(farm)
	s.queues = newQueues(s.list, &s.books, policy)
	s.tally = newTally(s.levels)
	s.number = make(map[string]int32, len(s.list))
	for i, j := range s.list {
		s.number[j.Name] = int32(i)
		if j.Takes == 0 && settings.Until == 0 {
			return nil, fmt.Errorf("simulator: job %q never ends, and neither does the simulation: Until is 0", j.Name)
		}
	}
	snapshot := preemption.Snapshot{Time: epoch, Nodes: farm.Nodes}
	for i, j := range s.list {
		if s.jobs[i].Left = j.Takes; j.Node == "" {
			continue
		}
		m, ok := s.byName[j.Node]
		if !ok {
			return nil, fmt.Errorf("simulator: job %q: Node: %q is not a node of the farm", j.Name, j.Node)
		}
		pod := s.pod(int32(i), 0)
		pod.Node, pod.Started = j.Node, epoch
		snapshot.Pods = append(snapshot.Pods, pod)
		s.run(int32(i), m)
		s.arrived++
	}
	var err error
	s.planner, err = preemption.NewPlanner(&snapshot, policy.Options)
	return s, err
}

// Now is how far the simulation has come.
func (s *Simulation) Now() time.Duration { return s.now }

// Events is how many events there have been.
func (s *Simulation) Events() int64 { return s.events }

// Policy is what is simulated.
func (s *Simulation) Policy() Policy { return s.policy }

// Arrived is which part of the jobs has come, from 0 to 1.
func (s *Simulation) Arrived() float64 { return float64(s.arrived) / float64(max(len(s.list), 1)) }

// Planner is the cluster as it is, for reading: Planner.View.
func (s *Simulation) Planner() *preemption.Planner { return s.planner }

// Step lets everything of the next moment happen, and asks about those who wait. It
// returns false at the end.
func (s *Simulation) Step() (bool, error) {
	at, ok := s.peek()
	if end := s.settings.Until; end > 0 && (!ok || at > end) {
		s.advance(end)
		return false, nil
	}
	if !ok {
		return false, nil
	}
	s.advance(at)
	e, _ := s.next()
	for {
		if err := s.happen(e); err != nil {
			return false, err
		}
		if at, ok := s.peek(); !ok || at > s.now {
			break
		}
		e, _ = s.next()
	}
	return true, s.ask()
}

// Run goes to the end.
func (s *Simulation) Run() error {
	for {
		if more, err := s.Step(); !more || err != nil {
			return err
		}
	}
}

// advance moves the time, and measures what went on until then.
func (s *Simulation) advance(to time.Duration) {
	s.measure(s.now, to)
	s.now = max(s.now, to)
}

// clock is the present as a time of day, for the planner.
func (s *Simulation) clock() time.Time { return epoch.Add(s.now) }

// happen is one event.
func (s *Simulation) happen(e event) error {
	if e.Kind < change && s.jobs[e.Of].Run != e.Run {
		return nil // of a run that is over
	}
	s.events++
	switch e.Kind {
	case arrival:
		s.wait(e.Of)
	case finish:
		return s.finish(e.Of)
	case gone:
		s.wait(e.Of)
	case checkpoint:
		return s.save(e.Of)
	case change:
		return s.change(s.changes[e.Of])
	case alarm:
		s.alarmed = false
		s.wakeAll()
	}
	return nil
}

// change is a node that comes or goes, with everybody on it.
func (s *Simulation) change(c Change) error {
	if !c.Gone {
		s.add(c.Node)
		return s.planner.SetNode(c.Node)
	}
	m, ok := s.byName[c.Node.Name]
	if !ok || !s.machines[m].up {
		return fmt.Errorf("simulator: node %q goes, and is not there", c.Node.Name)
	}
	for _, j := range slices.Compact(slices.Sorted(slices.Values(s.machines[m].jobs))) {
		s.failed(j)
		if err := s.cut(j); err != nil {
			return err
		}
		s.wait(j)
	}
	s.down(m)
	return s.planner.RemoveNode(c.Node.Name)
}
