package domain

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/noderules"
	"github.com/preempt-go/preempt/internal/ports"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Member is one pod of a preemptor, compiled for one index: what the built-in checks need of it. It is immutable once it is used.
type Member struct {
	Pod *cluster.Pod
	ID  cluster.PodID // in the index; NoPod for a pod given inline

	request []int64 // a row of the index
	asks    []cluster.ResourceID
	ports   ports.Wanted
	named   []string // its ports, sorted: equal where they are, in whatever order
	rule    noderules.Rule

	unknown []string // resources asked for that the index has no column for, sorted

	filter Filter       // nil: none; see Restrict
	view   *cluster.Pod // what it is shown
}

// NewMember compiles pod for ix. id is its place in ix, or NoPod.
func NewMember(ix *cluster.Index, pod *cluster.Pod, id cluster.PodID) *Member {
	m := &Member{Pod: pod, ID: id, named: words.Texts(pod.Ports, ports.Name)}
	if id == cluster.NoPod || ix.NodeOf(id) == cluster.NoNode { // one that has to move looks at few nodes
		m.rule = noderules.NewTable(ix).Rule(pod)
	} else {
		m.rule = noderules.NewRule(pod)
	}
	m.ports.Add(pod.Ports)
	m.readRequests(ix)
	return m
}

// readRequests compiles what the pod of m asks for.
func (m *Member) readRequests(ix *cluster.Index) {
	m.request = make([]int64, ix.NumResources())
	m.request[cluster.PodsColumn] = 1
	for name, amount := range m.Pod.Requests {
		if amount == 0 {
			continue // asks for nothing: ignored even where a node is overcommitted
		}
		r, ok := ix.Column(name)
		if !ok {
			m.unknown = append(m.unknown, name)
			continue
		}
		m.request[r] = amount
	}
	slices.Sort(m.unknown)
	for r, v := range m.request {
		if v > 0 {
			m.asks = append(m.asks, cluster.ResourceID(r))
		}
	}
}

// Request returns the row of amounts that m asks for. The slice belongs to m.
func (m *Member) Request() []int64 { return m.request }

// Unknown returns the resources that m asks for and that nothing in the snapshot offers or asks for, sorted. The slice belongs to m.
func (m *Member) Unknown() []string { return m.unknown }

// Anywhere reports whether m asks nothing of a node but room: no selector, affinity or required node, and no filter looks at it.
func (m *Member) Anywhere() bool { return !picks(m.Pod) && m.Pod.RequiredNode == "" && m.filter == nil }

// picks reports whether p has a selector or affinity of nodes.
func picks(p *cluster.Pod) bool { return len(p.NodeSelector) > 0 || p.NodeAffinity != nil }

// Cordoned reports whether node is cordoned and m does not tolerate that.
func (m *Member) Cordoned(node *cluster.Node) bool {
	return node.Unschedulable && !m.rule.Tolerates(&cordon)
}

// StaticChecks lists the checks that Static makes.
var StaticChecks = [...]Check{CheckUnschedulable, CheckNodeName, CheckTaint, CheckNodeAffinity, CheckFilter}

// Static is the position of c in StaticChecks; -1 if it is not there.
func (c Check) Static() int { return slices.Index(StaticChecks[:], c) }

// Static makes the checks that look at the node alone, in upstream's order: cordon, node name, taints, node affinity; then the user's
// filter. The zero Reason says that they all pass; no eviction changes any of them. Detail is left empty; see [Member.Describe].
func (m *Member) Static(node *cluster.Node) Reason {
	p := m.Pod
	switch {
	case m.Cordoned(node):
		return Reason{Check: CheckUnschedulable, Unresolvable: true}
	case p.RequiredNode != "" && p.RequiredNode != node.Name:
		return Reason{Check: CheckNodeName, Unresolvable: true}
	case m.rule.Untolerated(node) != nil:
		return Reason{Check: CheckTaint, Unresolvable: true}
	case !m.rule.Matches(node):
		return Reason{Check: CheckNodeAffinity, Unresolvable: true}
	case m.filter != nil && !m.filter(m.view, node):
		return Reason{Check: CheckFilter, Unresolvable: true}
	}
	return Reason{}
}

