package cluster

import "github.com/preempt-go/preempt/disruption"

// AffinityTerm says that a pod must, or must not, share a topology value with
// pods that it selects. A pod is selected if Selector matches its labels and its
// namespace is one of Namespaces or has labels that NamespaceSelector matches.
type AffinityTerm struct {
	Selector          *disruption.Selector `json:"selector,omitempty"`          // nil selects no pod
	Namespaces        []string             `json:"namespaces,omitempty"`        // both empty and nil selector: the pod's own
	NamespaceSelector *disruption.Selector `json:"namespaceSelector,omitempty"` // empty: every namespace
	TopologyKey       string               `json:"topologyKey"`
	MatchLabelKeys    []string             `json:"matchLabelKeys,omitempty"`    // labels that selected pods have with the pod's own value
	MismatchLabelKeys []string             `json:"mismatchLabelKeys,omitempty"` // labels that selected pods have not with the pod's own value
}

// NodePolicy says whether nodes that a pod cannot use for another reason count
// in topology spread.
type NodePolicy string

// The node policies of topology spread.
const (
	Honor  NodePolicy = "Honor"
	Ignore NodePolicy = "Ignore"
)

// Spread is a required topology spread constraint (DoNotSchedule).
type Spread struct {
	MaxSkew            int32                `json:"maxSkew"` // at least 1
	TopologyKey        string               `json:"topologyKey"`
	Selector           *disruption.Selector `json:"selector,omitempty"`           // nil selects no pod
	MinDomains         int32                `json:"minDomains,omitempty"`         // 0: 1
	NodeAffinityPolicy NodePolicy           `json:"nodeAffinityPolicy,omitempty"` // empty: Honor
	NodeTaintsPolicy   NodePolicy           `json:"nodeTaintsPolicy,omitempty"`   // empty: Ignore
	MatchLabelKeys     []string             `json:"matchLabelKeys,omitempty"`     // labels that selected pods have with the pod's own value
}

// DeviceRequest asks for whole devices or a fraction of one: either Count or
// Fraction is set.
type DeviceRequest struct {
	Resource string `json:"resource"`           // key of Node.Devices
	Count    int32  `json:"count,omitempty"`    // whole devices, at most 1,024
	Fraction int64  `json:"fraction,omitempty"` // of one device, in the unit of its capacity

	// Assigned lists the devices that a running pod holds, from 0. Empty: nobody
	// knows, and it is taken to sit as well as it can; see [Devices]. It says
	// nothing on a pending pod.
	Assigned []int32 `json:"assigned,omitempty"`
}
