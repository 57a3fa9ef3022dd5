package cluster

import (
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/priority"
)

// PodGroup is a set of pods that are scheduled, and by its Mode perhaps evicted,
// together. Pods name it in Pod.Group.
type PodGroup struct {
	Namespace string            `json:"namespace,omitempty"`
	Name      string            `json:"name"`
	UID       string            `json:"uid,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`

	Parent string          `json:"parent,omitempty"` // CompositePodGroup in the same namespace
	Mode   disruption.Mode `json:"disruptionMode,omitempty"`

	// MinCount makes the group a gang: fewer running pods are of no use. nil with
	// Basic: any number will do. Both set is an error; neither is read as Basic.
	MinCount *int32 `json:"minCount,omitempty"`
	Basic    bool   `json:"basic,omitempty"`

	Class              string          `json:"priorityClass,omitempty"`
	Priority           *int32          `json:"priority,omitempty"`           // nil: as the class says; without class 0
	PreemptionPriority *int32          `json:"preemptionPriority,omitempty"` // as a victim, where the rules read it (KEP5710Alpha); at least Priority; nil: as Priority
	Policy             priority.Policy `json:"preemptionPolicy,omitempty"`

	// Leader names a pod that goes last, and without which the rest of the group is of
	// no use, where Mode is SurplusFirst. Empty: there is none.
	Leader string `json:"leader,omitempty"`

	Topology []TopologyConstraint `json:"topology,omitempty"` // from the widest level to the narrowest
	Queue    string               `json:"queue,omitempty"`    // LocalQueue of the namespace: it needs quota too

	Guard      *Guard      `json:"guard,omitempty"`      // what protects every pod of it, or holds it back
	Cost       *Cost       `json:"cost,omitempty"`       // what its eviction as a whole costs beyond its pods
	Evictions  []time.Time `json:"evictions,omitempty"`  // earlier ones, in any order
	RanSeconds int64       `json:"ranSeconds,omitempty"` // how long it ran before the latest of them
}

// CompositePodGroup is an inner node of a tree of groups, at most four levels deep.
type CompositePodGroup struct {
	Namespace string            `json:"namespace,omitempty"`
	Name      string            `json:"name"`
	UID       string            `json:"uid,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`

	Parent        string          `json:"parent,omitempty"`
	Mode          disruption.Mode `json:"disruptionMode,omitempty"`
	MinGroupCount *int32          `json:"minGroupCount,omitempty"` // child groups that must run; nil: all

	Class              string          `json:"priorityClass,omitempty"`
	Priority           *int32          `json:"priority,omitempty"`
	PreemptionPriority *int32          `json:"preemptionPriority,omitempty"`
	Policy             priority.Policy `json:"preemptionPolicy,omitempty"`

	Topology []TopologyConstraint `json:"topology,omitempty"`

	Guard      *Guard      `json:"guard,omitempty"`
	Cost       *Cost       `json:"cost,omitempty"`
	Evictions  []time.Time `json:"evictions,omitempty"`
	RanSeconds int64       `json:"ranSeconds,omitempty"`
}

// TopologyConstraint asks that a group is packed into one value of a node label.
type TopologyConstraint struct {
	Key       string `json:"key"`                 // node label
	Preferred bool   `json:"preferred,omitempty"` // false: required
}
