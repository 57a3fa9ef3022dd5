package preemption

import "github.com/preempt-go/preempt/preemption/cluster"

// setGroup puts g in place of the pod group of that name, adds it, or with nil removes
// it: its pods leave, and come back to what the group is then.
func (c *compiled) setGroup(namespace, name string, g *PodGroup) bool {
	members, ok := c.ix.MaySetGroup(namespace, name, g)
	if !ok || c.rules.refuseBasicAll {
		return false
	}
	pods := make([]*cluster.Pod, len(members))
	for i, p := range members {
		pods[i] = c.ix.Pod(p)
		c.remove(p)
	}
	if g != nil {
		c.ix.SetGroup(g)
	} else {
		c.ix.RemoveGroup(namespace, name)
	}
	for _, p := range pods {
		if !c.ix.MaySetPod(p, cluster.NoPod) {
			panic("preemption: a pod that was there does not come back")
		}
		c.add(p, cluster.NoPod)
	}
	return true
}
