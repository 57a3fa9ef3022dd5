package clustertest

import (
	"fmt"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Pods are the pods that a cluster was last told of. What its methods say holds for all of
// them.
type Pods struct {
	*Cluster
	from, to int // in the snapshot
}

// Pod adds a pending pod that asks for nothing yet.
func (c *Cluster) Pod(name string) *Pods { return c.pods(name) }

// Pods adds so many pending pods, prefix1, prefix2 and so on.
func (c *Cluster) Pods(count int, prefix string) *Pods { return c.pods(numbered(count, prefix)...) }

func (c *Cluster) pods(names ...string) *Pods {
	list := &c.snapshot.Pods
	p := &Pods{Cluster: c, from: len(*list)}
	for _, name := range names {
		namespace, name := split(name)
		*list = append(*list, preemption.Pod{Namespace: namespace, Name: name})
	}
	p.to = len(*list)
	return p
}

// With changes each of them, for what no method tells.
func (p *Pods) With(change func(*preemption.Pod)) *Pods {
	for i := p.from; i < p.to; i++ {
		change(&p.snapshot.Pods[i])
	}
	return p
}

// On says where they run: the first on the first node, the next on the next, and so on
// in turn. On no node they are pending.
func (p *Pods) On(nodes ...string) *Pods {
	i := -1
	return p.With(func(o *preemption.Pod) {
		if o.Node = ""; len(nodes) > 0 {
			i++
			o.Node = nodes[i%len(nodes)]
		}
	})
}

// Priority says how important they are.
func (p *Pods) Priority(priority int32) *Pods {
	return p.With(func(o *preemption.Pod) { o.Priority = &priority })
}

// PriorityClass names the class that says how important they are; see [Cluster.Class].
func (p *Pods) PriorityClass(name string) *Pods {
	return p.With(func(o *preemption.Pod) { o.Class = name })
}

// Asks says how much of a resource each of them asks for: cpu in thousandths of a core,
// all else in whole units.
func (p *Pods) Asks(resource string, amount int64) *Pods {
	return p.With(func(o *preemption.Pod) { put(&o.Requests, resource, amount) })
}

// Cores says how many cores each of them asks for.
func (p *Pods) Cores(cores int64) *Pods { return p.Asks(cluster.CPU, 1000*cores) }

// GiB says how much memory each of them asks for.
func (p *Pods) GiB(amount int64) *Pods { return p.Asks(cluster.Memory, gibibyte*amount) }

// Label gives them a label.
func (p *Pods) Label(key, value string) *Pods {
	return p.With(func(o *preemption.Pod) { put(&o.Labels, key, value) })
}

// Age says for how long they have run, at the time that the cluster has now.
func (p *Pods) Age(age time.Duration) *Pods {
	started := p.snapshot.Time.Add(-age)
	return p.With(func(o *preemption.Pod) { o.Started = started })
}

// In makes them members of a pod group of their namespace; see [Cluster.Gang].
func (p *Pods) In(group string) *Pods {
	return p.With(func(o *preemption.Pod) { o.Group = group })
}

// Group is the pod group that a cluster was last told of.
type Group struct {
	*Cluster
	at int // in the snapshot
}

// Group adds a pod group of which any number of pods is of use; see [Pods.In].
func (c *Cluster) Group(name string) *Group {
	return c.group(name, preemption.PodGroup{Basic: true})
}

// Gang adds a pod group of which fewer than minCount pods are of no use; see [Pods.In].
func (c *Cluster) Gang(name string, minCount int32) *Group {
	return c.group(name, preemption.PodGroup{MinCount: &minCount})
}

func (c *Cluster) group(name string, g preemption.PodGroup) *Group {
	g.Namespace, g.Name = split(name)
	c.snapshot.PodGroups = append(c.snapshot.PodGroups, g)
	return &Group{Cluster: c, at: len(c.snapshot.PodGroups) - 1}
}

// With changes it, for what no method tells.
func (g *Group) With(change func(*preemption.PodGroup)) *Group {
	change(&g.snapshot.PodGroups[g.at])
	return g
}

// Priority says how important it is.
func (g *Group) Priority(priority int32) *Group {
	return g.With(func(o *preemption.PodGroup) { o.Priority = &priority })
}

// Mode says how its pods may go.
func (g *Group) Mode(mode preemption.DisruptionMode) *Group {
	return g.With(func(o *preemption.PodGroup) { o.Mode = mode })
}

// Within keeps its pods within one value of a node label, such as a zone; the widest
// level first.
func (g *Group) Within(label string) *Group {
	return g.With(func(o *preemption.PodGroup) {
		o.Topology = append(o.Topology, preemption.TopologyConstraint{Key: label})
	})
}

// Members adds so many pending pods of the group, in its namespace and of its priority, if
// that has been told: NAME-1, NAME-2 and so on.
func (g *Group) Members(count int) *Pods {
	o := g.snapshot.PodGroups[g.at]
	return g.Cluster.Pods(count, o.Name+"-").In(o.Name).With(func(p *preemption.Pod) {
		if p.Namespace = o.Namespace; o.Priority != nil {
			priority := *o.Priority
			p.Priority = &priority
		}
	})
}

// Budget adds a disruption budget: of the pods of its namespace that have the label, so
// many may go. With an empty key its selector is empty.
func (c *Cluster) Budget(name string, allowed int32, key, value string) *Cluster {
	b := preemption.Budget{Allowed: allowed, Selector: &disruption.Selector{}}
	b.Namespace, b.Name = split(name)
	if key != "" {
		b.Selector.MatchLabels = map[string]string{key: value}
	}
	c.snapshot.Budgets = append(c.snapshot.Budgets, b)
	return c
}

const gibibyte = 1 << 30

// Nodes are the nodes that a cluster was last told of. What its methods say holds for all
// of them.
type Nodes struct {
	*Cluster
	from, to int // in the snapshot
}

// Node adds a node that has room for nothing yet.
func (c *Cluster) Node(name string) *Nodes { return c.nodes(name) }

// Nodes adds so many nodes, prefix1, prefix2 and so on.
func (c *Cluster) Nodes(count int, prefix string) *Nodes { return c.nodes(numbered(count, prefix)...) }

func (c *Cluster) nodes(names ...string) *Nodes {
	list := &c.snapshot.Nodes
	n := &Nodes{Cluster: c, from: len(*list)}
	for _, name := range names {
		*list = append(*list, preemption.Node{Name: name})
	}
	n.to = len(*list)
	return n
}

// With changes each of them, for what no method tells.
func (n *Nodes) With(change func(*preemption.Node)) *Nodes {
	for i := n.from; i < n.to; i++ {
		change(&n.snapshot.Nodes[i])
	}
	return n
}

// Has says how much of a resource there is: cpu in thousandths of a core, all else in whole
// units.
func (n *Nodes) Has(resource string, amount int64) *Nodes {
	return n.With(func(o *preemption.Node) { put(&o.Allocatable, resource, amount) })
}

// Cores says how many cores there are.
func (n *Nodes) Cores(cores int64) *Nodes { return n.Has(cluster.CPU, 1000*cores) }

// GiB says how much memory there is.
func (n *Nodes) GiB(amount int64) *Nodes { return n.Has(cluster.Memory, gibibyte*amount) }

// Slots says how many pods there may be; any number where it is not told.
func (n *Nodes) Slots(pods int64) *Nodes { return n.Has(cluster.Pods, pods) }

// Label gives them a label.
func (n *Nodes) Label(key, value string) *Nodes {
	return n.With(func(o *preemption.Node) { put(&o.Labels, key, value) })
}

// Taint gives them a taint that keeps pods off unless they tolerate it.
func (n *Nodes) Taint(key, value string) *Nodes {
	return n.With(func(o *preemption.Node) {
		o.Taints = append(o.Taints, cluster.Taint{Key: key, Value: value, Effect: cluster.NoSchedule})
	})
}

// Cordoned lets no new pods on them.
func (n *Nodes) Cordoned() *Nodes {
	return n.With(func(o *preemption.Node) { o.Unschedulable = true })
}

// numbered are the names prefix1 to prefixN.
func numbered(count int, prefix string) []string {
	var names []string
	for i := range count {
		names = append(names, fmt.Sprintf("%s%d", prefix, i+1))
	}
	return names
}

// put sets an entry of a map, which may be nil.
func put[M ~map[string]V, V any](m *M, key string, value V) {
	if *m == nil {
		*m = M{}
	}
	(*m)[key] = value
}
