package verifyquota

import (
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/check/internal/order"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// whole is what goes as a whole, by name: a group of mode All, or a pod.
type whole struct {
	kind            cluster.Kind
	namespace, name string
}

// readTrees finds the composite groups, but for those on a cycle, which are nobody's parent.
func (b *book) readTrees() {
	list, at := b.snapshot.CompositePodGroups, map[cluster.PodKey]int{}
	for i := range list {
		at[cluster.PodKey{Namespace: list[i].Namespace, Name: list[i].Name}] = i
	}
	onCycle := order.OnCycles(len(list), func(i int) int {
		if above, ok := at[cluster.PodKey{Namespace: list[i].Namespace, Name: list[i].Parent}]; ok {
			return above
		}
		return -1
	})
	for k, i := range at {
		if !onCycle[i] {
			b.trees[k] = &list[i]
		}
	}
}

// teamOf is the pod group of p; nil: there is none.
func (b *book) teamOf(p *cluster.Pod) *cluster.PodGroup {
	return b.groups[cluster.PodKey{Namespace: p.Namespace, Name: p.Group}]
}

// above lists the groups of mode All at or above that of p, lowest first.
func (b *book) above(p *cluster.Pod) (list []whole) {
	g := b.teamOf(p)
	if g == nil {
		return nil
	}
	if g.Mode == disruption.All {
		list = append(list, whole{cluster.KindPodGroup, g.Namespace, g.Name})
	}
	parent := g.Parent
	for range cluster.MaxTreeDepth - 1 {
		t := b.trees[cluster.PodKey{Namespace: g.Namespace, Name: parent}]
		if t == nil {
			break
		}
		if t.Mode == disruption.All {
			list = append(list, whole{cluster.KindCompositePodGroup, t.Namespace, t.Name})
		}
		parent = t.Parent
	}
	return list
}

// queuesOf says of each group of mode All which LocalQueue all of its pods name that run; empty: they name several, or some none.
func (b *book) queuesOf() map[whole]string {
	queues := map[whole]string{}
	for i := range b.snapshot.Pods {
		p := &b.snapshot.Pods[i]
		if p.Node == "" {
			continue
		}
		queue := queueNamed(p, b.teamOf(p))
		for _, g := range b.above(p) {
			if first, known := queues[g]; !known {
				queues[g] = queue
			} else if first != queue {
				queues[g] = ""
			}
		}
	}
	return queues
}

// findPartial marks those of list with whose pods others go that are another's, or hold no quota.
func (b *book) findPartial(list []*tenant) {
	of := map[*cluster.Pod]*tenant{}
	for _, t := range list {
		for _, p := range t.pods {
			of[p] = t
		}
	}
	first, several := map[whole]*tenant{}, map[whole]bool{}
	for i := range b.snapshot.Pods {
		p := &b.snapshot.Pods[i]
		if p.Node == "" {
			continue
		}
		for _, g := range b.above(p) {
			if t, known := first[g]; known && t != of[p] {
				several[g] = true
			}
			first[g] = of[p]
		}
	}
	for p, t := range of {
		t.partial = t.partial || !t.nominated && slices.ContainsFunc(b.above(p), func(g whole) bool { return several[g] })
	}
}

// queueNamed is the LocalQueue that a pod names, or its group does.
func queueNamed(p *cluster.Pod, group *cluster.PodGroup) string {
	if group != nil && group.Queue != "" {
		return group.Queue
	}
	return p.Queue
}

// priorityOf is the priority of a group.
func (b *book) priorityOf(g whole) int64 {
	k := cluster.PodKey{Namespace: g.namespace, Name: g.name}
	if g.kind == cluster.KindPodGroup {
		return b.groupPriority(b.groups[k].Class, b.groups[k].Priority)
	}
	return b.groupPriority(b.trees[k].Class, b.trees[k].Priority)
}
