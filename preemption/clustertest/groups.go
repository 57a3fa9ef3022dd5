package clustertest

import (
	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
)

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
