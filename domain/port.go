package domain

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// PortsConflict returns the position of the first host port of want that a pod with
// ports have takes, and whether there is one. Two ports conflict if number and
// protocol are equal and so are the addresses, or one of them is every address.
func PortsConflict(want, have []cluster.HostPort) (int, bool) {
	if len(want) > manyListed && len(have) > manyListed {
		return portsConflict(want, have)
	}
	if len(have) > 0 {
		for i, w := range want {
			if portTaken(w, have) {
				return i, true
			}
		}
	}
	return 0, false
}

// portsConflict is PortsConflict for long lists, which are not compared pair by pair.
func portsConflict(want, have []cluster.HostPort) (int, bool) {
	held := newHeldPorts(have)
	for i, w := range want {
		if held.take(w) {
			return i, true
		}
	}
	return 0, false
}

// heldPorts are host ports by number and protocol: who holds one on every address, which is
// written as none, and who on which address.
type heldPorts map[heldPort]bool

type heldPort struct {
	cluster.HostPort
	some bool // on whatever address
}

func newHeldPorts(list []cluster.HostPort) heldPorts {
	held := make(heldPorts, 2*len(list))
	held.add(list)
	return held
}

func (held heldPorts) add(list []cluster.HostPort) {
	for _, p := range list {
		p.Protocol = protocol(p)
		if everyAddress(p) {
			p.IP = ""
		}
		held[heldPort{p, false}] = true
		p.IP = ""
		held[heldPort{p, true}] = true
	}
}

// take reports whether somebody holds p, or part of it.
func (held heldPorts) take(p cluster.HostPort) bool {
	p.Protocol = protocol(p)
	every := p
	every.IP = ""
	return held[heldPort{p, false}] || held[heldPort{every, everyAddress(p)}]
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
