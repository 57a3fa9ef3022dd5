package cluster

import "github.com/preempt-go/preempt/disruption"

// NodeID is a position in an Index. Nodes are numbered in order of their names; that of
// a planner may be a hole, see [Index.IsNode].
type NodeID int32

// PodID is a position in an Index. A new index numbers pods in order of namespace and
// name; a pod that came later has the number of one that was removed, or the next:
// see [Index.ComparePods].
type PodID int32

// ResourceID is a column of an Index. Resources are numbered in order of their
// names, after Pods, which is always column 0.
type ResourceID int32

// GroupID is a position among the pod groups of an Index, in order of namespace and name.
type GroupID int32

// BudgetID is a position among the budgets of an Index, in order of namespace and
// name; the order in which budgets are charged.
type BudgetID = disruption.BudgetID

// NoNode, NoPod and NoGroup stand for "none".
const (
	NoNode  NodeID  = -1
	NoPod   PodID   = -1
	NoGroup GroupID = -1
)

// PodsColumn is the column that counts pods.
const PodsColumn ResourceID = 0
