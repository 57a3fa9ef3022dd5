package cluster

import (
	"errors"
	"fmt"
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

// Guarded reports whether any pod or group has a guard.
func (ix *Index) Guarded() bool { return ix.guarded.guards > 0 }

// AnyEvicted reports whether any of them has earlier evictions.
func (ix *Index) AnyEvicted() bool { return ix.guarded.evictions > 0 }

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

// validateGuarded checks what a pod or group says about its eviction, but for times.
func validateGuarded(o object, guard *Guard, cost *Cost, ran int64) {
	nonNegative(o, "RanSeconds", ran)
	if guard != nil {
		if s := guard.GuaranteedSeconds; s != nil {
			nonNegative(o, "Guard.GuaranteedSeconds", *s)
		}
		if s := guard.WaitSeconds; s != nil {
			nonNegative(o, "Guard.WaitSeconds", *s)
		}
		validateMilestones(o, "Guard.Milestones", guard.Milestones)
		for i, m := range guard.Milestones {
			if m.Value > math.MaxInt32 {
				o.bad(fmt.Sprintf("Guard.Milestones[%d].Value", i), number(m.Value), "an int32")
			}
		}
	}
	if cost != nil {
		nonNegative(o, "Cost.Fixed", cost.Fixed)
		nonNegative(o, "Cost.RestartSeconds", cost.RestartSeconds)
		validateMilestones(o, "Cost.Milestones", cost.Milestones)
		for i, m := range cost.Milestones {
			nonNegative(o, fmt.Sprintf("Cost.Milestones[%d].Value", i), m.Value)
		}
	}
}

func nonNegative(o object, field string, v int64) {
	if v < 0 {
		o.bad(field, number(v), ">= 0")
	}
}

func validateMilestones(o object, field string, points []Milestone) {
	_, err := disruption.NewCurve(0, points)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return
	}
	for _, err := range joined.Unwrap() {
		var m *disruption.MilestoneError
		if errors.As(err, &m) {
			o.wrap(err, fmt.Sprintf("%s[%d].Seconds", field, m.Index), number(m.Value), m.Want)
		}
	}
}

// validateTimes checks the times of anything but pods.
func validateTimes(ps *problems, s *Objects) {
	validateWritable(ps.object(KindSnapshot, "", ""), "Time", s.Time)
	for _, g := range s.PodGroups {
		validatePast(ps.object(KindPodGroup, g.Namespace, g.Name), g.Cost, g.Evictions)
	}
	for _, g := range s.CompositePodGroups {
		validatePast(ps.object(KindCompositePodGroup, g.Namespace, g.Name), g.Cost, g.Evictions)
	}
	for i, d := range s.Disruptions {
		o := ps.object(KindSnapshot, "", "")
		field := fmt.Sprintf("Disruptions[%d]", i)
		validateMoment(o, field+".Time", d.Time)
		nonNegative(o, field+".Victims", d.Victims)
		nonNegative(o, field+".Pods", d.Pods)
		nonNegative(o, field+".Cost", d.Cost)
	}
}

func validatePodTimes(ps *problems, p *Pod) {
	if !writable(p.Created) || !writable(p.Scheduled) || !writable(p.Started) {
		o := ps.object(KindPod, p.Namespace, p.Name)
		validateWritable(o, "Created", p.Created)
		validateWritable(o, "Scheduled", p.Scheduled)
		validateWritable(o, "Started", p.Started)
	}
	if p.Cost != nil || len(p.Evictions) > 0 {
		validatePast(ps.object(KindPod, p.Namespace, p.Name), p.Cost, p.Evictions)
	}
}

func validatePast(o object, cost *Cost, evictions []time.Time) {
	if cost != nil && !cost.Checkpoint.IsZero() {
		validateMoment(o, "Cost.Checkpoint", cost.Checkpoint)
	}
	for i, t := range evictions {
		validateMoment(o, fmt.Sprintf("Evictions[%d]", i), t)
	}
}

func validateMoment(o object, field string, t time.Time) {
	if t.IsZero() {
		o.bad(field, "no time", "a time")
	}
	validateWritable(o, field, t)
}

// validateWritable complains about a time that JSON cannot hold: no snapshot and no
// result could be saved with it.
func validateWritable(o object, field string, t time.Time) {
	if !writable(t) {
		o.bad(field, t.Format(time.RFC3339Nano), "in the years 0 to 9999, in a zone of whole minutes less than a day from UTC")
	}
}

// The first second of the year 0 and the last one of 9999, in UTC.
const (
	firstSecond = -62_167_219_200
	lastSecond  = 253_402_300_799
)

// writable reports whether t survives a round trip through JSON.
func writable(t time.Time) bool {
	if t.Location() == time.UTC {
		s := t.Unix()
		return firstSecond <= s && s <= lastSecond
	}
	_, offset := t.Zone()
	var room [len(time.RFC3339Nano)]byte
	_, err := t.AppendText(room[:0])
	return err == nil && offset%60 == 0
}

// CheckLead checks that no preemption priority lies more than that far above the
// priority of its pod or group, at any time. The error joins a [*FieldError] for
// each value that does, in a fixed order. Changes of the index heed it from then on. most
// is above zero.
//
// The reason: a unit far above its own priority blocks preemptors that it could
// never outrank. Source: KEP-5710 (early text), risks, "Blocking preemptions".
func (ix *Index) CheckLead(most int32) error {
	var ps problems
	ix.lead = most
	for i := range ix.NumGroups() {
		g := ix.Group(GroupID(i))
		ix.checkLead(ps.object(g.Kind, g.Namespace, g.Name), g.Priority, g.preemptionPriority(), g.Guard())
	}
	for i := range PodID(ix.NumPods()) {
		p := ix.Pod(i)
		ix.checkLead(ps.object(KindPod, p.Namespace, p.Name), ix.Priority(i), p.PreemptionPriority, p.Guard)
	}
	return ps.err()
}

// CheckInline checks what a preemptor holds inline as pods and groups of the cluster are
// checked against its classes and [Index.CheckLead]. The error joins a
// [*FieldError] for each value that they could not have.
func (ix *Index) CheckInline(p *Preemptor) error {
	var ps problems
	if g := p.Group; g != nil {
		ix.checkGroup(&ps, &Group{Kind: KindPodGroup, Namespace: g.Namespace, Name: g.Name, PodGroup: g})
	}
	for i := range p.Pods {
		ix.checkPod(&ps, &p.Pods[i])
	}
	return ps.err()
}

// checkLead is CheckLead of one object, if it was called.
func (ix *Index) checkLead(o object, prio int32, given *int32, guard *Guard) {
	if ix.lead == 0 {
		return
	}
	limit := int64(prio) + int64(ix.lead)
	want := fmt.Sprintf("at most %d above the priority %d", ix.lead, prio)
	if given != nil && int64(*given) > limit {
		o.bad("PreemptionPriority", number(*given), want)
	}
	if guard == nil {
		return
	}
	for i, m := range guard.Milestones {
		if m.Value > limit {
			o.bad(fmt.Sprintf("Guard.Milestones[%d].Value", i), number(m.Value), want)
		}
	}
}
