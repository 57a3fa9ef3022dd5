package victims

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// yieldTo is told of a guard that keeps a unit from preemptors below a priority, for how
// many seconds, rounded up, and says whether it wants to know more.
type yieldTo func(below, left int64, k Kept) bool

// endless is the time of a guard that does not end by itself.
const endless = -1

// everybody is the priority that no preemptor reaches.
const everybody = math.MaxInt64

// each tells of every guard that keeps unit u from someone, in order of precedence.
func (ps *Protections) each(u UnitID, yield yieldTo) {
	_ = ps.standby(u, yield) && ps.labelled(u, yield) && ps.tolerating(u, yield) && ps.guaranteed(u, yield) && ps.cooling(u, yield)
}

func (ps *Protections) standby(u UnitID, yield yieldTo) bool {
	for _, p := range ps.us.Unit(u).Pods {
		on := false
		ps.guardsOf(p, func(g *cluster.Guard) bool { on = g.Standby; return !on })
		if on {
			return yield(everybody, endless, Kept{Rule: KeptStandby})
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
	return !protected || yield(everybody, endless, Kept{Rule: KeptLabel})
}

func (ps *Protections) tolerating(u UnitID, yield yieldTo) bool {
	ix, rule := ps.us.ix, ps.guards.Toleration
	if rule == priority.TolerationOff {
		return true
	}
	for _, p := range ps.us.Unit(u).Pods {
		if lost, ok := ps.lostOn(ix.NodeOf(p)); ok {
			if !yield(everybody, endless, Kept{Rule: KeptToleration, Detail: "its node is left alone, as the class " + ix.Pod(lost).Class + " is not there"}) {
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
		left, ends := t.Left(rule, ix.Pod(p).Scheduled, ix.Time())
		until := left
		if !ends {
			until = endless
		}
		if !yield(int64(t.Minimum), until, Kept{Rule: KeptToleration, Below: t.Minimum, Seconds: left}) {
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
	return longest == 0 || yield(everybody, longest, Kept{Rule: KeptRunning, Seconds: longest})
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
	return seconds == 0 || yield(everybody, seconds, Kept{
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
