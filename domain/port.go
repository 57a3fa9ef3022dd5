package domain

import (
	"github.com/preempt-go/preempt/domain/internal/ports"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// PortsConflict returns the position of the first host port of want that a pod with
// ports have takes, and whether there is one. Two ports conflict if number and
// protocol are equal and so are the addresses, or one of them is every address.
func PortsConflict(want, have []cluster.HostPort) (int, bool) { return ports.Conflict(want, have) }

// PortName is a port as people write it.
func PortName(p cluster.HostPort) string { return ports.Name(p) }
