package verifyquota

import (
	"maps"
	"slices"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// tenant is somebody who uses quota: a workload, a pod, or the pods of a group.
type tenant struct {
	kind            cluster.Kind
	namespace, name string
	queue           *holder
	usage           map[key]int64
	priority        int64
	ordered         int64             // its age as [cluster.Nanos]
	reserved        int64             // likewise, since when it holds quota
	workload        *cluster.Workload // nil of pods
	evicted         bool
	nominated       bool // it does not run yet, and is no victim
	pods            []*cluster.Pod
	reason          preemption.QuotaReason // of a victim, as told
}

// tenants lists who uses quota: workloads that are admitted, and pods that have a queue.
func (b *book) tenants() []*tenant {
	var list []*tenant
	s := b.snapshot
	for i := range s.Workloads {
		w := &s.Workloads[i]
		if w.Admission == nil || b.queues[w.Admission.ClusterQueue] == nil {
			continue
		}
		t := &tenant{
			kind: cluster.KindWorkload, namespace: w.Namespace, name: w.Name, queue: b.queues[w.Admission.ClusterQueue],
			usage: map[key]int64{}, priority: int64(w.Priority) + int64(w.Boost), ordered: queuedSince(w), evicted: w.Evicted,
			workload: w, reserved: cluster.Nanos(s.Time),
		}
		if !w.Admission.Reserved.IsZero() {
			t.reserved = cluster.Nanos(w.Admission.Reserved)
		}
		for j := range w.PodSets {
			set := &w.PodSets[j]
			for resource, flavor := range set.Flavors {
				if k := (key{flavor, resource}); b.known[k] {
					t.usage[k] += amountOf(set, resource)
				}
			}
		}
		list = append(list, t)
	}
	return append(list, b.podTenants()...)
}

// queuedSince is the age of a workload by which a queue orders.
func queuedSince(w *cluster.Workload) int64 {
	if !w.Requeued.IsZero() {
		return cluster.Nanos(w.Requeued)
	}
	return cluster.Nanos(w.Created)
}

// amountOf is what an admitted pod set uses of a resource.
func amountOf(set *cluster.PodSet, resource string) int64 {
	if v, ok := set.Usage[resource]; ok {
		return v
	}
	if resource == cluster.Pods {
		return int64(set.Count)
	}
	return set.Requests[resource] * int64(set.Count)
}

// oneQueue are the groups that go as a whole and name no queue, all of whose pods that run name the same.
func (b *book) oneQueue() map[*cluster.PodGroup]bool {
	is, named := map[*cluster.PodGroup]bool{}, map[*cluster.PodGroup]string{}
	for i := range b.snapshot.Pods {
		p := &b.snapshot.Pods[i]
		g := b.groups[cluster.PodKey{Namespace: p.Namespace, Name: p.Group}]
		if g == nil || g.Queue != "" || g.Mode != disruption.All || p.Node == "" {
			continue
		}
		first, seen := named[g]
		if !seen {
			first, named[g], is[g] = p.Queue, p.Queue, true
		}
		is[g] = is[g] && p.Queue == first && p.Queue != ""
	}
	return is
}

// podTenants are the pods of queues: each by itself, or all that run of a group that names one, or that is one of oneQueue.
func (b *book) podTenants() []*tenant {
	together := b.oneQueue()
	type whose struct {
		namespace, group, pod string
		runs                  bool
	}
	all := map[whose]*tenant{}
	for i := range b.snapshot.Pods {
		p := &b.snapshot.Pods[i]
		group := b.groups[cluster.PodKey{Namespace: p.Namespace, Name: p.Group}]
		at := p.Node
		if at == "" {
			at = p.NominatedNode
		}
		queue := b.queueOf(p.Namespace, queueNamed(p, group))
		if queue == nil || p.Node == "" && b.nodes[at] == nil {
			continue
		}
		w := whose{namespace: p.Namespace, pod: p.Name, runs: p.Node != ""}
		t := &tenant{kind: cluster.KindPod, namespace: p.Namespace, name: p.Name}
		of := b.podPriority(p)
		if group != nil && (group.Queue != "" || together[group]) && w.runs {
			w.pod, w.group = "", group.Name
			t.kind, t.name = cluster.KindPodGroup, group.Name
			of = b.groupPriority(group)
		}
		if all[w] == nil {
			t.queue, t.usage, t.priority, t.evicted, t.nominated = queue, map[key]int64{}, of, true, !w.runs
			all[w] = t
		}
		t = all[w]
		t.pods = append(t.pods, p)
		t.evicted = t.evicted && p.Terminating && p.Preempted
		b.charge(t, p, b.nodes[at])
	}
	list := slices.Collect(maps.Values(all))
	for _, t := range list {
		t.ordered = cluster.Nanos(oldest(t.pods))
		first := began(t.pods)
		if first.IsZero() {
			first = b.snapshot.Time
		}
		t.reserved = cluster.Nanos(first)
	}
	return list
}

// charge adds what p uses: of each group of its queue in the first flavor whose labels
// its node has, or the first of all.
func (b *book) charge(t *tenant, p *cluster.Pod, node *cluster.Node) {
	for _, g := range t.queue.queue.Groups {
		flavor := g.Flavors[0].Flavor
		for _, f := range g.Flavors {
			if known := b.flavors[f.Flavor]; node != nil && known != nil && suits.Labels(node.Labels, known.NodeLabels) {
				flavor = f.Flavor
				break
			}
		}
		for _, q := range g.Flavors[0].Resources {
			v, asks := p.Requests[q.Resource]
			if q.Resource == cluster.Pods {
				v, asks = 1, true
			}
			if asks {
				t.usage[key{flavor, q.Resource}] += v
			}
		}
	}
}

func (b *book) podPriority(p *cluster.Pod) int64 {
	e, _ := b.classes.Resolve(priority.Spec{Class: p.Class, Priority: p.Priority})
	return int64(e.Priority)
}

// groupPriority is that of a pod group; the global default is for pods.
func (b *book) groupPriority(g *cluster.PodGroup) int64 {
	if g.Class == "" && g.Priority == nil {
		return 0
	}
	e, _ := b.classes.Resolve(priority.Spec{Class: g.Class, Priority: g.Priority})
	return int64(e.Priority)
}

// queueNamed is the LocalQueue that a pod names, or its group does.
func queueNamed(p *cluster.Pod, group *cluster.PodGroup) string {
	if group != nil && group.Queue != "" {
		return group.Queue
	}
	return p.Queue
}

// queueOf is the ClusterQueue behind a LocalQueue, nil if there is none.
func (b *book) queueOf(namespace, name string) *holder {
	if l := b.locals[cluster.PodKey{Namespace: namespace, Name: name}]; l != nil {
		return b.queues[l.ClusterQueue]
	}
	return nil
}

// began is when the first of pods began to run.
func began(pods []*cluster.Pod) (first time.Time) {
	for _, p := range pods {
		if first.IsZero() || !p.Started.IsZero() && p.Started.Before(first) {
			first = p.Started
		}
	}
	return first
}

func oldest(pods []*cluster.Pod) (first time.Time) {
	for _, p := range pods {
		if first.IsZero() || !p.Created.IsZero() && p.Created.Before(first) {
			first = p.Created
		}
	}
	return first
}
