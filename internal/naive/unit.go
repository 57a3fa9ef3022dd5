package naive

import (
	"cmp"
	"slices"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// Unit is what goes or stays as a whole: one pod, or all pods under an All group.
type Unit struct {
	Kind            cluster.Kind // of the object that makes it one
	Namespace, Name string
	Pods            []*cluster.Pod // by UID, then namespace and name
	Priority        int32
	Rank            int // composite group 3, group 2, pod 1
	Start           time.Time

	Violations int    // of its pods, how many violate a budget
	Reason     Status // why it could not come back
}

func (u Unit) leave(gone map[PodKey]bool) {
	for _, p := range u.Pods {
		gone[key(p)] = true
	}
}

func (u Unit) comeBack(gone map[PodKey]bool) {
	for _, p := range u.Pods {
		delete(gone, key(p))
	}
}

// potential lists the units with a pod on a node that are less important than the
// preemptor, in no particular order.
func (q *question) potential(node string) []Unit {
	var out []Unit
	seen := map[string]bool{}
	for i := range q.snapshot.Pods {
		p := &q.snapshot.Pods[i]
		if p.Node != node {
			continue
		}
		u := q.unitOf(p)
		id := string(u.Kind) + " " + u.Namespace + "/" + u.Name
		if !seen[id] && q.mayEvict(u) {
			seen[id] = true
			out = append(out, u)
		}
	}
	return out
}

// unitOf is the unit that a running pod belongs to. Before units there were pods alone.
func (q *question) unitOf(p *cluster.Pod) Unit {
	u := Unit{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name, Pods: []*cluster.Pod{p}, Rank: 1, Priority: q.priorityOf(p)}
	if chain := q.chain(p); q.units() && len(chain) > 0 {
		u.Rank = 2
		u.Priority = q.groupPriority(chain[len(chain)-1])
		for _, g := range chain { // the last one that is All is the highest
			if g.mode == disruption.All {
				u.Kind, u.Namespace, u.Name, u.Rank = g.kind, g.namespace, g.name, 2
				if g.kind == cluster.KindCompositePodGroup {
					u.Rank = 3
				}
				u.Pods = q.under(g)
			}
		}
	}
	slices.SortFunc(u.Pods, func(a, b *cluster.Pod) int {
		return cmp.Or(cmp.Compare(a.UID, b.UID), key(a).compare(key(b)))
	})
	u.Start = q.start(u.Pods[0])
	for _, p := range u.Pods {
		if s := q.start(p); s.Before(u.Start) {
			u.Start = s
		}
	}
	return u
}

// under lists the running pods of all groups at or below g, wherever they run.
func (q *question) under(g group) []*cluster.Pod {
	var out []*cluster.Pod
	for i := range q.snapshot.Pods {
		p := &q.snapshot.Pods[i]
		if p.Node != "" && slices.ContainsFunc(q.chain(p), g.same) {
			out = append(out, p)
		}
	}
	return out
}

// start is when a pod started; one that has not counts as starting now, and where
// it is not known what time it is, later than every other.
func (q *question) start(p *cluster.Pod) time.Time {
	switch {
	case !p.Started.IsZero():
		return p.Started
	case q.snapshot.Time.IsZero():
		return farFuture
	}
	return q.snapshot.Time
}

var farFuture = time.Unix(1<<60, 0)

// group is a pod group or a composite one.
type group struct {
	kind                    cluster.Kind
	namespace, name, parent string
	mode                    disruption.Mode
	class                   string
	priority                *int32
	labels                  map[string]string
	guard                   *cluster.Guard
	evictions               []time.Time
	ran                     int64
}

func (g group) same(o group) bool {
	return g.kind == o.kind && g.namespace == o.namespace && g.name == o.name
}

// chain lists the groups above a pod, the pod's own first. It ends at an object
// that is missing, before a composite group that is its own ancestor, and after
// four levels.
func (q *question) chain(p *cluster.Pod) []group {
	g, ok := q.podGroup(p.Namespace, p.Group)
	var out []group
	for ok && len(out) < 4 && !q.inCycle(g) {
		out = append(out, g)
		g, ok = q.composite(g.namespace, g.parent)
	}
	return out
}

func (q *question) inCycle(g group) bool {
	above, ok := q.composite(g.namespace, g.parent)
	for range len(q.snapshot.CompositePodGroups) {
		if !ok || above.same(g) {
			return ok
		}
		above, ok = q.composite(above.namespace, above.parent)
	}
	return false
}

func (q *question) podGroup(namespace, name string) (group, bool) {
	for _, g := range q.snapshot.PodGroups {
		if name != "" && g.Namespace == namespace && g.Name == name {
			return group{cluster.KindPodGroup, namespace, name, g.Parent, g.Mode, g.Class, g.Priority, g.Labels, g.Guard, g.Evictions, g.RanSeconds}, true
		}
	}
	return group{}, false
}

func (q *question) composite(namespace, name string) (group, bool) {
	for _, g := range q.snapshot.CompositePodGroups {
		if name != "" && g.Namespace == namespace && g.Name == name {
			return group{cluster.KindCompositePodGroup, namespace, name, g.Parent, g.Mode, g.Class, g.Priority, g.Labels, g.Guard, g.Evictions, g.RanSeconds}, true
		}
	}
	return group{}, false
}

// priorityOf is a pod's own priority: what it says, else what its class says, else
// the global default, else 0.
func (q *question) priorityOf(p *cluster.Pod) int32 {
	if p.Priority != nil {
		return *p.Priority
	}
	return q.class(p.Class).Value
}

func (q *question) groupPriority(g group) int32 {
	if g.priority != nil {
		return *g.priority
	}
	if g.class == "" {
		return 0
	}
	return q.class(g.class).Value
}

// never says whether a pod may not preempt: by its own policy, else by that of its
// class. A pod with a priority and no class is not of the global default.
func (q *question) never(p *cluster.Pod) bool {
	switch {
	case p.Policy != "":
		return p.Policy == priority.Never
	case p.Class == "" && p.Priority != nil:
		return false
	}
	return q.class(p.Class).Policy == priority.Never
}

// class is the class of that name; for the empty name the global default; one of
// priority 0 if there is none.
func (q *question) class(name string) priority.Class {
	for _, c := range q.snapshot.PriorityClasses {
		if c.Name == name || name == "" && c.GlobalDefault {
			return c
		}
	}
	switch name {
	case "system-cluster-critical":
		return priority.Class{Value: 2_000_000_000}
	case "system-node-critical":
		return priority.Class{Value: 2_000_001_000}
	}
	return priority.Class{}
}
