package preemption

import (
	"fmt"
	"time"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// eligible is the user's own rule, nil for the default.
func (o Options) eligible() victims.Eligible {
	if o.Hooks == nil {
		return nil
	}
	return o.Hooks.Eligible
}

// validateGuards checks the options that protect, delay and price evictions.
func (o Options) validateGuards(ps *optionProblems) {
	g := &o.Guards
	if !g.Toleration.Valid() {
		ps.name("Guards.Toleration", string(g.Toleration), "Design, Off or empty")
	}
	ps.notNegative("Guards.GuaranteedSeconds", g.GuaranteedSeconds)
	ps.notNegative("Guards.EqualAfterSeconds", g.EqualAfterSeconds)
	ps.notNegative("Guards.Cooldown.Evictions", int64(g.Cooldown.Evictions))
	ps.notNegative("Guards.Cooldown.Seconds", g.Cooldown.Seconds)
	ps.notNegative("PreemptionPriority.MaxLead", int64(o.PreemptionPriority.MaxLead))
	ps.notNegative("WaitSeconds", o.WaitSeconds)
	if c := g.Cooldown; (c.Evictions == 0) != (c.Seconds == 0) {
		ps.bad("Guards.Cooldown", fmt.Sprintf("%d evictions in %d seconds", c.Evictions, c.Seconds), "both >= 1, or both 0")
	}
	if !g.Protect.Valid() {
		ps.bad("Guards.Protect", "a selector that does not parse", "a label selector")
	}
}

// evictable returns the units on node n that the preemptor may evict, most
// important first. The slice is good until the index is not.
func (q *question) evictable(n cluster.NodeID) []victims.UnitID { return q.evictableFor(n, q.claim) }

func (q *question) evictableFor(n cluster.NodeID, c victims.Claim) []victims.UnitID {
	if q.protections == nil {
		return q.units.Potential(n, c.Priority)
	}
	return q.protections.Potential(nil, n, c)
}

// kept says why unit u may not be evicted for claim c; the zero Kept: it may.
func (q *question) kept(u victims.UnitID, c victims.Claim) victims.Kept {
	if q.protections == nil {
		return victims.LowerPriority{}.Kept(q.units, u, c)
	}
	return q.protections.Kept(u, c)
}

// may reports whether unit u may be evicted for claim c.
func (q *question) may(u victims.UnitID, c victims.Claim) bool {
	if q.protections == nil {
		return q.units.Unit(u).Level < c.Priority
	}
	return q.protections.May(u, c)
}

// newClaim is what eligibility reads of the preemptor: a gang counts as having run
// as long as the member that ran longest, and evicted when the last of them was.
func (q *question) newClaim() victims.Claim {
	c := victims.Claim{Priority: q.priority}
	add := func(ran int64, evictions []time.Time) {
		c.RanSeconds = max(c.RanSeconds, ran)
		for _, t := range evictions {
			if t.After(c.Evicted) {
				c.Evicted = t
			}
		}
	}
	if q.group != nil {
		add(q.group.RanSeconds(), q.group.Evictions())
	}
	for _, m := range q.members {
		add(m.Pod.RanSeconds, m.Pod.Evictions)
	}
	return c
}