// Describe completes r, a reason why m does not fit on n, with its Detail.
func (m *Member) Describe(ix *cluster.Index, n cluster.NodeID, r Reason) Reason {
	switch {
	case r.Detail != "":
	case r.Check == CheckTaint:
		var names []string
		for _, t := range m.rule.AllUntolerated(ix.Node(n)) {
			names = append(names, t.String())
		}
		if len(names) > 0 {
			r.Detail = slices.Min(names) // not the first: the order of taints says nothing
		}
	case r.Check == CheckPorts:
		r.Detail = ports.Name(m.Pod.Ports[r.Port])
	case r.Check == CheckNodeName:
		r.Detail = m.Pod.RequiredNode
	}
	return r
}

var cordon = cluster.Taint{Key: cluster.TaintUnschedulable, Effect: cluster.NoSchedule}

// Resources compares what m asks for with what is free on a node that offers allocatable in all; both are rows of the index. The reason
// names the first resource that is short, and is unresolvable if any is short of what the node offers in all (the number of pods apart:
// upstream does not look at that).
func (m *Member) Resources(free, allocatable []int64) Reason {
	var first Reason
	for _, r := range m.asks {
		if want := m.request[r]; want > free[r] {
			if first.OK() {
				first = Reason{Check: CheckResource, Resource: r, Missing: checked.Sub(want, free[r])}
			}
			first.Unresolvable = first.Unresolvable || want > allocatable[r] && r != cluster.PodsColumn
		}
	}
	if len(m.unknown) > 0 {
		if first.OK() {
			name := m.unknown[0]
			first = Reason{Check: CheckResource, Resource: NoResource, Missing: m.Pod.Requests[name], Detail: name}
		}
		first.Unresolvable = true
	}
	return first
}

// NoResource stands in a Reason for a resource that no node of the snapshot offers; Detail has its name.
const NoResource cluster.ResourceID = -1

// alike reports whether no built-in check, nor the filter, can tell m from o, whatever the order of what they list.
func (m *Member) alike(o *Member) bool {
	p, q := m.Pod, o.Pod
	return slices.Equal(m.request, o.request) && slices.Equal(m.unknown, o.unknown) &&
		slices.Equal(m.named, o.named) && m.rule.Text() == o.rule.Text() && m.viewedAlike(o) &&
		slices.EqualFunc(p.Devices, q.Devices, func(a, b cluster.DeviceRequest) bool {
			return a.AsksAs(b) && slices.Equal(a.Assigned, b.Assigned)
		})
}

// text is equal for members that are alike but for what a filter is shown.
func (m *Member) text() string {
	var amounts []int64
	for _, r := range m.asks {
		amounts = append(amounts, int64(r), m.request[r])
	}
	return fmt.Sprintf("%d %q %s %v", amounts, [][]string{m.unknown, m.named}, m.rule.Text(), m.Pod.Devices)
}

// Room says why m has no room on node n of ix, which it was compiled for, beside everybody who runs there: the resources, host ports or
// devices that it asks for are not free. The zero Reason says that it has. Whether it may run there is not asked, nor who is nominated.
// O(r) for r resources; with ports or devices O(k) for k pods.
func (m *Member) Room(ix *cluster.Index, n cluster.NodeID) Reason {
	why := m.Resources(ix.Free(n), ix.Allocatable(n))
	if len(m.Pod.Ports) > 0 && why.OK() {
		why = m.portTaken(ix, n)
	}
	if len(m.Pod.Devices) == 0 || !why.OK() {
		return why
	}
	return newDeviceState(ix, []*cluster.Pod{m.Pod}, nil, nil).Fits(0, n)
}

