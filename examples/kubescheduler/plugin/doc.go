// Package plugin is a PostFilter plugin for kube-scheduler v1.36 whose decisions are
// those of a [preemption.Planner].
//
// The scheduler's own filters have found no node for a pod; the plugin asks the planner
// whom to evict. What follows is upstream's: its evaluator asks the extenders, its
// executor evicts, clears nominations of lower priority and holds the pod back until that
// is done. Before anybody is evicted, the framework's filters look at the chosen node
// without the victims; what they refuse (limits of volumes, plugins of a user's own) never
// costs an eviction.
//
// # The planner is the snapshot of the cycle
//
// A cycle decides about the scheduler's snapshot, which is ahead of the informers where pods
// are assumed, and behind them by what came since the cycle began. So the planner is not
// fed with events: at each question the nodes of the snapshot are walked, and those whose
// generation has changed since are compared pod by pod. A generation is given once, so
// that equal ones mean equal contents; nothing can be missed, and a failed update is tried
// again. Nominated pods come from the nominator, budgets and namespaces from the listers,
// as upstream reads them. A walk over 5,000 nodes costs one or two milliseconds (see the
// benchmark); feeding events would save most of that, and would have the planner answer
// about another moment than the one that the filters saw.
//
// The one case in which the snapshot changes under the same generation is the cycle of a pod
// group, behind the alpha gate GenericWorkload: such pods are upstream's to answer.
//
// # When upstream answers
//
// Upstream's DefaultPreemption is part of the plugin, and answers where the planner
// cannot: see [Reason]. Each such answer is counted and logged with its reason.
package plugin
