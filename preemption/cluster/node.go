package cluster

// Resources maps a resource name to an amount: "cpu" in thousandths of a core,
// "memory" and "ephemeral-storage" in bytes, anything else in whole units. An
// absent name is an amount of zero, except Pods in Node.Allocatable.
type Resources map[string]int64

// Names of the resources that have a meaning of their own.
const (
	CPU    = "cpu"    // thousandths of a core
	Memory = "memory" // bytes
	Pods   = "pods"   // how many pods; a node that does not name it takes any number
)

// Node is a machine that pods run on.
type Node struct {
	Name          string            `json:"name"`
	Labels        map[string]string `json:"labels,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
	Allocatable   Resources         `json:"allocatable,omitempty"`
	Taints        []Taint           `json:"taints,omitempty"`
	Unschedulable bool              `json:"unschedulable,omitempty"` // cordoned

	// Devices lists pools of identical devices of which a pod takes whole ones or
	// a fraction of one. The keys are resource names.
	Devices map[string]DevicePool `json:"devices,omitempty"`
}

// DevicePool is a number of identical devices on one node.
type DevicePool struct {
	Count    int32 `json:"count"`    // devices, at most 1,024
	Capacity int64 `json:"capacity"` // of each device, in the unit of DeviceRequest.Fraction, e.g. 1000; from 1 to 1<<40
}

// Effect says what a taint does to pods that do not tolerate it.
type Effect string

// The effects of a taint. PreferNoSchedule never decides whether a pod fits.
const (
	NoSchedule       Effect = "NoSchedule"
	PreferNoSchedule Effect = "PreferNoSchedule"
	NoExecute        Effect = "NoExecute"
)

// Taint repels pods that do not tolerate it.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect Effect `json:"effect"`
}

// String is the taint as people write it: key=value:effect.
func (t Taint) String() string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}

// TaintUnschedulable is the key of the taint that stands for a cordoned node: a
// pod that tolerates it may be placed on a node that is Unschedulable.
const TaintUnschedulable = "node.kubernetes.io/unschedulable"

// TolerationOperator relates a toleration to a taint's value.
type TolerationOperator string

// The operators of a toleration; the empty one is TolerationEqual.
const (
	TolerationEqual  TolerationOperator = "Equal"
	TolerationExists TolerationOperator = "Exists"
	TolerationLt     TolerationOperator = "Lt" // the taint's value, an integer, is less than the toleration's
	TolerationGt     TolerationOperator = "Gt" // ... greater
)

// Toleration lets a pod run on nodes with a matching taint. An empty Key with
// TolerationExists matches every taint; an empty Effect matches every effect.
type Toleration struct {
	Key      string             `json:"key,omitempty"`
	Operator TolerationOperator `json:"operator,omitempty"`
	Value    string             `json:"value,omitempty"`
	Effect   Effect             `json:"effect,omitempty"`
}

// Namespace carries the labels that namespace selectors of affinity terms read.
type Namespace struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
}

// HasLabels reports whether n has every label of labels.
func (n *Node) HasLabels(labels map[string]string) bool {
	for k, v := range labels {
		if have, ok := n.Labels[k]; !ok || have != v {
			return false
		}
	}
	return true
}
