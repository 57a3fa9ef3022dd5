package domain

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// PortsConflict returns the position of the first host port of want that a pod with
// ports have takes, and whether there is one. Two ports conflict if number and
// protocol are equal and so are the addresses, or one of them is every address.
func PortsConflict(want, have []cluster.HostPort) (int, bool) {
	if len(have) > 0 {
		for i, w := range want {
			if portTaken(w, have) {
				return i, true
			}
		}
	}
	return 0, false
}

func portTaken(w cluster.HostPort, have []cluster.HostPort) bool {
	for _, h := range have {
		if w.Port == h.Port && protocol(w) == protocol(h) && (everyAddress(w) || everyAddress(h) || w.IP == h.IP) {
			return true
		}
	}
	return false
}

func protocol(p cluster.HostPort) string {
	if p.Protocol == "" {
		return "TCP"
	}
	return p.Protocol
}

func everyAddress(p cluster.HostPort) bool { return p.IP == "" || p.IP == "0.0.0.0" }

// PortName is a port as people write it.
func PortName(p cluster.HostPort) string {
	if everyAddress(p) {
		return fmt.Sprintf("%d/%s", p.Port, protocol(p))
	}
	return fmt.Sprintf("%s:%d/%s", p.IP, p.Port, protocol(p))
}
