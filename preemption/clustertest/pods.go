package clustertest

import (
	"time"

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
