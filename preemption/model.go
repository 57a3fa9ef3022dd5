package preemption

import (
	"cmp"
	"time"

	"github.com/google/btree"

	"github.com/preempt-go/preempt/preemption/cluster"
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

// degree is that of the trees.
const degree = 32

func newModel(o cluster.Objects) *model {
	return &model{
		time:       o.Time,
		nodes:      tree(o.Nodes, func(a, b *cluster.Node) bool { return a.Name < b.Name }),
		pods:       tree(o.Pods, func(a, b *cluster.Pod) bool { return before(a.Namespace, a.Name, b.Namespace, b.Name) }),
		groups:     tree(o.PodGroups, func(a, b *cluster.PodGroup) bool { return before(a.Namespace, a.Name, b.Namespace, b.Name) }),
		composites: tree(o.CompositePodGroups, func(a, b *cluster.CompositePodGroup) bool { return before(a.Namespace, a.Name, b.Namespace, b.Name) }),
		budgets:    tree(pointersTo(o.Budgets), func(a, b *Budget) bool { return before(a.Namespace, a.Name, b.Namespace, b.Name) }),
		classes:    tree(pointersTo(o.PriorityClasses), func(a, b *PriorityClass) bool { return a.Name < b.Name }),
		namespaces: tree(pointersTo(o.Namespaces), func(a, b *cluster.Namespace) bool { return a.Name < b.Name }),

		disruptions: o.Disruptions,
	}
}

func before(namespace1, name1, namespace2, name2 string) bool {
	if c := cmp.Compare(namespace1, namespace2); c != 0 {
		return c < 0
	}
	return name1 < name2
}

func tree[T any](list []*T, less func(a, b *T) bool) *btree.BTreeG[*T] {
	t := btree.NewG(degree, less)
	for _, item := range list {
		t.ReplaceOrInsert(item)
	}
	return t
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
		Time: m.time, Nodes: all(m.nodes), Pods: all(m.pods),
		PodGroups: all(m.groups), CompositePodGroups: all(m.composites),
		Budgets: values(m.budgets), PriorityClasses: values(m.classes), Namespaces: values(m.namespaces), Disruptions: m.disruptions,
	}
}

func all[T any](t *btree.BTreeG[*T]) []*T {
	list := make([]*T, 0, t.Len())
	t.Ascend(func(item *T) bool { list = append(list, item); return true })
	return list
}

func values[T any](t *btree.BTreeG[*T]) []T {
	list := make([]T, 0, t.Len())
	t.Ascend(func(item *T) bool { list = append(list, *item); return true })
	return list
}

// snapshot returns a copy of everything.
func (m *model) snapshot() *Snapshot {
	return &Snapshot{
		Time: m.time, Nodes: values(m.nodes), Pods: values(m.pods),
		PodGroups: values(m.groups), CompositePodGroups: values(m.composites),
		Budgets: values(m.budgets), PriorityClasses: values(m.classes), Namespaces: values(m.namespaces), Disruptions: m.disruptions,
	}
}

// pod returns the pod of that name, nil if there is none.
func (m *model) pod(ref PodRef) *cluster.Pod {
	p, _ := m.pods.Get(&cluster.Pod{Namespace: ref.Namespace, Name: ref.Name})
	return p
}
