package preemption

import (
	"fmt"

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
