package domain

import (
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Preference says which node a pod goes to, of several that are equally good otherwise.
type Preference string

// The preferences. The empty Preference is the first node by name. The others compare what would be left with the pod there, on average
// over the resources that the pod asks for, each as a share of what the node offers, in millionths rounded down; the number of pods does
// not count. Those that tie go by name.
//
// Source: kube-scheduler, NodeResourcesFit, scoring strategies of these names.
const (
	FirstByName    Preference = ""
	LeastAllocated Preference = "LeastAllocated" // spreads pods over nodes
	MostAllocated  Preference = "MostAllocated"  // keeps nodes free for large pods
)

// Valid reports whether p is one of those.
func (p Preference) Valid() bool {
	return p == FirstByName || p == LeastAllocated || p == MostAllocated
}

// Of is how much p likes a node for member m, on which it has room once free is free: more is better. free and allocatable are rows of the
// index; what is over allocated counts as all of it. A resource that m asks for and the index does not know makes it 0.
func (p Preference) Of(m *Member, free, allocatable []int64) int64 {
	if p == FirstByName || len(m.unknown) > 0 {
		return 0
	}
	sum, numResources := int64(0), int64(0)
	for _, r := range m.asks {
		if r == cluster.PodsColumn {
			continue
		}
		all := max(allocatable[r], 0)
		part, _ := checked.MulDiv(min(free[r]-min(free[r], m.request[r]), all), 1_000_000, max(all, 1))
		sum, numResources = sum+part, numResources+1
	}
	if numResources == 0 {
		return 0
	}
	if p == MostAllocated {
		sum = -sum
	}
	return sum / numResources
}
