package verifyquota

import (
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

// crew are the pods that run of a group of mode All.
type crew struct {
	num   int
	queue string // that all of them name; empty: they name several, or some none
}

// crews counts the pods of each group of mode All.
func (b *book) crews() map[whole]*crew {
	crews := map[whole]*crew{}
	for i := range b.snapshot.Pods {
		p := &b.snapshot.Pods[i]
		if p.Node == "" {
			continue
		}
		queue := queueNamed(p, b.teamOf(p))
		for _, g := range b.above(p) {
			if crews[g] == nil {
				crews[g] = &crew{queue: queue}
			}
			if crews[g].num++; crews[g].queue != queue {
				crews[g].queue = ""
			}
		}
	}
	return crews
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
