package cluster

import (
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/priority"
)

// Snapshot is one moment of a cluster, and with a [Preemptor] a complete question.
// The order of its slices never matters. The zero Snapshot is an empty cluster.
type Snapshot struct {
	Time               time.Time           `json:"time,omitzero"` // "now"; pods that have not started count as started now
	Nodes              []Node              `json:"nodes,omitempty"`
	Pods               []Pod               `json:"pods,omitempty"`
	PodGroups          []PodGroup          `json:"podGroups,omitempty"`
	CompositePodGroups []CompositePodGroup `json:"compositePodGroups,omitempty"`
	Budgets            []disruption.Budget `json:"budgets,omitempty"`
	PriorityClasses    []priority.Class    `json:"priorityClasses,omitempty"`
	Namespaces         []Namespace         `json:"namespaces,omitempty"`
}

// Kind is the kind of an object that can be named.
type Kind string

// The kinds of objects.
const (
	KindPod               Kind = "Pod"
	KindPodGroup          Kind = "PodGroup"
	KindCompositePodGroup Kind = "CompositePodGroup"
)

// Preemptor is the pod or group that wants to run: either the name of a pending
// object of the snapshot, or pods (and a group) given inline for a what-if. Both
// or neither is an error.
type Preemptor struct {
	Kind      Kind   `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`

	Pods  []Pod     `json:"pods,omitempty"`
	Group *PodGroup `json:"group,omitempty"`
}
