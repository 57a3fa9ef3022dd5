package ports

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// many is from how many ports on a list is looked up.
const many = 16

// Conflict returns the position of the first host port of want that a pod with
// ports have takes, and whether there is one. Two ports conflict if number and
// protocol are equal and so are the addresses, or one of them is every address.
func Conflict(want, have []cluster.HostPort) (int, bool) {
	if len(have) == 0 {
		return 0, false
	}
	held := filed(want, have)
	for i, w := range want {
		if takes(held, have, w) {
			return i, true
		}
	}
	return 0, false
}

// Conflicts appends to dst the positions of the ports of want that a pod with ports have takes.
func Conflicts(dst []int, want, have []cluster.HostPort) []int {
	if len(have) == 0 {
		return dst
	}
	held := filed(want, have)
	for i, w := range want {
		if takes(held, have, w) {
			dst = append(dst, i)
		}
	}
	return dst
}

// filed is have to be looked up, nil where want and have are so short that they are compared pair by pair.
func filed(want, have []cluster.HostPort) Held {
	if len(want) <= many || len(have) <= many {
		return nil
	}
	held := Held{}
	held.Add(have)
	return held
}

// takes reports whether have, filed as held, takes w.
func takes(held Held, have []cluster.HostPort, w cluster.HostPort) bool {
	if held != nil {
		return held.Has(w)
	}
	return taken(w, have)
}

// Held are host ports by number and protocol: who holds one on every address, which is
// written as none, and who on which address.
type Held map[heldPort]bool

type heldPort struct {
	cluster.HostPort
	some bool // on whatever address
}

// Add adds those of one more pod.
func (held Held) Add(list []cluster.HostPort) {
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

// Has reports whether somebody holds p, or part of it.
func (held Held) Has(p cluster.HostPort) bool {
	p.Protocol = protocol(p)
	every := p
	every.IP = ""
	return held[heldPort{p, false}] || held[heldPort{every, everyAddress(p)}]
}

func taken(w cluster.HostPort, have []cluster.HostPort) bool {
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

// Name is a port as people write it.
func Name(p cluster.HostPort) string {
	if everyAddress(p) {
		return fmt.Sprintf("%d/%s", p.Port, protocol(p))
	}
	return fmt.Sprintf("%s:%d/%s", p.IP, p.Port, protocol(p))
}
