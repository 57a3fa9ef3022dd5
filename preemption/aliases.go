package preemption

import (
	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Snapshot is one moment of a cluster; see [cluster.Snapshot].
type Snapshot = cluster.Snapshot

// Preemptor names or holds the pod or group that wants to run; see [cluster.Preemptor].
type Preemptor = cluster.Preemptor

// Pod is a running or pending pod; see [cluster.Pod].
type Pod = cluster.Pod

// PodGroup is a set of pods scheduled together; see [cluster.PodGroup].
type PodGroup = cluster.PodGroup

// Resources maps resource names to amounts; see [cluster.Resources].
type Resources = cluster.Resources

// Budget is a pod disruption budget; see [disruption.Budget].
type Budget = disruption.Budget

// Guards keep units from being evicted; see [victims.Guards].
type Guards = victims.Guards

// Selector is a label selector; see [disruption.Selector].
type Selector = disruption.Selector

// PriorityClass is a named priority level; see [priority.Class].
type PriorityClass = priority.Class
