package cluster

import (
	"iter"
	"math"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/preemption/cluster/internal/hashed"
	"github.com/preempt-go/preempt/priority"
)

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

// Index is a compiled snapshot: objects numbered one after the other, with requests and
// capacities in columns. Safe for concurrent use, but for the methods that change it
// (see live.go), which need exclusive use: the index of a planner changes between
// questions, so that what a question reads from it is good until its end.
type Index struct {
	time      time.Time
	now       int64
	classes   *priority.Classes
	resources []string
	column    map[string]ResourceID
	named     []int32 // by column: how many nodes and pods name the resource

	nodes       paged.Column[nodeRow]
	allocatable paged.Matrix
	free        paged.Matrix
	nodeByName  hashed.Table
	nodeHoles   int // how many of the nodes are holes
	strays      strays

	pods      paged.Column[podRow]
	requests  paged.Matrix
	podByName hashed.Table
	hole      PodID   // the last one of the pods that were removed; NoPod
	late      int     // how many pods are out of order
	waiting   int     // how many running pods have no start
	guarded   saying  // how many pods and groups have a guard, or earlier evictions
	queued    int     // how many running pods have a queue
	fresh     []int64 // the row of the pod that is about to come

	groups        paged.Column[Group]
	groupByName   map[groupKey]GroupID
	groupsShared  bool      // groupByName is a fork's, too: copied before it is changed
	groupHoles    []GroupID // numbers of groups that were removed; never changed in place
	deep          bool      // some chain of groups has more than MaxTreeDepth levels
	cyclic        bool      // some chain of groups is a cycle
	latest        time.Time // no checkpoint or eviction is later; it may be that of an object that is gone
	budgets       []disruption.Budget
	budgetsShared bool // budgets are a fork's, too: copied before they are changed
	budgetSet     *disruption.Set

	namespaces map[string]map[string]string
	warnings   []Warning
	held       *[]heldWarning // nil: no changes are made at once

	warningsShared bool // warnings are a fork's, too: copied before they are changed

	disruptions []Disruption
	lead        int32   // see CheckLead; 0: it was not called
	source      Objects // but for nodes, pods and budgets

	carriers carriers
	devices  *Devices
	lazy     *lazy
}

// nodeRow is what is known of a node beside its amounts.
type nodeRow struct {
	node     *Node
	pods     []PodID // in order of name; never changed in place
	nominees []PodID // likewise
	open     bool
}

// podRow is what is known of a pod beside its requests.
type podRow struct {
	pod      *Pod
	started  int64 // nanoseconds, if begun
	node     NodeID
	priority int32
	level    int32 // preemption priority without milestones; in a hole, the one that was made before it
	group    GroupID
	policy   policyID
	runs     bool // on whatever node
	begun    bool // it is known since when it runs
	grouped  bool // it names a group
	late     bool // it came later, so that its number says nothing about its name
	repels   bool // it has anti-affinity terms
	leaves   bool // it is terminating
}

// policyID is a preemption policy in a byte.
type policyID uint8

var policies = [...]priority.Policy{priority.PreemptLowerPriority, priority.Never}

func idOf(p priority.Policy) policyID {
	if p == priority.Never {
		return 1
	}
	return 0
}

// PodKey names a pod in lookups.
type PodKey struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Time is the snapshot's.
func (ix *Index) Time() time.Time { return ix.time }

// Now is the snapshot's time in nanoseconds; see [Nanos].
func (ix *Index) Now() int64 { return ix.now }

// Classes resolves priorities by the snapshot's classes.
func (ix *Index) Classes() *priority.Classes { return ix.classes }

// NumNodes is how many numbers nodes have: NodeID runs from 0 to NumNodes-1, in order of
// name. Where nodes of a planner have come or gone, some of these are holes: see
// [Index.IsNode].
func (ix *Index) NumNodes() int { return ix.nodes.Len() }

// CountNodes is how many nodes there are, without holes.
func (ix *Index) CountNodes() int { return ix.nodes.Len() - ix.nodeHoles }

// IsNode reports whether n is a node, and not a hole.
func (ix *Index) IsNode(n NodeID) bool { return ix.nodes.At(int(n)).node != &removedNode }

// Nodes yields the nodes in order of name, which is that of their numbers.
func (ix *Index) Nodes() iter.Seq[NodeID] { return ix.NodesBetween(0, NodeID(ix.NumNodes())) }

// NodesBetween yields the nodes from first to end, not included, in order.
func (ix *Index) NodesBetween(first, end NodeID) iter.Seq[NodeID] {
	return func(yield func(NodeID) bool) {
		for n := first; n < end; n++ {
			if ix.IsNode(n) && !yield(n) {
				return
			}
		}
	}
}

// removedNode is what a hole among the nodes reads as.
var removedNode Node

// NumPods is the number of pods; PodID runs from 0 to NumPods-1. Where a planner has
// removed pods, some of these are holes: see [Index.Exists].
func (ix *Index) NumPods() int { return ix.pods.Len() }

// NumResources is the number of columns of a row.
func (ix *Index) NumResources() int { return len(ix.resources) }

// Node returns node n. It must not be changed. Of a hole it is a node without a name,
// which offers nothing and has no pods.
func (ix *Index) Node(n NodeID) *Node { return ix.nodes.At(int(n)).node }

// Pod returns pod p. It must not be changed. Of a hole it is a pending pod without a
// name that asks for nothing.
func (ix *Index) Pod(p PodID) *Pod { return ix.pods.At(int(p)).pod }

