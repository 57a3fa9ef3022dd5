package verify

import (
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// use is what is in use of before anybody goes or comes.
type use struct {
	on     []int64          // by node: devices that are held, or 1 where somebody runs
	sum    int64            // of all nodes, or the values that have nodes in use
	values map[string]int64 // of a label: how many nodes in use have each
}

// inUse is on how many nodes somebody runs once the victims are gone and the preemptor is there,
// how many devices are held then, or how many values of a label those nodes have.
func (a *answer) inUse(name preemption.CriterionName) int64 {
	out, come, differ := map[*pod]bool{}, map[*node][]*cluster.Pod{}, map[*node]bool{}
	for _, p := range a.out() {
		if out[p] = true; p.at != nil {
			differ[p.at] = true
		}
	}
	if a.team == nil {
		come[a.nodes[0]], differ[a.nodes[0]] = []*cluster.Pod{a.members[0].Pod}, true
	} else {
		for _, n := range a.r.Nominations {
			if at, m := a.byNode[n.Node], a.named[n.Pod]; at != nil && m != nil {
				come[at], differ[at] = append(come[at], m.Pod), true
			}
		}
	}
	before := a.usedBefore(name)
	count, more := before.sum, map[string]int64{}
	label, labelled := name.Label()
	for n := range differ {
		by := usedOn(name, n, func(p *pod) bool { return out[p] }, come[n]) - before.on[n.number]
		if value, has := n.Labels[label]; !labelled {
			count += by
		} else if has {
			was := before.values[value] + more[value]
			more[value] += by
			count += min(was+by, 1) - min(was, 1)
		}
	}
	return count
}

// usedBefore is what is in use before anybody goes or comes, added up once.
func (w *world) usedBefore(name preemption.CriterionName) *use {
	if w.uses[name] != nil {
		return w.uses[name]
	}
	u := &use{values: map[string]int64{}}
	label, labelled := name.Label()
	for _, n := range w.all() {
		on := usedOn(name, n, func(*pod) bool { return false }, nil)
		u.on = append(u.on, on)
		if value, has := n.Labels[label]; !labelled {
			u.sum += on
		} else if has && on > 0 {
			u.values[value]++
			u.sum = int64(len(u.values))
		}
	}
	w.uses[name] = u
	return u
}

// usedOn is how many devices of n are held once some are gone and others come, or 1 if anybody is there.
func usedOn(name preemption.CriterionName, n *node, gone func(*pod) bool, come []*cluster.Pod) (count int64) {
	if name == preemption.CriterionDevices {
		for resource, pool := range n.Devices {
			count += suits.Sit(resource, pool, n.staying(gone), come).Held()
		}
	} else if len(come) > 0 || slices.ContainsFunc(n.pods(), func(p *pod) bool { return !gone(p) }) {
		count = 1
	}
	return count
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
