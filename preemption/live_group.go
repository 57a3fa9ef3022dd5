package preemption

import (
	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// setGroup puts g in place of the group of that kind and name, adds it, or with nil
// removes it: the pods of its tree leave, and come back to what the group is then.
func (c *compiled) setGroup(kind cluster.Kind, namespace, name string, g *cluster.Group) bool {
	if g != nil && c.rules.refuseBasicAll && basicAll(g) {
		return false
	}
	members, ok := c.ix.MaySetGroup(kind, namespace, name, g)
	if !ok {
		return false
	}
	c.notes.All()
	pods := make([]*cluster.Pod, len(members))
	for i, p := range members {
		pods[i] = c.ix.Pod(p)
	}
	for _, p := range members {
		c.remove(p)
	}
	if g != nil {
		c.ix.SetGroup(g)
	} else {
		c.ix.RemoveGroup(kind, namespace, name)
	}
	c.each(func(s *sides) { s.protect() })
	for _, p := range pods {
		if !c.ix.MaySetPod(p, cluster.NoPod) {
			panic("preemption: a pod that was there does not come back")
		}
		c.add(p, cluster.NoPod)
	}
	c.look()
	return true
}

// basicAll reports whether g is a group of mode All that is no gang.
func basicAll(g *cluster.Group) bool {
	return g.PodGroup != nil && g.PodGroup.MinCount == nil && g.Mode == disruption.All
}
