package domain

import (
	"maps"

	"github.com/preempt-go/preempt/preemption/cluster"
)

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
