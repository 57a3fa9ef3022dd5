package simulator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// ErrOtherState is the error for a state of another farm, other settings or another policy.
var ErrOtherState = errors.New("simulator: the state is of another simulation")

// saved is a simulation between two moments.
type saved struct {
	Of      string               `json:"of"` // the fingerprint of farm, settings and policy
	Now     time.Duration        `json:"now"`
	Arrived int                  `json:"arrived"`
	Changed int                  `json:"changed"`
	Events  int64                `json:"events"`
	Alarmed bool                 `json:"alarmed"`
	Agenda  []event              `json:"agenda"`
	Jobs    []life               `json:"jobs"`
	Clear   []time.Duration      `json:"clear"` // by machine
	Tally   tally                `json:"tally"`
	Cluster *preemption.Snapshot `json:"cluster"`
}

// fingerprint tells simulations apart by what they are of.
func (s *Simulation) fingerprint() (string, error) {
	h := sha256.New()
	err := json.NewEncoder(h).Encode([]any{s.farm, s.settings, s.policy})
	return hex.EncodeToString(h.Sum(nil)), err
}

// state is the simulation as it is, for Resume.
func (s *Simulation) state() (*saved, error) {
	of, err := s.fingerprint()
	if err != nil {
		return nil, err
	}
	if err := s.planner.SetTime(s.clock()); err != nil {
		return nil, err
	}
	v := &saved{
		Of: of, Now: s.now, Arrived: s.arrived, Changed: s.changed, Events: s.events, Alarmed: s.alarmed,
		Jobs: s.jobs, Tally: s.tally, Cluster: s.planner.Snapshot(),
	}
	s.agenda.Ascend(func(e event) bool { v.Agenda = append(v.Agenda, e); return true })
	for i := range s.machines {
		v.Clear = append(v.Clear, s.machines[i].clear)
	}
	return v, nil
}

// resume goes on from a state: s is new.
func (s *Simulation) resume(v *saved) error {
	of, err := s.fingerprint()
	switch {
	case err != nil:
		return err
	case v.Of != of || len(v.Jobs) != len(s.jobs) || v.Cluster == nil || v.Arrived > len(s.list) || v.Changed > len(s.changes):
		return ErrOtherState
	}
	for j := range s.jobs {
		if len(s.jobs[j].Places) > 0 {
			s.vacate(int32(j), s.jobs[j].Places)
		}
	}
	for _, c := range s.changes[:v.Changed] {
		if c.Gone {
			s.down(s.byName[c.Node.Name])
		} else {
			s.add(c.Node)
		}
	}
	if len(v.Clear) != len(s.machines) {
		return ErrOtherState
	}
	for i := range s.machines {
		s.machines[i].clear = v.Clear[i]
	}
	s.now, s.arrived, s.changed, s.events, s.alarmed = v.Now, v.Arrived, v.Changed, v.Events, v.Alarmed
	s.jobs, s.agenda = v.Jobs, newAgenda()
	for _, e := range v.Agenda {
		s.agenda.ReplaceOrInsert(e)
	}
	s.Counts, s.Series = v.Tally.Counts, v.Tally.Series
	for j := range s.jobs {
		switch l := &s.jobs[j]; l.State {
		case waiting:
			s.enqueue(int32(j))
		case running:
			s.occupy(int32(j), l.Places)
		}
	}
	for _, n := range s.open {
		s.queue[n].open = false
	}
	s.open, s.stale = nil, nil
	s.planner, err = preemption.NewPlanner(v.Cluster, s.policy.Options)
	if err != nil {
		return fmt.Errorf("simulator: the state's cluster: %w", err)
	}
	return nil
}
