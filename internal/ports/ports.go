package ports

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// many is from how many ports on of one number a pod with as many is looked up, and pods of a node with more are.
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

// Meets reports whether there is a Conflict.
func (w *Wanted) Meets(have []cluster.HostPort) bool {
	if w.most > many && len(have) > many {
		return len(w.Conflicts(nil, have)) > 0
	}
	for _, h := range have {
		for i := w.last[h.Port].last; i > 0; i = w.next[i-1] {
			if taken(w.list[i-1], h) {
				return true
			}
		}
	}
	return false
}

// Conflicts returns the positions of the ports of w that a pod with ports have takes, in the memory of dst.
func (w *Wanted) Conflicts(dst []int, have []cluster.HostPort) []int {
	dst = dst[:0]
	if w.most > many && len(have) > many {
		held := holders[struct{}]{}
		held.add(have, struct{}{})
		for i, p := range w.list {
			if same, other := held.meeting(p); len(same)+len(other) > 0 {
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

// Nodes remember which pods on nodes hold ports, and which members are placed there who want some. The zero Nodes have been asked about none.
type Nodes struct {
	of   []node
	at   []int           // buffer of Meeting
	meet []cluster.PodID // likewise
}

type node struct {
	read  bool
	list  []holder
	held  holders[int] // positions in list; nil: it is not long
	guest holders[int] // members; nil: none was placed
}

type holder struct {
	pod  cluster.PodID
	some uint64
}

// on is node n of ix.
func (ns *Nodes) on(ix *cluster.Index, n cluster.NodeID) *node {
	if ns.of == nil {
		ns.of = make([]node, ix.NumNodes())
	}
	return &ns.of[n]
}

// read is on with the pods that run there.
func (ns *Nodes) read(ix *cluster.Index, n cluster.NodeID) *node {
	on := ns.on(ix, n)
	if on.read {
		return on
	}
	on.read = true
	for _, p := range ix.PodsOn(n) {
		if some := Some(ix.Pod(p).Ports); some != 0 {
			on.list = append(on.list, holder{p, some})
		}
	}
	if len(on.list) > many {
		on.held = holders[int]{}
		for i, h := range on.list {
			on.held.add(ix.Pod(h.pod).Ports, i)
		}
	}
	return on
}

// Meeting lists the pods on node n of ix, which is the same each time, that may hold a port of w, in their order there. The slice is good
// until the next call.
func (ns *Nodes) Meeting(ix *cluster.Index, n cluster.NodeID, w *Wanted) []cluster.PodID {
	on := ns.read(ix, n)
	ns.meet = ns.meet[:0]
	if on.meeting(w, &ns.at) {
		for _, i := range ns.at {
			ns.meet = append(ns.meet, on.list[i].pod)
		}
		return ns.meet
	}
	for _, h := range on.list {
		if w.MayMeet(h.some) {
			ns.meet = append(ns.meet, h.pod)
		}
	}
	return ns.meet
}

// meeting looks up the positions of those who hold a port of w, if that is less work than to go over the list, and reports whether it is.
func (on *node) meeting(w *Wanted, at *[]int) bool {
	*at = (*at)[:0]
	if len(on.held) == 0 {
		return false
	}
	for i, p := range w.list {
		same, other := on.held.meeting(p)
		if i+len(*at)+len(same)+len(other) >= len(on.list) {
			return false
		}
		*at = append(append(*at, same...), other...)
	}
	slices.Sort(*at)
	*at = slices.Compact(*at)
	return true
}

// Place notes that member m, who wants w, is placed on node n of ix.
func (ns *Nodes) Place(ix *cluster.Index, n cluster.NodeID, w *Wanted, m int) {
	if len(w.list) > 0 {
		on := ns.on(ix, n)
		if on.guest == nil {
			on.guest = holders[int]{}
		}
		on.guest.add(w.list, m)
	}
}

// Unplace notes that the latest who was placed on node n, who wants w, is not any more.
func (ns *Nodes) Unplace(n cluster.NodeID, w *Wanted) {
	if len(w.list) > 0 {
		ns.of[n].guest.dropLast(w.list)
	}
}

// Placed reports whether a member other than m, who wants w, is placed on node n of ix and wants one of these ports.
func (ns *Nodes) Placed(ix *cluster.Index, n cluster.NodeID, w *Wanted, m int) bool {
	guest, other := ns.on(ix, n).guest, func(o int) bool { return o != m }
	return slices.ContainsFunc(w.list, func(p cluster.HostPort) bool {
		same, others := guest.meeting(p)
		return slices.ContainsFunc(same, other) || slices.ContainsFunc(others, other)
	})
}

// holders are those who hold host ports, by number and protocol: who holds one on every address, which is written as none, and who on
// which address.
type holders[T any] map[heldPort][]T

type heldPort struct {
	cluster.HostPort
	some bool // on whatever address
}

// add adds one who holds list.
func (held holders[T]) add(list []cluster.HostPort, who T) {
	for _, p := range list {
		exact, some := keys(p)
		held[exact], held[some] = append(held[exact], who), append(held[some], who)
	}
}

// dropLast takes away the one who was added last, who holds list.
func (held holders[T]) dropLast(list []cluster.HostPort) {
	for _, p := range list {
		exact, some := keys(p)
		held[exact], held[some] = held[exact][:len(held[exact])-1], held[some][:len(held[some])-1]
	}
}

// meeting lists who holds p, or part of it.
func (held holders[T]) meeting(p cluster.HostPort) (same, other []T) {
	exact, some := keys(p)
	if exact.IP == "" {
		return nil, held[some]
	}
	every := exact
	every.IP = ""
	return held[exact], held[every]
}

// keys are those under which p is held.
func keys(p cluster.HostPort) (exact, some heldPort) {
	p.Protocol = protocol(p)
	if everyAddress(p) {
		p.IP = ""
	}
	exact = heldPort{p, false}
	p.IP = ""
	return exact, heldPort{p, true}
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
