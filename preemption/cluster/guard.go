package cluster

import (
	"math"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/priority"
)

// Guard protects or delays evictions, independent of priority classes. All of it
// may be left out.
type Guard struct {
	// GuaranteedSeconds is how long it runs, once started, before it may be evicted.
	// nil: as the group above says, then the class, then the options; 0: no time.
	GuaranteedSeconds *int64 `json:"guaranteedSeconds,omitempty"`

	// WaitSeconds is how long it waits, once created, before it evicts others. nil:
	// likewise.
	WaitSeconds *int64 `json:"waitSeconds,omitempty"`

	// Standby says that it must never be evicted, whoever asks.
	Standby bool `json:"standby,omitempty"`

	// Milestones let the preemption priority change over time: its value so many
	// seconds after the last checkpoint, or without one after the start. It begins at
	// PreemptionPriority or else at the priority, below which no value may lie.
	Milestones []Milestone `json:"milestones,omitempty"`
}

// Cost is what is known of the price of an eviction; prices are in the unit of
// whoever sets them. That of a group comes on top of those of its pods, when the
// group goes as a whole.
type Cost struct {
	Fixed          int64       `json:"fixed,omitempty"`          // a constant price
	Checkpoint     time.Time   `json:"checkpoint,omitzero"`      // last saved progress; zero: the start, and for a pod first its group's
	RestartSeconds int64       `json:"restartSeconds,omitempty"` // until it is productive again
	Milestones     []Milestone `json:"milestones,omitempty"`     // price so many seconds after checkpoint or start, from 0
}

// Milestone is one point of a curve over time.
type Milestone = disruption.Milestone

// Disruption is an earlier preemption, for limits over a window of time.
type Disruption struct {
	Time    time.Time `json:"time"`
	Victims int64     `json:"victims"` // units
	Pods    int64     `json:"pods"`
	Cost    int64     `json:"cost,omitempty"` // by the tariff of that time
}

// Elapsed returns the whole seconds from since to the snapshot's time, 0 if since is
// later; known is false, and seconds 0, if either of them is unknown.
func (ix *Index) Elapsed(since time.Time) (seconds int64, known bool) {
	if since.IsZero() || ix.time.IsZero() {
		return 0, false
	}
	now, then := ix.time.Unix(), since.Unix()
	if now < then {
		return 0, true
	}
	if seconds = now - then; seconds < 0 {
		return math.MaxInt64, true
	}
	if ix.time.Nanosecond() < since.Nanosecond() {
		seconds--
	}
	return max(seconds, 0), true
}

// Due is the second, since 1970, in which so many seconds have passed since a time;
// math.MaxInt64 if that is unknown, or nobody knows what time it is.
func (ix *Index) Due(since time.Time, seconds int64) int64 {
	if since.IsZero() || ix.time.IsZero() || seconds > math.MaxInt64-max(since.Unix(), 0) {
		return math.MaxInt64
	}
	return since.Unix() + seconds
}

// Guarded reports whether any pod or group has a guard or earlier evictions.
func (ix *Index) Guarded() bool { return ix.guarded > 0 }

// ClassOf returns the priority class that pod p names, or else that of the nearest
// group above it that names one; ok is false if none of them does or the class is
// not in the snapshot.
func (ix *Index) ClassOf(p PodID) (class priority.Class, ok bool) {
	name := ix.Pod(p).Class
	for g := ix.GroupOf(p); g != NoGroup && name == ""; g = ix.Group(g).Parent {
		name = ix.Group(g).Class()
	}
	if name == "" {
		return priority.Class{}, false
	}
	return ix.classes.Lookup(name)
}

// Checkpoint is when pod p last saved its progress: its own last checkpoint, else
// that of the nearest group above that has one, else its start; zero if all of these
// are unknown.
func (ix *Index) Checkpoint(p PodID) time.Time {
	pod := ix.Pod(p)
	if pod.Cost != nil && !pod.Cost.Checkpoint.IsZero() {
		return pod.Cost.Checkpoint
	}
	for g := ix.GroupOf(p); g != NoGroup; g = ix.Group(g).Parent {
		if c := ix.Group(g).Cost(); c != nil && !c.Checkpoint.IsZero() {
			return c.Checkpoint
		}
	}
	return pod.Started
}

// GroupCheckpoint is when group g last saved its progress: its last checkpoint, or
// else the earliest start of a pod that runs beneath it; zero if unknown.
func (ix *Index) GroupCheckpoint(g GroupID) time.Time {
	if c := ix.Group(g).Cost(); c != nil && !c.Checkpoint.IsZero() {
		return c.Checkpoint
	}
	var first time.Time
	for _, p := range ix.PodsUnder(nil, g) {
		pod := ix.Pod(p)
		if pod.Node != "" && !pod.Started.IsZero() && (first.IsZero() || pod.Started.Before(first)) {
			first = pod.Started
		}
	}
	return first
}

// Guard is what protects the group; nil if nothing is said.
func (g *Group) Guard() *Guard {
	if g.PodGroup != nil {
		return g.PodGroup.Guard
	}
	return g.Composite.Guard
}

// Cost is what is known of the group's price beyond that of its pods; may be nil.
func (g *Group) Cost() *Cost {
	if g.PodGroup != nil {
		return g.PodGroup.Cost
	}
	return g.Composite.Cost
}

// Evictions are the group's earlier evictions.
func (g *Group) Evictions() []time.Time {
	if g.PodGroup != nil {
		return g.PodGroup.Evictions
	}
	return g.Composite.Evictions
}

// Class is the priority class that the group names, perhaps none.
func (g *Group) Class() string {
	if g.PodGroup != nil {
		return g.PodGroup.Class
	}
	return g.Composite.Class
}

// Labels are the group's own; may be nil.
func (g *Group) Labels() map[string]string {
	if g.PodGroup != nil {
		return g.PodGroup.Labels
	}
	return g.Composite.Labels
}

// RanSeconds is how long the group ran before its latest eviction.
func (g *Group) RanSeconds() int64 {
	if g.PodGroup != nil {
		return g.PodGroup.RanSeconds
	}
	return g.Composite.RanSeconds
}
