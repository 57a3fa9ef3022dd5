package live

import (
	"time"

	"github.com/google/btree"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/byname"
	"github.com/preempt-go/preempt/priority"
)

// The kinds of objects that change.
var (
	Nodes = Kind[cluster.Node]{
		cluster.KindNode,
		func(o *objects) *btree.BTreeG[*cluster.Node] { return o.nodes },
		func(c *Cluster, n *cluster.Node) bool { return c.Index.NodeByName(n.Name) != cluster.NoNode },
		(*Cluster).SetNode,
		func(c *Cluster, n *cluster.Node) bool { return c.RemoveNode(c.Index.NodeByName(n.Name)) },
	}
	Pods = Kind[cluster.Pod]{
		cluster.KindPod,
		func(o *objects) *btree.BTreeG[*cluster.Pod] { return o.pods },
		func(c *Cluster, p *cluster.Pod) bool { return c.Pod(p.Namespace, p.Name) != nil },
		(*Cluster).SetPod,
		func(c *Cluster, p *cluster.Pod) bool { return c.RemovePod(c.Index.PodByName(p.Namespace, p.Name)) },
	}
	PodGroups = Kind[cluster.PodGroup]{
		cluster.KindPodGroup,
		func(o *objects) *btree.BTreeG[*cluster.PodGroup] { return o.groups },
		func(c *Cluster, g *cluster.PodGroup) bool { return c.hasGroup(g.AsGroup()) },
		func(c *Cluster, g *cluster.PodGroup) bool { return c.setGroup(g.AsGroup(), true) },
		func(c *Cluster, g *cluster.PodGroup) bool { return c.setGroup(g.AsGroup(), false) },
	}
	CompositePodGroups = Kind[cluster.CompositePodGroup]{
		cluster.KindCompositePodGroup,
		func(o *objects) *btree.BTreeG[*cluster.CompositePodGroup] { return o.composites },
		func(c *Cluster, g *cluster.CompositePodGroup) bool { return c.hasGroup(g.AsGroup()) },
		func(c *Cluster, g *cluster.CompositePodGroup) bool { return c.setGroup(g.AsGroup(), true) },
		func(c *Cluster, g *cluster.CompositePodGroup) bool {
			return c.setGroup(g.AsGroup(), false)
		},
	}
	Budgets = Kind[disruption.Budget]{
		cluster.KindBudget,
		func(o *objects) *btree.BTreeG[*disruption.Budget] { return o.budgets },
		func(c *Cluster, b *disruption.Budget) bool {
			_, found := c.budget(b)
			return found
		},
		(*Cluster).SetBudget,
		(*Cluster).RemoveBudget,
	}
	Classes = Kind[priority.Class]{
		cluster.KindPriorityClass,
		func(o *objects) *btree.BTreeG[*priority.Class] { return o.classes },
		func(c *Cluster, k *priority.Class) bool { return c.Index.HasClass(k.Name) },
		func(c *Cluster, k *priority.Class) bool { return c.SetClass(k.Name, k) },
		func(c *Cluster, k *priority.Class) bool { return c.SetClass(k.Name, nil) },
	}
	Namespaces = Kind[cluster.Namespace]{
		cluster.KindNamespace,
		func(o *objects) *btree.BTreeG[*cluster.Namespace] { return o.namespaces },
		func(c *Cluster, n *cluster.Namespace) bool { return c.Index.HasNamespace(n.Name) },
		func(c *Cluster, n *cluster.Namespace) bool { c.Index.SetNamespace(n); return true },
		func(c *Cluster, n *cluster.Namespace) bool { c.Index.RemoveNamespace(n.Name); return true },
	}
)

// objects are those of a cluster by name. They are immutable: a change replaces one. The trees are
// cloned lazily, so that a fork is cheap.
type objects struct {
	time       time.Time
	nodes      *btree.BTreeG[*cluster.Node]
	pods       *btree.BTreeG[*cluster.Pod]
	groups     *btree.BTreeG[*cluster.PodGroup]
	composites *btree.BTreeG[*cluster.CompositePodGroup]
	budgets    *btree.BTreeG[*disruption.Budget]
	classes    *btree.BTreeG[*priority.Class]
	namespaces *btree.BTreeG[*cluster.Namespace]

	disruptions []cluster.Disruption // never changed in place
}

// byName are objects by name.
func byName(o cluster.Objects) *objects {
	return &objects{
		time:   o.Time,
		nodes:  byname.Tree(o.Nodes, func(a, b *cluster.Node) bool { return a.Name < b.Name }),
		pods:   byname.Tree(o.Pods, func(a, b *cluster.Pod) bool { return byname.Before(a.Namespace, a.Name, b.Namespace, b.Name) }),
		groups: byname.Tree(o.PodGroups, func(a, b *cluster.PodGroup) bool { return byname.Before(a.Namespace, a.Name, b.Namespace, b.Name) }),
		composites: byname.Tree(o.CompositePodGroups, func(a, b *cluster.CompositePodGroup) bool {
			return byname.Before(a.Namespace, a.Name, b.Namespace, b.Name)
		}),
		budgets:    byname.Tree(byname.Pointers(o.Budgets), func(a, b *disruption.Budget) bool { return a.Compare(*b) < 0 }),
		classes:    byname.Tree(byname.Pointers(o.PriorityClasses), func(a, b *priority.Class) bool { return a.Name < b.Name }),
		namespaces: byname.Tree(byname.Pointers(o.Namespaces), func(a, b *cluster.Namespace) bool { return a.Name < b.Name }),

		disruptions: o.Disruptions,
	}
}

func (o *objects) clone() *objects {
	return &objects{
		o.time, o.nodes.Clone(), o.pods.Clone(), o.groups.Clone(), o.composites.Clone(),
		o.budgets.Clone(), o.classes.Clone(), o.namespaces.Clone(), o.disruptions,
	}
}

// list lists everything in order of name.
func (o *objects) list() cluster.Objects {
	return cluster.Objects{
		Time: o.time, Nodes: byname.All(o.nodes), Pods: byname.All(o.pods),
		PodGroups: byname.All(o.groups), CompositePodGroups: byname.All(o.composites),
		Budgets: byname.Values(o.budgets), PriorityClasses: byname.Values(o.classes), Namespaces: byname.Values(o.namespaces), Disruptions: o.disruptions,
	}
}
