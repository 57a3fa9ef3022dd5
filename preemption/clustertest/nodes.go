package clustertest

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
