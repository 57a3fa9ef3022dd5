package cluster

import (
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/priority"
)

// Index is a compiled snapshot: objects in a fixed order, numbered densely, with
// requests and capacities in columns. It is immutable and safe for concurrent use.
type Index struct {
	time      time.Time
	now       int64
	classes   *priority.Classes
	nodes     []*Node
	pods      []*Pod
	resources []string
	column    map[string]ResourceID

	allocatable []int64 // node-major rows of NumResources
	free        []int64 // likewise
	requests    []int64 // pod-major rows

	nodeOf   []NodeID
	priority []int32
	level    []int32 // preemption priority
	policy   []priority.Policy
	open     []bool
	podsOn   [][]PodID
	nominees [][]PodID

	groups      []Group
	groupOf     []GroupID
	groupByName map[groupKey]GroupID
	budgets     []disruption.Budget
	budgetSet   *disruption.Set

	nodeByName map[string]NodeID
	podByName  map[PodKey]PodID
	namespaces map[string]map[string]string
	warnings   []Warning

	disruptions []Disruption

	carriers carriers
	devices  *Devices
	lazy     lazy
}

// PodKey names a pod in lookups.
type PodKey struct{ Namespace, Name string }

// Time is the snapshot's.
func (ix *Index) Time() time.Time { return ix.time }

// Now is the snapshot's time in nanoseconds; see [Nanos].
func (ix *Index) Now() int64 { return ix.now }

// Classes resolves priorities by the snapshot's classes.
func (ix *Index) Classes() *priority.Classes { return ix.classes }

// NumNodes is the number of nodes; NodeID runs from 0 to NumNodes-1.
func (ix *Index) NumNodes() int { return len(ix.nodes) }

// NumPods is the number of pods; PodID runs from 0 to NumPods-1.
func (ix *Index) NumPods() int { return len(ix.pods) }

// NumResources is the number of columns of a row.
func (ix *Index) NumResources() int { return len(ix.resources) }

// Node returns node n. It must not be changed.
func (ix *Index) Node(n NodeID) *Node { return ix.nodes[n] }

// Pod returns pod p. It must not be changed.
func (ix *Index) Pod(p PodID) *Pod { return ix.pods[p] }

// Resource returns the name of column r.
func (ix *Index) Resource(r ResourceID) string { return ix.resources[r] }

// Column returns the column of the resource of that name, and whether there is one.
func (ix *Index) Column(name string) (ResourceID, bool) {
	r, ok := ix.column[name]
	return r, ok
}

// NumBudgets is the number of budgets; BudgetID runs from 0 to NumBudgets-1.
func (ix *Index) NumBudgets() int { return len(ix.budgets) }

// Budget returns budget b. It must not be changed.
func (ix *Index) Budget(b BudgetID) *disruption.Budget { return &ix.budgets[b] }

// BudgetSet tells which budgets cover a pod.
func (ix *Index) BudgetSet() *disruption.Set { return ix.budgetSet }

// NodeOf returns the node that pod p runs on, NoNode if it is pending or its node
// is not in the snapshot.
func (ix *Index) NodeOf(p PodID) NodeID { return ix.nodeOf[p] }

// Priority returns the effective priority of pod p itself, whatever its group's.
func (ix *Index) Priority(p PodID) int32 { return ix.priority[p] }

// PreemptionPriority returns the priority of pod p itself as a victim under the
// early text of KEP-5710; its Priority if nothing else is said.
func (ix *Index) PreemptionPriority(p PodID) int32 { return ix.level[p] }

// Policy returns the effective preemption policy of pod p itself.
func (ix *Index) Policy(p PodID) priority.Policy { return ix.policy[p] }

// Open reports whether node n is neither cordoned nor tainted: every pod may go there.
func (ix *Index) Open(n NodeID) bool { return ix.open[n] }

// PodsOn returns the pods that run on node n, in order of namespace and name. The
// slice belongs to the index.
func (ix *Index) PodsOn(n NodeID) []PodID { return ix.podsOn[n] }

// Nominees returns the pending pods that are nominated to node n, in order of
// namespace and name. The slice belongs to the index.
func (ix *Index) Nominees(n NodeID) []PodID { return ix.nominees[n] }

// Request returns the row of amounts that pod p asks for; it counts as one of
// Pods. The slice belongs to the index.
func (ix *Index) Request(p PodID) []int64 {
	r := len(ix.resources)
	return ix.requests[int(p)*r : (int(p)+1)*r]
}

// Allocatable returns the row of amounts that node n offers in all. The slice
// belongs to the index.
func (ix *Index) Allocatable(n NodeID) []int64 {
	r := len(ix.resources)
	return ix.allocatable[int(n)*r : (int(n)+1)*r]
}

// Free returns the row of what the running pods leave of node n, below zero where
// it is overcommitted. The slice belongs to the index.
func (ix *Index) Free(n NodeID) []int64 {
	r := len(ix.resources)
	return ix.free[int(n)*r : (int(n)+1)*r]
}

// NodeByName returns the node of that name, or NoNode.
func (ix *Index) NodeByName(name string) NodeID {
	if n, ok := ix.nodeByName[name]; ok {
		return n
	}
	return NoNode
}

// PodByName returns the pod of that namespace and name, or NoPod.
func (ix *Index) PodByName(namespace, name string) PodID {
	if p, ok := ix.podByName[PodKey{namespace, name}]; ok {
		return p
	}
	return NoPod
}

// NamespaceLabels returns the labels of a namespace; nil if it has none or is not
// in the snapshot.
func (ix *Index) NamespaceLabels(namespace string) map[string]string { return ix.namespaces[namespace] }

// Disruptions lists earlier preemptions, in no order. The slice belongs to the index.
func (ix *Index) Disruptions() []Disruption { return ix.disruptions }

// Warnings lists what is odd in the snapshot, in a fixed order.
func (ix *Index) Warnings() []Warning { return ix.warnings }
