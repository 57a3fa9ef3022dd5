package domain

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// NodeTrial is the what-if of one pod on one node at a time. It is reused from node to node and allocates nothing once warm. Not safe for
// concurrent use.
type NodeTrial struct {
	ix       *cluster.Index
	member   *Member
	states   []State
	nominees Nominees

	node     cluster.NodeID
	static   Reason  // what no eviction on node changes
	free     []int64 // what is free on node as things stand, of the resources that the member asks for
	taken    []int   // by port of the member: pods on node that hold it
	expected []cluster.PodID
	out      []cluster.PodID // removed and not returned, for Reset, in no order
	back     int             // where in out stood who returned last
	holder   cluster.PodID   // the pod that holds tells of, or NoPod
	holds    []int           // which ports of the member it has, in order
	freed    []int           // a buffer

	// Checks counts the calls of Fits since the trial was made.
	Checks int

	// Poll, if set, is called with each of them. It may panic, which ends the trial.
	Poll func()
}

// Nominees selects, from the pending pods nominated to a node, those that count as if they ran there: every other pod of at least the
// preemptor's priority.
type Nominees struct {
	Self     cluster.PodID // never counts; NoPod for an inline preemptor
	Priority int32
}

// NewNodeTrial returns a trial of member m. states are the prepared constraints; the trial changes them and leaves them as they were after
// each Reset.
func NewNodeTrial(ix *cluster.Index, m *Member, states []State, nominees Nominees) *NodeTrial {
	t := &NodeTrial{}
	t.Ask(ix, m, states, nominees)
	return t
}

// Ask makes t what [NewNodeTrial] returns, with the memory that t has from earlier trials, which are over. The zero NodeTrial may be asked.
func (t *NodeTrial) Ask(ix *cluster.Index, m *Member, states []State, nominees Nominees) {
	*t = NodeTrial{
		ix: ix, member: m, states: states, nominees: nominees, node: cluster.NoNode,
		free:     slices.Grow(t.free[:0], ix.NumResources())[:ix.NumResources()],
		taken:    slices.Grow(t.taken[:0], len(m.Pod.Ports))[:len(m.Pod.Ports)],
		expected: t.expected[:0], out: t.out[:0],
		holder: cluster.NoPod, holds: t.holds[:0], freed: t.freed[:0],
	}
}

// Restore leaves the constraints as they were: it returns every removed pod, for them alone. Before anything else is asked the trial has to
// be Reset.
func (t *NodeTrial) Restore() {
	for i := len(t.out) - 1; i >= 0; i-- {
		t.move(t.out[i], false)
	}
	t.out = t.out[:0]
}

// Reset returns every removed pod and moves the trial to node n.
func (t *NodeTrial) Reset(n cluster.NodeID) {
	t.Restore()
	t.node = n
	t.static = t.member.Static(t.ix.Node(n))
	for _, r := range t.member.asks {
		t.free[r] = t.ix.Free(n)[r]
	}
	if len(t.taken) > 0 {
		clear(t.taken)
		for _, p := range t.ix.PodsOn(n) {
			t.occupy(p, +1)
		}
	}
	t.expected = t.expected[:0]
	for _, p := range t.ix.Nominees(n) {
		if p != t.nominees.Self && t.ix.Priority(p) >= t.nominees.Priority {
			t.expected = append(t.expected, p)
		}
	}
}

// Under goes on with other states, and returns the removed pods, whom the caller lets leave there and return to the former ones.
func (t *NodeTrial) Under(states []State) []cluster.PodID {
	t.states = states
	return t.out
}

// Remove takes pod p away from where it runs.
func (t *NodeTrial) Remove(p cluster.PodID) {
	t.change(p, t.ix.NodeOf(p), -1)
	if len(t.states) > 0 {
		t.out = append(t.out, p)
		t.move(p, true)
	}
}

// Return puts pod p back where it ran: mostly beside whoever came back before it among those who are out, as units come back in the order
// in which they left.
func (t *NodeTrial) Return(p cluster.PodID) {
	t.change(p, t.ix.NodeOf(p), +1)
	if last := len(t.out) - 1; len(t.states) > 0 {
		from := min(max(t.back-1, 0), last)
		if t.back = from + slices.Index(t.out[from:min(t.back+2, last+1)], p); t.back < from {
			t.back = slices.Index(t.out, p)
		}
		t.out[t.back] = t.out[last]
		t.out = t.out[:last]
		t.move(p, false)
	}
}

