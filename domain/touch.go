package domain

import "github.com/preempt-go/preempt/preemption/cluster"

// Toucher is an optional part of a State: it tells which pods it does not look at.
// Where no pod that could leave a node touches a constraint, its answer for that
// node stays as it is, whatever else is evicted there.
type Toucher interface {
	// Touches reports whether removing pod p from node n, or returning it, may
	// change an answer of Fits. It must not change while the State is in use.
	Touches(p cluster.PodID, n cluster.NodeID) bool
}
