package verify

import (
	"cmp"

	"github.com/preempt-go/preempt/preemption"
)

// rules are what a generation says, by what a lone pod meets or a group does.
type rules struct {
	old   bool // Kubernetes136
	group bool // the preemptor is a group

	apart    bool // who may be evicted is a matter of preemption priority
	fewest   bool // room is made for as few members as are needed
	lowest   bool // the lowest sufficient level is looked for
	moves    bool // the gang may be placed anew while victims come back
	repeated bool // passes over the remaining victims are repeated
}

func rulesOf(o *preemption.Options, group bool) rules {
	r := rules{group: group, old: o.Rules == preemption.Kubernetes136}
	early := o.Rules == preemption.KEP5710Alpha // preemption priorities, the lowest level
	r.apart = early || o.PreemptionPriority.Apart
	r.fewest = cmp.Or(o.Members, map[bool]preemption.Members{true: preemption.MinCount, false: preemption.AllThatFit}[r.old]) == preemption.MinCount
	r.lowest = early || o.LowestLevel
	r.moves = group && r.old
	r.repeated = o.RepeatReprieve == preemption.On || o.RepeatReprieve == "" && group && !r.old
	return r
}

// atomic: pods beneath a group that goes whole are one unit.
func (r rules) atomic() bool { return !r.old || r.group }
