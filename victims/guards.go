package victims

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/words"
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

// yieldTo is told of a guard that keeps a unit from preemptors below a priority, and
// says whether it wants to know more.
type yieldTo func(below int64, k Kept) bool

// everybody is the priority that no preemptor reaches.
const everybody = math.MaxInt64

// each tells of every guard that keeps unit u from someone, in order of precedence.
func (ps *Protections) each(u UnitID, yield yieldTo) {
	for _, rule := range [...]func(UnitID, yieldTo) bool{
		ps.standby, ps.labelled, ps.tolerating, ps.guaranteed, ps.cooling,
	} {
		if !rule(u, yield) {
			return
		}
	}
}

func (ps *Protections) standby(u UnitID, yield yieldTo) bool {
	for _, p := range ps.us.Unit(u).Pods {
		on := false
		ps.guardsOf(p, func(g *cluster.Guard) bool { on = g.Standby; return !on })
		if on {
			return yield(everybody, Kept{Rule: KeptStandby})
		}
	}
	return true
}

// guardsOf calls yield with the guards of pod p and of the groups above, nearest
// first, until it returns false.
func (ps *Protections) guardsOf(p cluster.PodID, yield func(*cluster.Guard) bool) {
	ix := ps.us.ix
	if g := ix.Pod(p).Guard; g != nil && !yield(g) {
		return
	}
	for g := ix.GroupOf(p); g != cluster.NoGroup; g = ix.Group(g).Parent {
		if guard := ix.Group(g).Guard(); guard != nil && !yield(guard) {
			return
		}
	}
}

func (ps *Protections) labelled(u UnitID, yield yieldTo) bool {
	if ps.label == nil {
		return true
	}
	unit, ix := ps.us.Unit(u), ps.us.ix
	protected := unit.Group != cluster.NoGroup && ps.label.Matches(ix.Group(unit.Group).Labels())
	for _, p := range unit.Pods {
		protected = protected || ps.label.Matches(ix.Pod(p).Labels)
	}
	return !protected || yield(everybody, Kept{Rule: KeptLabel})
}

func (ps *Protections) tolerating(u UnitID, yield yieldTo) bool {
	ix, rule := ps.us.ix, ps.guards.Toleration
	if rule == priority.TolerationOff {
		return true
	}
	for _, p := range ps.us.Unit(u).Pods {
		if lost, ok := ps.lostNodes[ix.NodeOf(p)]; ok {
			if !yield(everybody, Kept{Rule: KeptToleration, Detail: "its node is left alone, as the class " + ix.Pod(lost).Class + " is not there"}) {
				return false
			}
		}
		class, ok := ix.ClassOf(p)
		if !ok {
			continue
		}
		t, ok := ix.Classes().Toleration(class.Name)
		if !ok || !t.Tolerates(rule, math.MinInt32, ix.Pod(p).Scheduled, ix.Time()) {
			continue
		}
		left, _ := t.Left(rule, ix.Pod(p).Scheduled, ix.Time())
		if !yield(int64(t.Minimum), Kept{Rule: KeptToleration, Below: t.Minimum, Seconds: left}) {
			return false
		}
	}
	return true
}

func (ps *Protections) guaranteed(u UnitID, yield yieldTo) bool {
	longest := int64(0)
	for _, p := range ps.us.Unit(u).Pods {
		longest = max(longest, left(ps.us.ix, ps.GuaranteedSeconds(p), ps.us.ix.Pod(p).Started))
	}
	return longest == 0 || yield(everybody, Kept{Rule: KeptRunning, Seconds: longest})
}

// GuaranteedSeconds is how long pod p runs before it may be evicted: what it says
// itself, else the nearest group above that says something, else its class, else the
// guards.
func (ps *Protections) GuaranteedSeconds(p cluster.PodID) int64 {
	seconds := int64(-1)
	ps.guardsOf(p, func(g *cluster.Guard) bool {
		if g.GuaranteedSeconds != nil {
			seconds = *g.GuaranteedSeconds
		}
		return seconds < 0
	})
	if seconds >= 0 {
		return seconds
	}
	if class, ok := ps.us.ix.ClassOf(p); ok && class.GuaranteedSeconds > 0 {
		return class.GuaranteedSeconds
	}
	return ps.guards.GuaranteedSeconds
}

// left is what of so many seconds since then is left, rounded up; all of them if it
// is unknown when that was, and nothing if nobody knows what time it is.
func left(ix *cluster.Index, seconds int64, since time.Time) int64 {
	if since.IsZero() {
		return seconds
	}
	elapsed, known := ix.Elapsed(since)
	if !known {
		return 0
	}
	return max(seconds-elapsed, 0)
}

func (ps *Protections) cooling(u UnitID, yield yieldTo) bool {
	c := ps.guards.Cooldown
	if c.Evictions == 0 {
		return true
	}
	ix, unit := ps.us.ix, ps.us.Unit(u)
	seconds, most := ps.window(nil)
	if unit.Group != cluster.NoGroup {
		seconds, most = ps.window(ix.Group(unit.Group).Evictions())
	}
	for _, p := range unit.Pods {
		if s, n := ps.window(ix.Pod(p).Evictions); s > seconds {
			seconds, most = s, n
		}
	}
	return seconds == 0 || yield(everybody, Kept{
		Rule: KeptCooldown, Seconds: seconds,
		Detail: fmt.Sprintf("was evicted %s in the last %s, kept", times(most), words.Seconds(c.Seconds)),
	})
}

func times(n int32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// window is for how much longer evictions at these times keep a unit, and how many
// of them count.
func (ps *Protections) window(evictions []time.Time) (seconds int64, count int32) {
	c := ps.guards.Cooldown
	var ages []int64
	for _, t := range evictions {
		if ago, known := ps.us.ix.Elapsed(t); known && ago < c.Seconds {
			ages = append(ages, c.Seconds-ago)
		}
	}
	if len(ages) < int(c.Evictions) {
		return 0, 0
	}
	slices.Sort(ages) // it is free again once fewer than c.Evictions of them are in the window
	return ages[len(ages)-int(c.Evictions)], int32(len(ages))
}
