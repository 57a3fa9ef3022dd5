package ports

import (
	"slices"
	"strconv"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// many is from how many ports on of one number they are looked up, and pods of a node with more are.
const many = 16

// Wanted are host ports to be compared with those of others. The zero Wanted is of none.
type Wanted struct {
	list  []cluster.HostPort // each once
	at    []int              // of each: its position among all that were added
	added int
	some  uint64        // bit by bit: some number leaves that rest
	last  map[int32]run // by number
	next  []int         // by port: the position after the one before of its number
	held  holders[int]  // positions in list; nil unless one number has more than many
}

// run is the ports of one number: the position after the last one, and how many they are.
type run struct{ last, len int }

// Add adds a copy of list.
func (w *Wanted) Add(list []cluster.HostPort) {
	if w.last == nil && len(list) > 0 {
		w.last = make(map[int32]run, len(list))
	}
	w.some |= Some(list)
	for _, p := range list {
		w.added++
		if w.has(p) {
			continue
		}
		r := w.last[p.Port]
		w.list, w.at, w.next = append(w.list, p), append(w.at, w.added-1), append(w.next, r.last)
		w.last[p.Port] = run{len(w.list), r.len + 1}
		from := len(w.list) - 1
		if w.held == nil && r.len == many {
			w.held, from = holders[int]{}, 0
		}
		for i := from; w.held != nil && i < len(w.list); i++ {
			w.held.add(w.list[i:i+1], i)
		}
	}
}

// has reports whether p is there already.
func (w *Wanted) has(p cluster.HostPort) bool {
	exact, _ := keys(p)
	if w.held != nil {
		return len(w.held[exact]) > 0
	}
	for i := w.last[p.Port].last; i > 0; i = w.next[i-1] {
		if same, _ := keys(w.list[i-1]); same == exact {
			return true
		}
	}
	return false
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
	w.list, w.at, w.next, w.added, w.some, w.held = w.list[:0], w.at[:0], w.next[:0], 0, 0, nil
	clear(w.last)
}

// Len is how many different ones they are.
func (w *Wanted) Len() int { return len(w.list) }

// Conflict returns the position of the first port of w that a pod with ports have takes, and whether there is one. Two
// ports conflict if number and protocol are equal and so are the addresses, or one of them is every address.
func (w *Wanted) Conflict(have []cluster.HostPort) (int, bool) {
	first := len(w.list)
	var few [many]int
	for _, h := range have {
		same, other := w.takenBy(h, few[:0])
		for _, list := range [...][]int{same, other} {
			if len(list) > 0 {
				first = min(first, list[0], list[len(list)-1])
			}
		}
	}
	if first == len(w.list) {
		return 0, false
	}
	return w.at[first], true
}

// takenBy lists the positions in list of the ports that h takes, going up, or down in the memory of dst if they are not looked up.
func (w *Wanted) takenBy(h cluster.HostPort, dst []int) (same, other []int) {
	if w.some>>(uint32(h.Port)%64)&1 == 0 {
		return nil, nil // as for most
	}
	if w.held != nil {
		return w.held.meeting(h)
	}
	for i := w.last[h.Port].last; i > 0; i = w.next[i-1] {
		if taken(w.list[i-1], h) {
			dst = append(dst, i-1)
		}
	}
	return dst, nil
}

// Meets reports whether there is a Conflict.
func (w *Wanted) Meets(have []cluster.HostPort) bool {
	_, meets := w.Conflict(have)
	return meets
}

// Conflicts returns the positions of the ports of w that a pod with ports have takes, in the memory of dst. Of equal ports it is the first.
func (w *Wanted) Conflicts(dst []int, have []cluster.HostPort) []int {
	dst = dst[:0]
	if w.held != nil && len(have) > many {
		held := holders[struct{}]{}
		held.add(have, struct{}{})
		for i, p := range w.list {
			if same, other := held.meeting(p); len(same)+len(other) > 0 {
				dst = append(dst, w.at[i])
			}
		}
		return dst
	}
	var few [many]int
	for _, h := range have {
		same, other := w.takenBy(h, few[:0])
		for _, list := range [...][]int{same, other} {
			for _, i := range list {
				dst = append(dst, w.at[i])
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

// Unplace notes that m, the latest who was placed on node n, is not any more.
func (ns *Nodes) Unplace(n cluster.NodeID, w *Wanted, m int) {
	if len(w.list) > 0 {
		ns.of[n].guest.drop(w.list, m)
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

// Guests adds to list, unless they are there, the members placed on node n who want one of these ports.
func (ns *Nodes) Guests(list []int, n cluster.NodeID, have []cluster.HostPort) []int {
	for i := 0; ns.of != nil && i < len(have); i++ {
		same, other := ns.of[n].guest.meeting(have[i])
		for _, who := range [...][]int{same, other} {
			for _, m := range who {
				if !slices.Contains(list, m) {
					list = append(list, m)
				}
			}
		}
	}
	return list
}

// holders are those who hold host ports, by number and protocol: who holds one on every address, which is written as none, and who on
// which address.
type holders[T comparable] map[heldPort][]T

type heldPort struct {
	cluster.HostPort
	some bool // on whatever address
}

// add adds one who holds list.
func (held holders[T]) add(list []cluster.HostPort, who T) {
	for _, p := range list {
		exact, some := keys(p)
		for _, k := range [...]heldPort{exact, some} {
			if has := held[k]; len(has) == 0 || has[len(has)-1] != who {
				held[k] = append(has, who)
			}
		}
	}
}

// drop takes away who was added last, and holds list.
func (held holders[T]) drop(list []cluster.HostPort, who T) {
	for _, p := range list {
		exact, some := keys(p)
		for _, k := range [...]heldPort{exact, some} {
			if has := held[k]; len(has) > 0 && has[len(has)-1] == who {
				held[k] = has[:len(has)-1]
			}
		}
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
	name := strconv.Itoa(int(p.Port)) + "/" + protocol(p)
	if everyAddress(p) {
		return name
	}
	return p.IP + ":" + name
}