// portTaken says which port of m somebody holds on node n.
func (m *Member) portTaken(ix *cluster.Index, n cluster.NodeID) Reason {
	for _, p := range ix.PodsOn(n) {
		if port, taken := m.ports.Conflict(ix.Pod(p).Ports); taken {
			return m.Describe(ix, n, Reason{Check: CheckPorts, Port: port})
		}
	}
	return Reason{}
}

// Members compiles the pods of a gang, one after the other. Those that ask for what the one before asks for share rows with it.
type Members struct {
	ix     *cluster.Index
	nodes  *noderules.Table
	filter Filter
	room   []Member
	last   *Member
	asks   []amount // what last asks for, by name
}

// amount is one entry of [cluster.Resources].
type amount struct {
	name  string
	value int64
}

// NewMembers returns Members for ix, with room for so many. They obey filter unless it is nil.
func NewMembers(ix *cluster.Index, most int, filter Filter) *Members {
	return &Members{ix: ix, nodes: noderules.NewTable(ix), filter: filter, room: make([]Member, 0, most)}
}

// Add is [NewMember].
func (ms *Members) Add(pod *cluster.Pod, id cluster.PodID) *Member {
	if len(ms.room) == cap(ms.room) {
		ms.room = make([]Member, 0, max(8, cap(ms.room)))
	}
	ms.room = append(ms.room, Member{Pod: pod, ID: id, named: words.Texts(pod.Ports, ports.Name), rule: ms.nodes.Next(pod)})
	m := &ms.room[len(ms.room)-1]
	m.ports.Add(pod.Ports)
	m.Restrict(ms.filter)
	if ms.last != nil && ms.asksAlike(pod.Requests) {
		m.request, m.asks, m.unknown = ms.last.request, ms.last.asks, ms.last.unknown
		return m
	}
	m.readRequests(ms.ix)
	ms.last, ms.asks = m, ms.asks[:0]
	for name, value := range pod.Requests {
		ms.asks = append(ms.asks, amount{name, value})
	}
	return m
}

// asksAlike reports whether r is what the last pod asks for.
func (ms *Members) asksAlike(r cluster.Resources) bool {
	return len(r) == len(ms.asks) && !slices.ContainsFunc(ms.asks, func(a amount) bool {
		v, ok := r[a.name]
		return !ok || v != a.value
	})
}

// Filter says whether a pod may run on a node, whoever else does: one more check of the node alone. It is a function of what [FilterView]
// leaves of the pod and of the node, and of neither the order of a list nor an entry of Requests that is zero.
type Filter func(pod *cluster.Pod, node *cluster.Node) bool

// FilterView is what a [Filter] is shown of pod: what it asks for and whose it is (Namespace, Labels, Annotations, Class, Group, Queue,
// Requests, Devices, Tolerations, NodeSelector, NodeAffinity, RequiredNode). Its name, UID, times and state are not there: pods that are
// made from one template look the same, and are answered alike. It shares maps and slices with pod.
func FilterView(pod *cluster.Pod) *cluster.Pod {
	return &cluster.Pod{
		Namespace: pod.Namespace, Labels: pod.Labels, Annotations: pod.Annotations,
		Class: pod.Class, Group: pod.Group, Queue: pod.Queue, Requests: pod.Requests, Devices: pod.Devices,
		Tolerations: pod.Tolerations, NodeSelector: pod.NodeSelector, NodeAffinity: pod.NodeAffinity, RequiredNode: pod.RequiredNode,
	}
}

// Restrict makes m obey f, too, if f is not nil. It is called before m is used.
func (m *Member) Restrict(f Filter) {
	if f != nil {
		m.filter, m.view = f, FilterView(m.Pod)
	}
}

// viewedAlike reports whether a filter can't tell m from o, which no other check of the node can.
func (m *Member) viewedAlike(o *Member) bool {
	if m.filter == nil {
		return true
	}
	p, q := m.view, o.view
	return p.Namespace == q.Namespace && p.Class == q.Class && p.Group == q.Group && p.Queue == q.Queue &&
		maps.Equal(p.Labels, q.Labels) && maps.Equal(p.Annotations, q.Annotations)
}
