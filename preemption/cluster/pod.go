package cluster

import (
	"time"

	"github.com/preempt-go/preempt/priority"
)

// Pod is a running or pending pod. One with a Node runs there and holds its
// requests; one without is pending. Pods that have finished do not belong into a
// snapshot.
type Pod struct {
	Namespace   string            `json:"namespace,omitempty"`
	Name        string            `json:"name"`
	UID         string            `json:"uid,omitempty"` // breaks ties between equally important pods
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`

	Node          string `json:"node,omitempty"`          // where it runs; empty: pending
	NominatedNode string `json:"nominatedNode,omitempty"` // where an earlier decision makes room for it
	RequiredNode  string `json:"requiredNode,omitempty"`  // a pending pod that may go nowhere else

	// Requests is the effective request of the whole pod: what init containers,
	// sidecars and overhead add up to. The pod itself counts as one of Pods;
	// a request of Pods is refused.
	Requests Resources  `json:"requests,omitempty"`
	Ports    []HostPort `json:"ports,omitempty"`

	Tolerations  []Toleration      `json:"tolerations,omitempty"`
	NodeSelector map[string]string `json:"nodeSelector,omitempty"` // labels that the node must have
	NodeAffinity *NodeAffinity     `json:"nodeAffinity,omitempty"` // required node affinity

	Class              string          `json:"priorityClass,omitempty"`
	Priority           *int32          `json:"priority,omitempty"`           // nil: as the class says
	PreemptionPriority *int32          `json:"preemptionPriority,omitempty"` // as a victim, where the rules read it (KEP5710Alpha); at least Priority; nil: as Priority
	Policy             priority.Policy `json:"preemptionPolicy,omitempty"`

	Group string `json:"group,omitempty"` // name of the PodGroup in the pod's namespace
	Queue string `json:"queue,omitempty"` // LocalQueue of the namespace: it needs quota too
	Owner *Owner `json:"owner,omitempty"` // what made it; shown, never decided on

	Created   time.Time `json:"created,omitzero"`
	Scheduled time.Time `json:"scheduled,omitzero"`
	Started   time.Time `json:"started,omitzero"` // zero: not started, counts as Snapshot.Time

	// Terminating says that the pod is on its way out; it still holds its room.
	// Preempted says that preemption is the reason.
	Terminating bool `json:"terminating,omitempty"`
	Preempted   bool `json:"preempted,omitempty"`

	Guard      *Guard      `json:"guard,omitempty"`      // what protects it, or holds it back
	Cost       *Cost       `json:"cost,omitempty"`       // what its eviction costs; nil: nothing is known
	Evictions  []time.Time `json:"evictions,omitempty"`  // earlier evictions of the same workload, in any order
	RanSeconds int64       `json:"ranSeconds,omitempty"` // how long it ran before the latest of them

	Affinity     []AffinityTerm  `json:"affinity,omitempty"`     // required, to other pods
	AntiAffinity []AffinityTerm  `json:"antiAffinity,omitempty"` // required, against other pods
	Spread       []Spread        `json:"spread,omitempty"`       // required topology spread
	Tokens       []string        `json:"tokens,omitempty"`       // exclusive things that one pod at a time holds
	Devices      []DeviceRequest `json:"devices,omitempty"`      // whole devices of a node, or a fraction of one
}

// Owner names the controller of a pod.
type Owner struct {
	Kind string `json:"kind,omitempty"`
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

// HostPort is a port of the node that a pod occupies.
type HostPort struct {
	IP       string `json:"ip,omitempty"`       // empty and "0.0.0.0": every address
	Protocol string `json:"protocol,omitempty"` // TCP, UDP or SCTP; empty: TCP
	Port     int32  `json:"port"`               // 1 to 65535
}

// NodeAffinity is a pod's required node affinity: at least one term must hold.
// One without terms holds nowhere.
type NodeAffinity struct {
	Terms []NodeTerm `json:"terms,omitempty"`
}

// NodeTerm is a conjunction of requirements. An empty term holds nowhere.
type NodeTerm struct {
	Labels []NodeRequirement `json:"matchExpressions,omitempty"` // on the node's labels
	Fields []NodeRequirement `json:"matchFields,omitempty"`      // on metadata.name only; In or NotIn, one value
}

// NodeOperator relates a label or field of a node to values.
type NodeOperator string

// The operators of a node selector.
const (
	NodeIn           NodeOperator = "In"
	NodeNotIn        NodeOperator = "NotIn"
	NodeExists       NodeOperator = "Exists"
	NodeDoesNotExist NodeOperator = "DoesNotExist"
	NodeGt           NodeOperator = "Gt" // the label, an integer, is greater than the one value
	NodeLt           NodeOperator = "Lt" // ... less
)

// NodeRequirement is one condition on a node.
type NodeRequirement struct {
	Key      string       `json:"key"`
	Operator NodeOperator `json:"operator"`
	Values   []string     `json:"values,omitempty"`
}
