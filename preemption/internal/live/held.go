package live

import (
	"time"

	"github.com/google/btree"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/parked"
)

// Held is what a planner holds of its cluster: compiled, as long as that follows every change. Else
// the objects by name, which may not be compilable, or not as they are: the next question compiles
// them, or says why it cannot. It is changed by one goroutine at a time.
type Held struct {
	First *cluster.Snapshot // what it began with
	Ready *Cluster          // compiled; nil after a change that it could not follow
	Notes *parked.Changes   // of what changes; nil: nobody waits for it

	named *objects // where Ready is nil: everything
}

// Fork returns an independent copy, for which nobody waits.
func (h *Held) Fork() Held {
	f := Held{First: h.First}
	if c := h.Ready; c != nil {
		f.Ready = c.Fork()
	}
	if h.named != nil {
		f.named = h.named.clone()
	}
	return f
}

// Restore makes h what was forked from it before; who waits may have a different answer. What it
// began with stays, which questions read meanwhile.
func (h *Held) Restore(before *Held) {
	h.Ready, h.named = before.Ready, before.named
	h.Notes.All()
}

// byName returns the objects by name. Of a live cluster it is a copy, which counts only once it is used.
func (h *Held) byName() *objects {
	if h.Ready != nil {
		return byName(h.Ready.Index.Objects())
	}
	return h.named
}

// use lets objects by name be the cluster.
func (h *Held) use(o *objects) *objects {
	h.Notes.All()
	h.named, h.Ready = o, nil
	return o
}

// Open lets the next question compile the cluster, or say why it cannot.
func (h *Held) Open() { h.use(h.byName()) }

// Objects lists everything in order of name.
func (h *Held) Objects() cluster.Objects { return h.byName().list() }

// Compiled lets c be the cluster, compiled from its Objects.
func (h *Held) Compiled(c *Cluster) {
	h.Ready, h.named = c, nil
}

// Snapshot returns a copy of everything, in order of name.
func (h *Held) Snapshot() *cluster.Snapshot {
	c := h.Ready
	if c == nil {
		return h.Objects().Snapshot()
	}
	o := c.Index.Objects()
	nodes, pods := o.Nodes, o.Pods // in order of name already
	o.Nodes, o.Pods = nil, nil
	o = byName(o).list()
	o.Nodes, o.Pods = nodes, pods
	return o.Snapshot()
}

// done is called after the live cluster has followed a change. Where warnings are errors, the next
// question has to give them.
func (h *Held) done() {
	if c := h.Ready; c.Settings.Strict && len(c.Warnings()) > 0 {
		h.Open()
	}
}

// Kind is what becomes of the objects of one kind when one of them changes. The functions about a
// live cluster may refuse what it cannot follow, and change nothing then.
type Kind[T any] struct {
	Name   cluster.Kind
	named  func(*objects) *btree.BTreeG[*T]
	has    func(*Cluster, *T) bool
	set    func(*Cluster, *T) bool
	remove func(*Cluster, *T) bool // one that it has
}

// Set adds o or puts it in place of the object of its name.
func (k *Kind[T]) Set(h *Held, o *T) {
	if c := h.Ready; c != nil && k.set(c, o) {
		h.done()
		return
	}
	k.named(h.use(h.byName())).ReplaceOrInsert(o)
}

// Has reports whether there is an object of the name of o.
func (k *Kind[T]) Has(h *Held, o *T) bool {
	if c := h.Ready; c != nil {
		return k.has(c, o)
	}
	return k.named(h.byName()).Has(o)
}

// Remove removes the object of the name of o, and reports whether it was there.
func (k *Kind[T]) Remove(h *Held, o *T) bool {
	switch c := h.Ready; {
	case !k.Has(h, o):
		return false
	case c != nil && k.remove(c, o):
		h.done()
	default:
		k.named(h.use(h.byName())).Delete(o)
	}
	return true
}

// Pod returns the pod of that name, nil if there is none.
func (h *Held) Pod(namespace, name string) *cluster.Pod {
	if c := h.Ready; c != nil {
		return c.Pod(namespace, name)
	}
	p, _ := h.byName().pods.Get(&cluster.Pod{Namespace: namespace, Name: name})
	return p
}

// PodsOn lists the pods that run on a node, in order of name.
func (h *Held) PodsOn(node string) (list []*cluster.Pod) {
	if c := h.Ready; c != nil {
		for _, p := range c.Index.PodsOn(c.Index.NodeByName(node)) {
			list = append(list, c.Index.Pod(p))
		}
		return list
	}
	h.byName().pods.Ascend(func(p *cluster.Pod) bool {
		if p.Node == node {
			list = append(list, p)
		}
		return true
	})
	return list
}

// Time is the cluster's.
func (h *Held) Time() time.Time {
	if c := h.Ready; c != nil {
		return c.Index.Time()
	}
	return h.byName().time
}

// SetTime moves the time.
func (h *Held) SetTime(now time.Time) {
	if c := h.Ready; c != nil && c.SetTime(now) {
		h.done()
		return
	}
	h.use(h.byName()).time = now
}

// Disruptions are the earlier preemptions.
func (h *Held) Disruptions() []cluster.Disruption {
	if c := h.Ready; c != nil {
		return c.Index.Disruptions()
	}
	return h.byName().disruptions
}

// SetDisruptions sets the earlier preemptions. The list is not changed afterwards.
func (h *Held) SetDisruptions(list []cluster.Disruption) {
	if c := h.Ready; c != nil {
		c.SetDisruptions(list)
		return
	}
	h.use(h.byName()).disruptions = list
}
