// Package cluster models what preemption decides about: nodes, pods, pod groups,
// budgets, priority classes and queues, as plain structs with JSON tags, and the
// dense index that the search runs on.
//
// A [Snapshot] is one moment of a cluster. [NewIndex] checks it, reports every
// problem at once, and turns names into integers; it is the only place that does
// either. Times are instants ([time.Time]); the zero time means unknown. Amounts
// are integers: cpu in thousandths of a core, everything else in whole units.
//
// Source: DESIGN.md's contract; KEP-5710 for groups, KEP-902 for classes.
package cluster