// change books pod p as coming to (+1) or going from (-1) node n.
func (t *NodeTrial) change(p cluster.PodID, n cluster.NodeID, sign int64) {
	if n != t.node {
		return
	}
	for _, r := range t.member.asks {
		t.free[r] -= sign * t.ix.Request(p)[r]
	}
	t.occupy(p, int(sign))
}

// occupy books the ports of pod p as taken (+1) or free (-1).
func (t *NodeTrial) occupy(p cluster.PodID, sign int) {
	for _, i := range t.portsOf(p) {
		t.taken[i] += sign
	}
}

// portsOf lists which ports of the member pod p has. The slice is good until the next call.
func (t *NodeTrial) portsOf(p cluster.PodID) []int {
	if t.member.ports.Len() > 0 && p != t.holder {
		t.holder, t.holds = p, t.member.ports.Conflicts(t.holds, t.ix.Pod(p).Ports)
	}
	return t.holds
}

// move tells the constraints that pod p goes (or comes back).
func (t *NodeTrial) move(p cluster.PodID, away bool) {
	if n := t.ix.NodeOf(p); n != cluster.NoNode { // else on a node that the snapshot does not have
		shift(t.states, p, n, away)
	}
}

// shift tells states that pod p goes from node n, or comes there.
func shift(states []State, p cluster.PodID, n cluster.NodeID, away bool) {
	for _, s := range states {
		if away {
			s.Remove(p, n)
		} else {
			s.Return(p, n)
		}
	}
}

// Node is the node that the trial is about.
func (t *NodeTrial) Node() cluster.NodeID { return t.node }

// Matters reports whether pod p runs on the node, or a constraint looks at it.
func (t *NodeTrial) Matters(p cluster.PodID) bool {
	n := t.ix.NodeOf(p)
	return n == t.node || touchedBy(t.states, p, n)
}

// Fits says whether the member fits on the node: with the pods that are nominated to it taken as running, and without them, since they may
// go elsewhere.
//
// Source: kube-scheduler v1.36, filter with nominated pods.
func (t *NodeTrial) Fits() Reason {
	t.Checks++
	if t.Poll != nil {
		t.Poll()
	}
	return t.twice((*NodeTrial).fits)
}

// twice makes a check with the nominated pods and, if it passes, without them.
func (t *NodeTrial) twice(check func(*NodeTrial) Reason) Reason {
	if len(t.expected) > 0 {
		t.nominateAll(+1)
		r := check(t)
		t.nominateAll(-1)
		if !r.OK() {
			return r
		}
	}
	return check(t)
}

// nominateAll lets the nominated pods run on the node (+1), or not (-1).
func (t *NodeTrial) nominateAll(sign int64) {
	for _, p := range t.expected {
		t.change(p, t.node, sign)
		shift(t.states, p, t.node, sign < 0)
	}
}

// Excluded reports whether a check or a constraint keeps the member off the node and would with fewer pods gone, too: see Barred.
func (t *NodeTrial) Excluded() bool {
	return !t.twice(func(t *NodeTrial) Reason {
		if r := t.room(); !r.OK() {
			return r
		}
		return t.Barred()
	}).OK()
}

// Barred says whether a constraint keeps the member off the node whoever comes back: one that is monotone, or that looks at none of those
// who are gone.
func (t *NodeTrial) Barred() Reason {
	for i, s := range t.states {
		r := s.Fits(0, t.node)
		if !r.OK() && (s.Scope().Monotone || !slices.ContainsFunc(t.out, func(p cluster.PodID) bool {
			return touchedBy(t.states[i:i+1], p, t.ix.NodeOf(p))
		})) {
			return r
		}
	}
	return Reason{}
}

// fits makes the checks in upstream's order; those of the node alone come first.
func (t *NodeTrial) fits() Reason {
	if r := t.room(); !r.OK() {
		return r
	}
	return t.Constrained()
}

// room makes the checks that look at no other pods but for what they hold on the node.
func (t *NodeTrial) room() Reason {
	if !t.static.OK() {
		return t.static
	}
	for i, pods := range t.taken {
		if pods > 0 {
			return Reason{Check: CheckPorts, Port: i}
		}
	}
	return t.member.Resources(t.free, t.ix.Allocatable(t.node))
}

