package verify

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/check/internal/relation"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
