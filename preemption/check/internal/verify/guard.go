package verify

import (
	"math"
	"slices"
	"time"

	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/check/internal/tariff"
	"github.com/preempt-go/preempt/priority"
)

// The rules that keep a unit, by the names that answers have.
const (
	keptQueue      = "queue"
	keptPriority   = "priority"
	keptEqual      = "equal"
	keptStandby    = "standby"
	keptLabel      = "label"
	keptToleration = "toleration"
	keptRunning    = "running time"
	keptCooldown   = "cool-down"
)

// kept is why a unit may not be evicted; without a rule it may.
type kept struct {
	rule    string
	below   int32 // of a toleration: preemptors of at least this priority are not kept off
	seconds int64 // for how much longer; 0: for ever, or until something else changes
}

func (q *question) mayEvict(u *unit) bool { return q.kept(u).rule == "" }

// kept is whyKept, which is remembered for who asks.
func (q *question) kept(u *unit) kept {
	if u.asker != q {
		u.asker, u.keeps = q, q.whyKept(u)
	}
	return u.keeps
}

// whyKept is the first rule, in the order of the page of guards, that keeps u.
func (q *question) whyKept(u *unit) kept {
	if slices.ContainsFunc(u.pods, func(p *pod) bool { return p.queue() != "" }) {
		return kept{rule: keptQueue} // its queue alone evicts it
	}
	if !q.ownEligible() {
		if k := q.keptByPriority(u); k.rule != "" {
			return k
		}
	}
	for _, guard := range []func(*unit) kept{q.standby, q.labelled, q.tolerating, q.guaranteed, q.cooling} {
		if k := guard(u); k.rule != "" {
			return k
		}
	}
	return kept{}
}

// guards: something may keep a unit beside its priority.
func (q *question) guards() bool {
	g := q.o.Guards
	set := g.EqualAfterSeconds != 0 || g.Protect != nil || g.Toleration == priority.TolerationDesign || g.GuaranteedSeconds > 0 || g.Cooldown.Evictions > 0
	return set || q.queueing || q.guarded || q.classes.AnyTolerations() ||
		slices.ContainsFunc(q.PriorityClasses, func(c priority.Class) bool { return c.GuaranteedSeconds > 0 })
}

func (q *question) keptByPriority(u *unit) kept {
	after := q.o.Guards.EqualAfterSeconds
	switch {
	case u.level < q.priority:
		return kept{}
	case u.level > q.priority || after == 0:
		return kept{rule: keptPriority}
	}
	if ago, known := q.elapsed(q.evicted); known && ago < after {
		return kept{rule: keptEqual, seconds: after - ago}
	}
	if q.Time.IsZero() {
		return kept{rule: keptEqual} // nobody knows how long it has run
	}
	runs, ran := int64(math.MaxInt64), int64(0)
	if u.group != nil {
		ran = u.group.RanSeconds
	}
	for _, p := range u.pods {
		s, _ := q.elapsed(p.Started)
		runs, ran = min(runs, s), max(ran, p.RanSeconds)
	}
	switch {
	case runs < after:
		return kept{rule: keptEqual, seconds: after - runs}
	case ran < q.ran && runs < q.ran-ran:
		return kept{rule: keptEqual}
	}
	return kept{}
}

func (q *question) standby(u *unit) kept {
	for _, p := range u.pods {
		if p.Guard != nil && p.Guard.Standby {
			return kept{rule: keptStandby}
		}
		for g := p.group; g != nil; g = g.parent {
			if g.Guard != nil && g.Guard.Standby {
				return kept{rule: keptStandby}
			}
		}
	}
	return kept{}
}

func (q *question) labelled(u *unit) kept {
	protect := q.o.Guards.Protect
	if protect != nil && (u.group != nil && suits.Selector(protect, u.group.Labels) ||
		slices.ContainsFunc(u.pods, func(p *pod) bool { return suits.Selector(protect, p.Labels) })) {
		return kept{rule: keptLabel}
	}
	return kept{}
}

// classOf is the class that p names, or else the nearest group above.
func (w *world) classOf(p *pod) (priority.Class, bool) {
	name := p.Class
	for g := p.group; g != nil && name == ""; g = g.parent {
		name = g.Class
	}
	if name == "" {
		return priority.Class{}, false
	}
	return w.classes.Lookup(name)
}

// tolerating: the class of a pod tolerates the preemptor, or the document's rule leaves
// a node alone, since one of its pods has a class that is not there.
func (q *question) tolerating(u *unit) kept {
	rule := q.o.Guards.Toleration
	if rule == priority.TolerationOff || rule != priority.TolerationDesign && !q.classes.AnyTolerations() {
		return kept{}
	}
	for _, p := range u.pods {
		if rule == priority.TolerationDesign && p.at != nil && slices.ContainsFunc(p.at.pods(), q.classless) {
			return kept{rule: keptToleration}
		}
		class, ok := q.classOf(p)
		if !ok {
			continue
		}
		t, ok := q.classes.Toleration(class.Name)
		if !ok || q.priority >= t.Minimum {
			continue
		}
		if holds, seconds := tariff.Tolerates(t, rule == priority.TolerationDesign, p.Scheduled, q.Time); holds {
			return kept{keptToleration, t.Minimum, seconds}
		}
	}
	return kept{}
}

func (q *question) classless(p *pod) bool {
	_, ok := q.classes.Lookup(p.Class)
	return p.Class != "" && !ok
}

func (q *question) guaranteed(u *unit) kept {
	longest := int64(0)
	for _, p := range u.pods {
		seconds := q.guaranteedSeconds(p)
		if !p.Started.IsZero() {
			ago, known := q.elapsed(p.Started)
			if !known {
				continue // nobody knows what time it is
			}
			seconds -= ago
		}
		longest = max(longest, seconds)
	}
	if longest > 0 {
		return kept{rule: keptRunning, seconds: longest}
	}
	return kept{}
}

// guaranteedSeconds is what the pod says, else the nearest group above, else its class, else the options.
func (q *question) guaranteedSeconds(p *pod) int64 {
	if p.Guard != nil && p.Guard.GuaranteedSeconds != nil {
		return *p.Guard.GuaranteedSeconds
	}
	for g := p.group; g != nil; g = g.parent {
		if g.Guard != nil && g.Guard.GuaranteedSeconds != nil {
			return *g.Guard.GuaranteedSeconds
		}
	}
	if class, ok := q.classOf(p); ok && class.GuaranteedSeconds > 0 {
		return class.GuaranteedSeconds
	}
	return q.o.Guards.GuaranteedSeconds
}

func (q *question) cooling(u *unit) kept {
	if q.o.Guards.Cooldown.Evictions == 0 {
		return kept{}
	}
	longest := int64(0)
	if u.group != nil {
		longest = q.cools(u.group.Evictions)
	}
	for _, p := range u.pods {
		longest = max(longest, q.cools(p.Evictions))
	}
	if longest > 0 {
		return kept{rule: keptCooldown, seconds: longest}
	}
	return kept{}
}

// cools is for how much longer evictions at these times keep a unit: until fewer than so many are within the window.
func (q *question) cools(evictions []time.Time) int64 {
	c := q.o.Guards.Cooldown
	var left []int64
	for _, t := range evictions {
		if ago, known := q.elapsed(t); known && ago < c.Seconds {
			left = append(left, c.Seconds-ago)
		}
	}
	if len(left) < int(c.Evictions) {
		return 0
	}
	slices.Sort(left)
	return left[len(left)-int(c.Evictions)]
}
