package ports

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// many is from how many ports on of one number a pod with as many is looked up.
const many = 16

// Wanted are host ports to be compared with those of others. The zero Wanted is of none.
type Wanted struct {
	list []cluster.HostPort
	some uint64        // bit by bit: some number leaves that rest
	last map[int32]run // by number
	next []int         // by port: the position after the one before of its number
	most int           // how many have one number
}

// run is the ports of one number: the position after the last one, and how many they are.
type run struct{ last, len int }

// Add adds a copy of list.
func (w *Wanted) Add(list []cluster.HostPort) {
	if w.last == nil && len(list) > 0 {
		w.last = make(map[int32]run, len(list))
	}
	for _, p := range list {
		r := w.last[p.Port]
		w.list, w.next = append(w.list, p), append(w.next, r.last)
		w.last[p.Port], w.most = run{len(w.list), r.len + 1}, max(w.most, r.len+1)
	}
	w.some |= Some(list)
}

// Some has the bit of each number in list that leaves that rest, divided by 64.
func Some(list []cluster.HostPort) (some uint64) {
	for _, p := range list {
		some |= 1 << (uint32(p.Port) % 64)
	}
	return some
}

// MayMeet reports whether a port of w may have a number of those that leave some.
func (w *Wanted) MayMeet(some uint64) bool { return w.some&some != 0 }

// Reset takes all ports away.
func (w *Wanted) Reset() {
	w.list, w.next, w.some, w.most = w.list[:0], w.next[:0], 0, 0
	clear(w.last)
}

// Len is how many they are.
func (w *Wanted) Len() int { return len(w.list) }

// Conflict returns the position of the first port of w that a pod with ports have takes, and whether there is one. Two
// ports conflict if number and protocol are equal and so are the addresses, or one of them is every address.
func (w *Wanted) Conflict(have []cluster.HostPort) (int, bool) {
	var few [many]int
	if list := w.Conflicts(few[:0], have); len(list) > 0 {
		return list[0], true
	}
	return 0, false
}

// Conflicts returns the positions of the ports of w that a pod with ports have takes, in the memory of dst.
func (w *Wanted) Conflicts(dst []int, have []cluster.HostPort) []int {
	dst = dst[:0]
	if w.most > many && len(have) > many {
		held := Held{}
		held.Add(have)
		for i, p := range w.list {
			if held.Has(p) {
				dst = append(dst, i)
			}
		}
		return dst
	}
	for _, h := range have {
		if w.some>>(uint32(h.Port)%64)&1 == 0 {
			continue // as most do
		}
		for i := w.last[h.Port].last; i > 0; i = w.next[i-1] {
			if taken(w.list[i-1], h) {
				dst = append(dst, i-1)
			}
		}
	}
	slices.Sort(dst)
	return slices.Compact(dst)
}

// Nodes remember which pods on nodes hold ports. The zero Nodes have been asked about none.
type Nodes struct {
	of   [][]holder      // by node; nil: not read yet
	meet []cluster.PodID // buffer of Meeting
}

type holder struct {
	pod  cluster.PodID
	some uint64
}

// Meeting lists the pods on node n of ix, which is the same each time, that may hold a port of w. The slice is good until the next call.
func (ns *Nodes) Meeting(ix *cluster.Index, n cluster.NodeID, w *Wanted) []cluster.PodID {
	if ns.of == nil {
		ns.of = make([][]holder, ix.NumNodes())
	}
	if ns.of[n] == nil {
		ns.of[n] = []holder{}
		for _, p := range ix.PodsOn(n) {
			if some := Some(ix.Pod(p).Ports); some != 0 {
				ns.of[n] = append(ns.of[n], holder{p, some})
			}
		}
	}
	ns.meet = ns.meet[:0]
	for _, h := range ns.of[n] {
		if w.MayMeet(h.some) {
			ns.meet = append(ns.meet, h.pod)
		}
	}
	return ns.meet
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

func taken(w, h cluster.HostPort) bool {
	return w.Port == h.Port && protocol(w) == protocol(h) && (everyAddress(w) || everyAddress(h) || w.IP == h.IP)
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
