package verifyquota

import (
	"maps"
	"slices"
	"time"

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
	partial         bool // others go with it who are another tenant, or none
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

// podTenants are the pods of queues: each by itself, all that run of a group that names one, or all of what goes as a whole and names one.
func (b *book) podTenants() []*tenant {
	queues := b.queuesOf()
	type whose struct {
		of   whole
		runs bool
	}
	all := map[whose]*tenant{}
	for i := range b.snapshot.Pods {
		p := &b.snapshot.Pods[i]
		group := b.teamOf(p)
		at := p.Node
		if at == "" {
			at = p.NominatedNode
		}
		queue := b.queueOf(p.Namespace, queueNamed(p, group))
		if queue == nil || p.Node == "" && b.nodes[at] == nil {
			continue
		}
		w := whose{of: whole{cluster.KindPod, p.Namespace, p.Name}, runs: p.Node != ""}
		of := b.podPriority(p)
		if group != nil && group.Queue != "" && w.runs {
			w.of, of = whole{cluster.KindPodGroup, p.Namespace, group.Name}, b.groupPriority(group.Class, group.Priority)
		}
		for _, g := range b.above(p) {
			if w.runs && queues[g] != "" {
				w.of, of = g, b.priorityOf(g)
			}
		}
		if all[w] == nil {
			all[w] = &tenant{
				kind: w.of.kind, namespace: p.Namespace, name: w.of.name, queue: queue, usage: map[key]int64{}, priority: of, evicted: true, nominated: !w.runs,
			}
		}
		t := all[w]
		t.pods = append(t.pods, p)
		t.evicted = t.evicted && p.Terminating && p.Preempted
		b.charge(t, p, b.nodes[at])
	}
	list := slices.Collect(maps.Values(all))
	b.findPartial(list)
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

// groupPriority is that of a group; the global default is for pods.
func (b *book) groupPriority(class string, said *int32) int64 {
	if class == "" && said == nil {
		return 0
	}
	e, _ := b.classes.Resolve(priority.Spec{Class: class, Priority: said})
	return int64(e.Priority)
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
