package parked

import "github.com/preempt-go/preempt/preemption/cluster"

// Name is that of a pod, or with Group of a pod group.
type Name struct {
	Namespace, Name string
	Group           bool
}

// Changes are those since the last look at a lot. A nil one takes no notes.
type Changes struct {
	any, all bool
	nodes    map[cluster.NodeID]struct{}
	names    map[Name]struct{}
}

// Any notes that something has changed.
func (c *Changes) Any() {
	if c != nil {
		c.any = true
	}
}

// All notes that something has changed that may concern every question.
func (c *Changes) All() {
	if c != nil {
		c.all = true
	}
}

// Node notes that something has changed on node n; NoNode says nothing.
func (c *Changes) Node(n cluster.NodeID) {
	if c == nil || n == cluster.NoNode {
		return
	}
	if c.nodes == nil {
		c.nodes = map[cluster.NodeID]struct{}{}
	}
	c.nodes[n] = struct{}{}
}

// Nodes notes that something has changed on each of them.
func (c *Changes) Nodes(list []cluster.NodeID) {
	for _, n := range list {
		c.Node(n)
	}
}

// Pod notes that pod p was set, or has left.
func (c *Changes) Pod(p *cluster.Pod) {
	if c == nil {
		return
	}
	if c.names == nil {
		c.names = map[Name]struct{}{}
	}
	c.names[Name{p.Namespace, p.Name, false}] = struct{}{}
	if p.Group != "" {
		c.names[Name{p.Namespace, p.Group, true}] = struct{}{}
	}
}

// Everything reports whether every question may be concerned.
func (c *Changes) Everything() bool { return c.all }

// concern reports whether c concerns e by its name, or where it is nominated.
func (c *Changes) concern(ix *cluster.Index, e *Entry) bool {
	if e.Any && c.any {
		return true
	}
	for _, name := range e.Names {
		if _, ok := c.names[name]; ok {
			return true
		}
	}
	for _, place := range e.Places {
		_, then := c.nodes[place.Node]
		if _, now := c.nodes[ix.NodeByName(place.Name)]; then || now {
			return true
		}
	}
	return false
}
