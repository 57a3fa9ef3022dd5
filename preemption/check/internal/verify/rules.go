package verify

import (
	"cmp"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/relation"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
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

// misfit is one check that a member fails on a node.
type misfit struct {
	check    domain.Check
	resource string // of CheckResource, and by how much it is short
	missing  int64
	never    bool // whoever goes
}

// admits is the first check of the node alone that p fails; empty if it passes all.
func (q *question) admits(n *cluster.Node, p *cluster.Pod) domain.Check {
	cordon := cluster.Taint{Key: cluster.TaintUnschedulable, Effect: cluster.NoSchedule}
	switch {
	case n.Unschedulable && !suits.Tolerates(p, cordon):
		return domain.CheckUnschedulable
	case p.RequiredNode != "" && p.RequiredNode != n.Name:
		return domain.CheckNodeName
	case !q.lists.Taints(p, n):
		return domain.CheckTaint
	case !q.lists.Node(p, n):
		return domain.CheckNodeAffinity
	case q.o.Hooks != nil && q.o.Hooks.Filter != nil && !q.filter(p, n):
		return domain.CheckFilter
	}
	return ""
}

// filter asks the user's filter about p on n.
func (q *question) filter(p *cluster.Pod, n *cluster.Node) bool {
	defer relation.Called("Filter")
	return q.o.Hooks.Filter(suits.Shown(p), n)
}