// Exists reports whether p is a pod, and not a hole that a removed one has left.
func (ix *Index) Exists(p PodID) bool { return ix.pods.At(int(p)).pod != &removed }

// removed is what a hole reads as.
var removed Pod

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
func (ix *Index) NodeOf(p PodID) NodeID { return ix.pods.At(int(p)).node }

// Runs reports whether pod p runs, be it on a node that is not in the snapshot.
func (ix *Index) Runs(p PodID) bool { return ix.pods.At(int(p)).runs }

// Terminating reports whether pod p is.
func (ix *Index) Terminating(p PodID) bool { return ix.pods.At(int(p)).leaves }

// Grouped reports whether pod p names a pod group, be it one that is not in the snapshot.
func (ix *Index) Grouped(p PodID) bool { return ix.pods.At(int(p)).grouped }

// Started is when pod p started, in nanoseconds; see [Nanos]. One that has not started
// counts as started now.
func (ix *Index) Started(p PodID) int64 {
	if row := ix.pods.At(int(p)); row.begun {
		return row.started
	}
	return ix.now
}

// Priority returns the effective priority of pod p itself, whatever its group's.
func (ix *Index) Priority(p PodID) int32 { return ix.pods.At(int(p)).priority }

// Unstarted reports whether pod p runs, but nobody knows since when.
func (ix *Index) Unstarted(p PodID) bool { return ix.pods.At(int(p)).numUnstarted() > 0 }

// AnyUnstarted reports whether that holds for any pod.
func (ix *Index) AnyUnstarted() bool { return ix.waiting > 0 }

// PreemptionPriority returns the priority of pod p itself as a victim under the
// early text of KEP-5710; its Priority if nothing else is said. From the second due on,
// since 1970, it may be another one; math.MaxInt64: as long as nothing else changes, it
// stays.
func (ix *Index) PreemptionPriority(p PodID) (level int32, due int64) {
	row := ix.pods.At(int(p))
	return ix.levelAt(row.level, row.pod.Guard, func() time.Time { return ix.Checkpoint(p) })
}

// GroupPreemptionPriority is [Index.PreemptionPriority] of group g itself.
func (ix *Index) GroupPreemptionPriority(g GroupID) (level int32, due int64) {
	group := ix.Group(g)
	return ix.levelAt(group.level, group.Guard(), func() time.Time { return ix.GroupCheckpoint(g) })
}

// Policy returns the effective preemption policy of pod p itself.
func (ix *Index) Policy(p PodID) priority.Policy { return policies[ix.pods.At(int(p)).policy] }

// Open reports whether node n is neither cordoned nor tainted: every pod may go there.
func (ix *Index) Open(n NodeID) bool { return ix.nodes.At(int(n)).open }

// PodsOn returns the pods that run on node n, in order of namespace and name. The
// slice belongs to the index.
func (ix *Index) PodsOn(n NodeID) []PodID { return ix.nodes.At(int(n)).pods }

// Nominees returns the pending pods that are nominated to node n, in order of
// namespace and name. The slice belongs to the index.
func (ix *Index) Nominees(n NodeID) []PodID { return ix.nodes.At(int(n)).nominees }

// NominatedTo returns the node that pod p is nominated to, NoNode if it runs or there
// is no such node.
func (ix *Index) NominatedTo(p PodID) NodeID { return ix.pods.At(int(p)).nominated(ix) }

// Request returns the row of amounts that pod p asks for; it counts as one of
// Pods, unless it is a hole. The slice belongs to the index.
func (ix *Index) Request(p PodID) []int64 { return ix.requests.Row(int(p)) }

// Allocatable returns the row of amounts that node n offers in all. The slice
// belongs to the index.
func (ix *Index) Allocatable(n NodeID) []int64 { return ix.allocatable.Row(int(n)) }

// Free returns the row of what the running pods leave of node n, below zero where
// it is overcommitted. The slice belongs to the index.
func (ix *Index) Free(n NodeID) []int64 { return ix.free.Row(int(n)) }

// NodeByName returns the node of that name, or NoNode.
func (ix *Index) NodeByName(name string) NodeID {
	return NodeID(ix.nodeByName.Find(hashed.Node(name), func(n int) bool { return ix.nodes.At(n).node.Name == name }))
}

// PodByName returns the pod of that namespace and name, or NoPod.
func (ix *Index) PodByName(namespace, name string) PodID {
	return PodID(ix.podByName.Find(hashed.Name(namespace, name), func(p int) bool {
		pod := ix.pods.At(p).pod
		return pod.Name == name && pod.Namespace == namespace
	}))
}

// NamespaceLabels returns the labels of a namespace; nil if it has none or is not
// in the snapshot.
func (ix *Index) NamespaceLabels(namespace string) map[string]string { return ix.namespaces[namespace] }

// Disruptions lists earlier preemptions, in no order. The slice belongs to the index.
func (ix *Index) Disruptions() []Disruption { return ix.disruptions }

// Warnings lists what is odd in the snapshot, in a fixed order. The slice belongs to the index.
func (ix *Index) Warnings() []Warning { return ix.warnings }

// Nanos is t in nanoseconds since 1970, saturating at the ends of int64. The zero
// time is unknown and counts as later than every other.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return math.MaxInt64
	}
	switch s := t.Unix(); {
	case s > math.MaxInt64/1_000_000_000-1:
		return math.MaxInt64
	case s < math.MinInt64/1_000_000_000+1:
		return math.MinInt64
	}
	return t.UnixNano()
}
