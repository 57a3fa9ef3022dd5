package victims

import (
	"math"

	"github.com/preempt-go/preempt/disruption"
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
// Immutable, safe for concurrent use.
//
// All of them only narrow what a base Eligible allows. A unit is kept if any of its
// pods is, since it goes whole.
type Protections struct {
	us     *Units
	guards Guards
	base   Eligible
	label  *disruption.Matcher

	keptBelow []int64 // by unit: preemptors below this priority may not evict it; math.MinInt64: nobody keeps it
	lostNodes map[cluster.NodeID]cluster.PodID
}

// NewProtections evaluates g, and what classes, groups and pods say, for the units
// us on top of base; nil means [LowerPriority] with g.EqualAfterSeconds. It returns
// nil if nobody is kept beyond what LowerPriority{} says: then potential victims are
// the end of every node's list, which [Units.Potential] finds faster.
//
// g must be valid. O(k) for k pods if a rule reads every pod, otherwise for those
// that say something.
func NewProtections(us *Units, g Guards, base Eligible) *Protections {
	ps := &Protections{us: us, guards: g, base: base}
	if base == nil {
		ps.base = LowerPriority{g.EqualAfterSeconds}
	}
	every := ps.readsEveryPod()
	if !every && base == nil && g.EqualAfterSeconds == 0 && len(us.ix.Guarded()) == 0 && !us.ix.GuardedGroups() {
		return nil
	}
	if g.Protect != nil {
		ps.label, _ = g.Protect.Compile() // an invalid one was refused before
	}
	if g.Toleration == priority.TolerationDesign {
		ps.loseNodes()
	}
	ps.keptBelow = make([]int64, us.Len())
	for u := range ps.keptBelow {
		ps.keptBelow[u] = math.MinInt64
	}
	for u := range us.Len() {
		ps.keptBelow[u] = ps.evaluate(UnitID(u))
	}
	return ps
}

// readsEveryPod reports whether a rule may keep pods that say nothing themselves.
func (ps *Protections) readsEveryPod() bool {
	g, classes := ps.guards, ps.us.ix.Classes()
	return g.GuaranteedSeconds > 0 || g.Toleration == priority.TolerationDesign || g.Protect != nil || classes.AnyGuaranteed() ||
		g.Toleration != priority.TolerationOff && classes.AnyTolerations()
}

// loseNodes notes the nodes with a pod whose class is not there.
func (ps *Protections) loseNodes() {
	ix := ps.us.ix
	ps.lostNodes = map[cluster.NodeID]cluster.PodID{}
	for p := range ix.Pods() {
		n, class := ix.NodeOf(p), ix.Pod(p).Class
		if n == cluster.NoNode || class == "" {
			continue
		}
		if _, ok := ix.Classes().Lookup(class); ok {
			continue
		}
		if _, ok := ps.lostNodes[n]; !ok {
			ps.lostNodes[n] = p
		}
	}
}

// evaluate is the priority below which no preemptor may evict unit u.
func (ps *Protections) evaluate(u UnitID) int64 {
	below := int64(math.MinInt64)
	ps.each(u, func(from int64, _ Kept) bool {
		below = max(below, from)
		return below < math.MaxInt64
	})
	return below
}

// Kept says why unit u may not be evicted for p; the zero Kept: it may.
func (ps *Protections) Kept(u UnitID, p Claim) Kept {
	if k := ps.base.Kept(ps.us, u, p); !k.OK() {
		return k
	}
	var why Kept
	if int64(p.Priority) < ps.keptBelow[u] {
		ps.each(u, func(below int64, k Kept) bool {
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
	return int64(p.Priority) >= ps.keptBelow[u] && ps.base.Kept(ps.us, u, p).OK()
}

// Guarded reports whether a guard keeps unit u from p, whatever the base says.
func (ps *Protections) Guarded(u UnitID, p Claim) bool { return int64(p.Priority) < ps.keptBelow[u] }

// Opens is the least priority above that given at which the guards keep unit u off
// fewer preemptors; ok is false if they keep it from nobody there, or from everybody.
func (ps *Protections) Opens(u UnitID, above int32) (at int32, ok bool) {
	if below := ps.keptBelow[u]; below > int64(above) && below <= math.MaxInt32 {
		return int32(below), true
	}
	return 0, false
}
