package verifyquota

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// ask is the preemptor as one who wants quota.
type ask struct {
	workload *cluster.Workload // nil: pods
	pods     []*cluster.Pod
	local    string
	priority int64
	ordered  int64
	queue    *holder
}

// newAsk finds the preemptor; nil if it can't be read, which the search complains about.
func (b *book) newAsk(p *preemption.Preemptor) *ask {
	if p.Kind == cluster.KindWorkload {
		return b.workloadAsk(p)
	}
	if p.Kind == cluster.KindCompositePodGroup {
		return nil
	}
	a := &ask{}
	group := p.Group
	if p.Kind == cluster.KindPodGroup && group == nil {
		group = b.groups[cluster.PodKey{Namespace: p.Namespace, Name: p.Name}]
	}
	for i := range p.Pods {
		a.pods = append(a.pods, &p.Pods[i])
	}
	for i := range b.snapshot.Pods {
		pod := &b.snapshot.Pods[i]
		named := p.Kind == cluster.KindPod && pod.Name == p.Name
		member := p.Group == nil && group != nil && p.Kind == cluster.KindPodGroup && pod.Group == group.Name && pod.Node == ""
		if p.Name != "" && pod.Namespace == p.Namespace && (named || member) {
			a.pods = append(a.pods, pod)
		}
	}
	if len(a.pods) == 0 {
		return nil
	}
	slices.SortFunc(a.pods, func(p, q *cluster.Pod) int { // as they are placed; the first names the queue
		return cmp.Or(
			cmp.Compare(b.podPriority(q), b.podPriority(p)), cmp.Compare(cluster.Nanos(p.Created), cluster.Nanos(q.Created)),
			cmp.Compare(p.Namespace, q.Namespace), cmp.Compare(p.Name, q.Name))
	})
	first := a.pods[0]
	if a.priority = b.podPriority(first); group != nil {
		a.priority = b.groupPriority(group.Class, group.Priority)
	} else if p.Name != "" {
		group = b.groups[cluster.PodKey{Namespace: first.Namespace, Name: first.Group}]
	}
	a.local = queueNamed(first, group)
	a.queue = b.queueOf(first.Namespace, a.local)
	a.ordered = cluster.Nanos(oldest(a.pods))
	return a
}

func (b *book) workloadAsk(p *preemption.Preemptor) *ask {
	w := p.Workload
	for i := range b.snapshot.Workloads {
		if x := &b.snapshot.Workloads[i]; w == nil && x.Namespace == p.Namespace && x.Name == p.Name {
			w = x
		}
	}
	if w == nil {
		return nil
	}
	return &ask{workload: w, local: w.Queue, priority: int64(w.Priority) + int64(w.Boost), ordered: queuedSince(w), queue: b.queueOf(w.Namespace, w.Queue)}
}

// wants is what the preemptor asks for, by pod set and resource; pods are one set. A
// resource of which the queue has no quota is asked for where the amount is not 0.
func (a *ask) wants(counts []int32) []map[string]int64 {
	pods := a.groupOf(cluster.Pods) != nil
	if a.workload == nil {
		want := map[string]int64{}
		for _, p := range a.pods {
			for r, v := range p.Requests {
				want[r] = plus(want[r], v)
			}
		}
		if pods {
			want[cluster.Pods] = int64(len(a.pods))
		}
		return []map[string]int64{want}
	}
	list := make([]map[string]int64, len(a.workload.PodSets))
	for i := range a.workload.PodSets {
		set, count := &a.workload.PodSets[i], int64(a.workload.PodSets[i].Count)
		if counts != nil {
			count = int64(counts[i])
		}
		list[i] = map[string]int64{}
		for r, v := range set.Requests {
			list[i][r] = v * count
		}
		if pods {
			list[i][cluster.Pods] = count
		}
	}
	return list
}

// groupOf is the group of the queue's quota with a resource, nil if there is none.
func (a *ask) groupOf(resource string) *cluster.ResourceGroup {
	for i := range a.queue.queue.Groups {
		g := &a.queue.queue.Groups[i]
		if slices.ContainsFunc(g.Flavors[0].Resources, func(q cluster.ResourceQuota) bool { return q.Resource == resource }) {
			return g
		}
	}
	return nil
}
