package preemption

import (
	"time"

	"github.com/google/btree"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/byname"
)

// model holds the objects of a cluster by name. Objects are immutable: a change
// replaces one. The trees are cloned lazily, so that a fork is cheap.
type model struct {
	time       time.Time
	nodes      *btree.BTreeG[*cluster.Node]
	pods       *btree.BTreeG[*cluster.Pod]
	groups     *btree.BTreeG[*cluster.PodGroup]
	composites *btree.BTreeG[*cluster.CompositePodGroup]
	budgets    *btree.BTreeG[*Budget]
	classes    *btree.BTreeG[*PriorityClass]
	namespaces *btree.BTreeG[*cluster.Namespace]

	disruptions []cluster.Disruption // never changed in place
}

func newModel(o cluster.Objects) *model {
	return &model{
		time:   o.Time,
		nodes:  byname.Tree(o.Nodes, func(a, b *cluster.Node) bool { return a.Name < b.Name }),
		pods:   byname.Tree(o.Pods, func(a, b *cluster.Pod) bool { return byname.Before(a.Namespace, a.Name, b.Namespace, b.Name) }),
		groups: byname.Tree(o.PodGroups, func(a, b *cluster.PodGroup) bool { return byname.Before(a.Namespace, a.Name, b.Namespace, b.Name) }),
		composites: byname.Tree(o.CompositePodGroups, func(a, b *cluster.CompositePodGroup) bool {
			return byname.Before(a.Namespace, a.Name, b.Namespace, b.Name)
		}),
		budgets:    byname.Tree(byname.Pointers(o.Budgets), func(a, b *Budget) bool { return byname.Before(a.Namespace, a.Name, b.Namespace, b.Name) }),
		classes:    byname.Tree(byname.Pointers(o.PriorityClasses), func(a, b *PriorityClass) bool { return a.Name < b.Name }),
		namespaces: byname.Tree(byname.Pointers(o.Namespaces), func(a, b *cluster.Namespace) bool { return a.Name < b.Name }),

		disruptions: o.Disruptions,
	}
}

func (m *model) clone() *model {
	return &model{
		m.time, m.nodes.Clone(), m.pods.Clone(), m.groups.Clone(), m.composites.Clone(),
		m.budgets.Clone(), m.classes.Clone(), m.namespaces.Clone(), m.disruptions,
	}
}

// objects lists everything in order of name.
func (m *model) objects() cluster.Objects {
	return cluster.Objects{
		Time: m.time, Nodes: byname.All(m.nodes), Pods: byname.All(m.pods),
		PodGroups: byname.All(m.groups), CompositePodGroups: byname.All(m.composites),
		Budgets: byname.Values(m.budgets), PriorityClasses: byname.Values(m.classes), Namespaces: byname.Values(m.namespaces), Disruptions: m.disruptions,
	}
}

// snapshot returns a copy of everything.
func (m *model) snapshot() *Snapshot {
	return &Snapshot{
		Time: m.time, Nodes: byname.Values(m.nodes), Pods: byname.Values(m.pods),
		PodGroups: byname.Values(m.groups), CompositePodGroups: byname.Values(m.composites),
		Budgets: byname.Values(m.budgets), PriorityClasses: byname.Values(m.classes), Namespaces: byname.Values(m.namespaces), Disruptions: m.disruptions,
	}
}

// pod returns the pod of that name, nil if there is none.
func (m *model) pod(ref PodRef) *cluster.Pod {
	p, _ := m.pods.Get(&cluster.Pod{Namespace: ref.Namespace, Name: ref.Name})
	return p
}
