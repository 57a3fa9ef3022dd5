package domain

import "github.com/preempt-go/preempt/preemption/cluster"

// Check names what a pod failed on a node. The empty Check means that it fits.
type Check string

// The built-in checks, in the order in which they are made.
const (
	CheckUnschedulable Check = "unschedulable" // the node is cordoned
	CheckNodeName      Check = "node name"     // the pod may only go elsewhere
	CheckTaint         Check = "taint"         // a taint is not tolerated
	CheckNodeAffinity  Check = "node affinity" // nodeSelector or required node affinity
	CheckFilter        Check = "filter"        // the user's own check of the node
	CheckPorts         Check = "host port"     // a host port is taken
	CheckResource      Check = "resource"      // not enough of a resource
	CheckSlots         Check = "slots"         // room for fewer members than have to be placed
	CheckToken         Check = "token"         // an exclusive thing is held by another pod
	CheckDevice        Check = "device"        // no device with enough room
	CheckSpread        Check = "topology spread"
	CheckAffinity      Check = "pod affinity"
	CheckAntiAffinity  Check = "pod anti-affinity"
)

// Reason says why a pod does not fit on a node. The zero Reason says that it fits.
type Reason struct {
	Check Check

	// Unresolvable says that no eviction on the node can help.
	Unresolvable bool

	Resource cluster.ResourceID // for CheckResource
	Missing  int64              // for CheckResource: how much more must be free, in the resource's unit; for CheckSlots: of how many members
	Port     int                // for CheckPorts: position in the pod's ports

	// Detail names what stands in the way (a taint, a port, a term); for people.
	Detail string
}

// OK reports whether the pod fits.
func (r Reason) OK() bool { return r.Check == "" }

// orOK is r, or that the pod fits where r is nil.
func (r *Reason) orOK() Reason {
	if r == nil {
		return Reason{}
	}
	return *r
}
