package verify

import (
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// inUse is on how many nodes somebody runs once the victims are gone and the preemptor is there,
// how many devices are held then, or how many values of a label those nodes have.
func (a *answer) inUse(name preemption.CriterionName) (count int64) {
	out, come, values := map[*pod]bool{}, map[*node][]*cluster.Pod{}, map[string]bool{}
	for _, p := range a.out() {
		out[p] = true
	}
	if a.team == nil {
		come[a.nodes[0]] = []*cluster.Pod{a.members[0].Pod}
	} else {
		for _, n := range a.r.Nominations {
			if at, m := a.byNode[n.Node], a.named[n.Pod]; m != nil {
				come[at] = append(come[at], m.Pod)
			}
		}
	}
	label, _ := name.Label()
	gone := func(p *pod) bool { return out[p] }
	for _, n := range a.all() {
		switch value, has := n.Labels[label]; {
		case name == "devices in use":
			for resource, pool := range n.Devices {
				count += suits.Sit(resource, pool, n.staying(gone), come[n]).Held()
			}
		case len(come[n]) == 0 && !slices.ContainsFunc(n.pods(), func(p *pod) bool { return !out[p] }):
		case name == "nodes in use":
			count++
		case has:
			values[value] = true
		}
	}
	return count + int64(len(values))
}

// running are the pods that run on n.
func (n *node) running() []*cluster.Pod { return n.staying(func(*pod) bool { return false }) }

// staying are the pods that run on n and are not gone.
func (n *node) staying(gone func(*pod) bool) (list []*cluster.Pod) {
	for _, p := range n.pods() {
		if !gone(p) {
			list = append(list, p.Pod)
		}
	}
	return list
}