// Constraints says whether the prepared constraints alone let the member in.
func (t *NodeTrial) Constraints() Reason { return t.twice((*NodeTrial).Constrained) }

// shutter is a State that looks at topology values.
type shutter interface {
	// shut is where the member fits on no node with n's value as things stand, nil if that is not known; with others, whoever of these leaves, as
	// long as pod by stays, which runs there and is not self.
	shut(n cluster.NodeID, self cluster.PodID, others bool) (at *cluster.Topology, by cluster.PodID)
}

// Shut lists nodes, this one among them, on each of which a constraint keeps the member off as things stand; with others, whoever leaves, as
// long as pod by stays, which runs on one of them. Without, by is NoPod. It is nil where nothing is known. It costs O(1); with others O(n) for
// these n nodes, and looks at the pods of some until it finds by.
func (t *NodeTrial) Shut(others bool) (nodes []cluster.NodeID, by cluster.PodID) {
	for _, s := range t.states {
		if s, ok := s.(shutter); ok {
			if at, by := s.shut(t.node, t.nominees.Self, others); at != nil {
				return at.Sharing(t.node), by
			}
		}
	}
	return nil, cluster.NoPod
}

// Shortages lists every resource that is short as things stand, with the nominated pods taken as running.
func (t *NodeTrial) Shortages() []Reason {
	t.nominateAll(+1)
	defer t.nominateAll(-1)
	var list []Reason
	for _, r := range t.member.asks {
		if want := t.member.request[r]; want > t.free[r] {
			list = append(list, Reason{Check: CheckResource, Resource: r, Missing: checked.Sub(want, t.free[r])})
		}
	}
	return list
}

// Gap appends what is missing of each resource that the member asks for, and how many pods hold each of its host ports, with the nominated
// pods taken as running; what would be out of an int64's range is its end.
func (t *NodeTrial) Gap(dst []int64) []int64 {
	for _, r := range t.member.asks {
		free := t.free[r]
		for _, p := range t.expected {
			free = checked.Sub(free, t.ix.Request(p)[r])
		}
		gap := t.member.request[r] - free
		if free < 0 && gap < 0 {
			gap = math.MaxInt64
		}
		dst = append(dst, gap)
	}
	ports := len(dst)
	for _, pods := range t.taken {
		dst = append(dst, int64(pods))
	}
	for _, p := range t.expected {
		for _, i := range t.portsOf(p) {
			dst[ports+i]++
		}
	}
	return dst
}

// Frees is what pod p, if it runs on the node, asks of the r-th resource of Gap, or whether it holds that port.
func (t *NodeTrial) Frees(r int, p cluster.PodID) int64 {
	asks := len(t.member.asks)
	if t.ix.NodeOf(p) != t.node {
		return 0
	} else if r < asks {
		return t.ix.Request(p)[t.member.asks[r]]
	} else if _, holds := slices.BinarySearch(t.portsOf(p), r-asks); !holds {
		return 0
	}
	return 1
}

// FreedBy lists what of Gap pod p frees, if it runs on the node, and other resources. The slice is good until the next call.
func (t *NodeTrial) FreedBy(p cluster.PodID) []int {
	t.freed = t.freed[:0]
	if t.ix.NodeOf(p) != t.node {
		return nil
	}
	asks := len(t.member.asks)
	for r := range asks {
		t.freed = append(t.freed, r)
	}
	for _, i := range t.portsOf(p) {
		t.freed = append(t.freed, asks+i)
	}
	return t.freed
}

// Decides reports whether Fits says yes wherever nothing is missing in Gap.
func (t *NodeTrial) Decides() bool { return t.static.OK() && len(t.states) == 0 }

// PortsTaken lists the host ports of the member that pods on the node hold as things stand, the nominated ones taken as running. gone tells
// who has left.
func (t *NodeTrial) PortsTaken(gone func(cluster.PodID) bool) (list []cluster.HostPort) {
	var held []int
	for _, pods := range [...][]cluster.PodID{t.ix.PodsOn(t.node), t.expected} {
		for _, p := range pods {
			if taken := t.portsOf(p); len(taken) > 0 && !gone(p) {
				held = append(held, taken...)
			}
		}
	}
	slices.Sort(held)
	for _, i := range slices.Compact(held) {
		list = append(list, t.member.Pod.Ports[i])
	}
	return list
}
