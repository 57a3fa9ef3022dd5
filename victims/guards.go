package victims

import (
	"math"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// Guards are rules that keep units from being evicted, as data. The zero Guards
// read what classes, groups and pods say, and add nothing.
type Guards struct {
	// Toleration says how the toleration of classes is read; empty: as
	// scheduler-plugins does.
	Toleration priority.TolerationRule `json:"toleration,omitempty"`

	// GuaranteedSeconds is how long every pod runs, once started, before it may be
	// evicted. A class, group or pod may say otherwise. 0: no time.
	GuaranteedSeconds int64 `json:"guaranteedSeconds,omitempty"`

	// EqualAfterSeconds lets units of equal priority be evicted; see [LowerPriority].
	EqualAfterSeconds int64 `json:"equalAfterSeconds,omitempty"`

	// Cooldown keeps units that were evicted lately. Zero: nobody.
	Cooldown Cooldown `json:"cooldown,omitzero"`

	// Protect keeps every unit with a pod of these labels, or whose group goes whole
	// and has them. nil: nobody.
	Protect *disruption.Selector `json:"protect,omitempty"`
}

// Cooldown keeps a unit that was evicted Evictions times within the last Seconds.
type Cooldown struct {
	Evictions int32 `json:"evictions"` // at least 1
	Seconds   int64 `json:"seconds"`   // at least 1
}

// Protections are the guards of one set of units, evaluated: who is kept, from whom.
// Safe for concurrent use, but where they follow changes: see [Units.Follow].
//
// All of them only narrow what a base Eligible allows. A unit is kept if any of its
// pods is, since it goes whole.
type Protections struct {
	us     *Units
	guards Guards
	base   Eligible
	label  *disruption.Matcher

	below paged.Column[uint64] // by unit: see keptBelow; its highest bit turned
	lost  paged.Column[int32]  // by node: the first pod whose class is not there, and 1; 0: there is none
}

// nobody is a priority that every preemptor reaches.
const nobody = math.MinInt64

// Protect evaluates g, and what classes, groups and pods say, for the units
// us on top of base; nil means [LowerPriority] with g.EqualAfterSeconds.
//
// g must be valid. O(k) for k pods if a rule reads every pod, otherwise for those
// that say something.
func (us *Units) Protect(g Guards, base Eligible) *Protections {
	ps := &Protections{us: us, guards: g, base: base}
	if base == nil {
		ps.base = LowerPriority{g.EqualAfterSeconds}
	}
	if g.Protect != nil {
		ps.label, _ = g.Protect.Compile() // an invalid one was refused before
	}
	if !ps.guarding() {
		return ps
	}
	for n := range us.ix.Nodes() {
		ps.find(n)
	}
	for u := range UnitID(us.Len()) {
		ps.assess(u)
	}
	return ps
}

// Any reports whether anybody may be kept beyond what LowerPriority{} says: else potential
// victims are the end of every node's list, which [Units.Potential] finds faster.
func (ps *Protections) Any() bool {
	if _, queues := ps.base.(Unqueued); queues && ps.us.ix.AnyQueued() {
		return true
	}
	lower, is := ps.lower()
	return !is || lower.EqualAfterSeconds != 0 || ps.guarding()
}

// guarding reports whether there is any guard.
func (ps *Protections) guarding() bool {
	return ps.us.ix.Guarded() || ps.readsEveryPod() || ps.guards.Cooldown.Evictions > 0 && ps.us.ix.AnyEvicted()
}

// readsEveryPod reports whether a rule may keep pods that say nothing themselves.
func (ps *Protections) readsEveryPod() bool {
	g, classes := ps.guards, ps.us.ix.Classes()
	return g.GuaranteedSeconds > 0 || g.Toleration == priority.TolerationDesign || g.Protect != nil || classes.AnyGuaranteed() ||
		g.Toleration != priority.TolerationOff && classes.AnyTolerations()
}

// find looks for a pod on node n whose class is not there, and reports whether it finds
// another one than before. Only TolerationDesign asks for it.
func (ps *Protections) find(n cluster.NodeID) bool {
	if ps.guards.Toleration != priority.TolerationDesign || n == cluster.NoNode {
		return false
	}
	ix, found := ps.us.ix, int32(0)
	for _, p := range ix.PodsOn(n) {
		if class := ix.Pod(p).Class; class != "" {
			if _, ok := ix.Classes().Lookup(class); !ok {
				found = int32(p) + 1
				break
			}
		}
	}
	if found == get(&ps.lost, int(n)) {
		return false
	}
	put(&ps.lost, int(n), found)
	return true
}

// lostOn returns what find has found on node n.
func (ps *Protections) lostOn(n cluster.NodeID) (p cluster.PodID, ok bool) {
	if n == cluster.NoNode {
		return 0, false
	}
	found := get(&ps.lost, int(n))
	return cluster.PodID(found - 1), found > 0
}

// findLost calls find for nodes that have changed, whose units may be kept from others
// from then on.
func (ps *Protections) findLost(list []Shift) {
	for _, s := range list {
		if ps.find(s.Node) {
			ps.us.stale = append(ps.us.stale, ps.us.On(s.Node)...)
		}
	}
}

// assess finds out from whom unit u is kept, which holds until the second due, since 1970.
func (ps *Protections) assess(u UnitID) (due int64) {
	below := int64(nobody)
	due = paged.Never
	if ps.guarding() && ps.us.Exists(u) {
		now := ps.us.ix.Time().Unix()
		ps.each(u, func(from, left int64, _ Kept) bool {
			below = max(below, from)
			if left >= 0 && left <= math.MaxInt64-max(now, 0) {
				due = min(due, now+max(left-1, 0)) // it ends in its last second
			}
			return below < everybody
		})
	}
	put(&ps.below, int(u), uint64(below)^1<<63)
	return min(due, ps.equalDue(u))
}

// equalDue is from which second on, since 1970, unit u may be evicted for its equals.
func (ps *Protections) equalDue(u UnitID) int64 {
	lower, _ := ps.lower()
	if lower.EqualAfterSeconds == 0 || !ps.us.Exists(u) {
		return paged.Never
	}
	now, left := ps.us.ix.Time().Unix(), lower.EqualAfterSeconds-ps.us.runs(u)
	if left <= 0 || left > math.MaxInt64-max(now, 0) {
		return paged.Never
	}
	return now + left - 1 // in the last second, as guards end
}

// state tells what guards say of unit u from what they said before; ps may be nil.
func (ps *Protections) state(u UnitID) uint64 {
	if ps == nil {
		return 0
	}
	return get(&ps.below, int(u))
}

// equals reports whether units of equal priority may be evicted, at some time; ps may be
// nil.
func (ps *Protections) equals() bool {
	if ps == nil {
		return false
	}
	lower, _ := ps.lower()
	return lower.EqualAfterSeconds > 0
}

// lower is the base, but for queues, if it is the default one.
func (ps *Protections) lower() (rule LowerPriority, is bool) {
	base := ps.base
	if queues, ok := base.(Unqueued); ok {
		base = queues.Base
	}
	rule, is = base.(LowerPriority)
	return rule, is
}

// Bare reports whether May says of claim p what it says of its priority alone: what became
// of the preemptor before matters where equals are evicted, and to a base of one's own.
func (ps *Protections) Bare(p Claim) bool {
	lower, is := ps.lower()
	return is && (lower.EqualAfterSeconds == 0 || p.RanSeconds == 0 && p.Evicted.IsZero())
}

// keptBelow is the priority below which no preemptor may evict unit u.
func (ps *Protections) keptBelow(u UnitID) int64 { return int64(get(&ps.below, int(u)) ^ 1<<63) }

// fork returns a copy for us, a fork of the units.
func (ps *Protections) fork(us *Units) *Protections {
	f := *ps
	f.us, f.below, f.lost = us, ps.below.Fork(), ps.lost.Fork()
	return &f
}

// Kept says why unit u may not be evicted for p; the zero Kept: it may.
func (ps *Protections) Kept(u UnitID, p Claim) Kept {
	if k := ps.base.Kept(ps.us, u, p); !k.OK() {
		return k
	}
	var why Kept
	if int64(p.Priority) < ps.keptBelow(u) {
		ps.each(u, func(below, _ int64, k Kept) bool {
			if int64(p.Priority) < below {
				why = k
			}
			return why.OK()
		})
	}
	return why
}

// Potential appends to dst the units on node n that may be evicted for p, most
// important first, and returns the extended slice. O(k) for k units on the node.
func (ps *Protections) Potential(dst []UnitID, n cluster.NodeID, p Claim) []UnitID {
	for _, u := range ps.us.On(n) {
		if ps.May(u, p) {
			dst = append(dst, u)
		}
	}
	return dst
}

// May reports whether unit u may be evicted for p. O(1) but for a base of one's own.
func (ps *Protections) May(u UnitID, p Claim) bool {
	if int64(p.Priority) < ps.keptBelow(u) {
		return false
	}
	if e, is := ps.base.(Unqueued); is { // each of its pods is looked at last
		return e.Base.Kept(ps.us, u, p).OK() && !ps.us.holdsQuota(u)
	}
	return ps.base.Kept(ps.us, u, p).OK()
}

// ReadsHistory reports whether who is kept may depend on more of a preemptor than its priority.
func (ps *Protections) ReadsHistory() bool {
	rule, is := ps.lower()
	return !is || rule.EqualAfterSeconds > 0
}

// Guarded reports whether a guard keeps unit u from p, whatever the base says.
func (ps *Protections) Guarded(u UnitID, p Claim) bool { return int64(p.Priority) < ps.keptBelow(u) }

// Opens is the least priority above that given at which the guards keep unit u off
// fewer preemptors; ok is false if they keep it from nobody there, or from everybody.
func (ps *Protections) Opens(u UnitID, above int32) (at int32, ok bool) {
	if below := ps.keptBelow(u); below > int64(above) && below <= math.MaxInt32 {
		return int32(below), true
	}
	return 0, false
}
