package verify

import (
	"cmp"
	"slices"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/check/internal/order"
	"github.com/preempt-go/preempt/preemption/check/internal/tariff"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

type groupKey struct {
	kind            cluster.Kind
	namespace, name string
}

// group is a pod group or a composite one.
type group struct {
	cluster.PodGroup     // of a composite one, MinCount is of groups
	crowd                // running and pending
	run              int // how many run
	kind             cluster.Kind

	parent    *group // nil at a root, where it is missing, or stands on a cycle
	children  []*group
	effective priority.Effective
	level     int32
}

func newGroup(kind cluster.Kind, g cluster.PodGroup) *group {
	g.Mode = cmp.Or(g.Mode, disruption.Single)
	return &group{PodGroup: g, kind: kind}
}

func compositeGroup(g *cluster.CompositePodGroup) *group {
	return newGroup(cluster.KindCompositePodGroup, cluster.PodGroup{
		Namespace: g.Namespace, Name: g.Name, Labels: g.Labels, Parent: g.Parent, Mode: g.Mode, MinCount: g.MinGroupCount,
		Class: g.Class, Priority: g.Priority, PreemptionPriority: g.PreemptionPriority, Policy: g.Policy, Topology: g.Topology,
		Guard: g.Guard, Cost: g.Cost, Evictions: g.Evictions, RanSeconds: g.RanSeconds,
	})
}

func (g *group) key() groupKey { return groupKey{g.kind, g.Namespace, g.Name} }

func (w *world) readGroups() {
	w.groups = map[groupKey]*group{}
	var all []*group
	for i := range w.PodGroups {
		all = append(all, newGroup(cluster.KindPodGroup, w.PodGroups[i]))
	}
	for i := range w.CompositePodGroups {
		all = append(all, compositeGroup(&w.CompositePodGroups[i]))
	}
	slices.SortFunc(all, func(a, b *group) int { // children in the order in which they are placed
		return cmp.Or(-cmp.Compare(a.kind, b.kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, g := range all {
		g.w, w.groups[g.key()] = w, g
		w.guarded = w.guarded || g.Guard != nil
		w.queueing = w.queueing || g.Queue != ""
	}
	at := map[*group]int{nil: -1}
	for i, g := range all {
		at[g] = i
	}
	onCycle := order.OnCycles(len(all), func(i int) int { return at[w.above(all[i])] })
	for _, g := range all {
		if above := w.above(g); above != nil && !onCycle[at[above]] {
			g.parent = above
			above.children = append(above.children, g)
		}
		w.resolve(g)
	}
}

// resolve settles priority and policy. The global default is for pods.
func (w *world) resolve(g *group) {
	spec := priority.Spec{Class: g.Class, Priority: g.Priority, Policy: g.Policy}
	if spec.Class == "" && spec.Priority == nil {
		spec.Priority = new(int32)
	}
	g.effective, _ = w.classes.Resolve(spec)
}

// above is the group that g names as its parent.
func (w *world) above(g *group) *group {
	if g.Parent == "" {
		return nil
	}
	return w.groups[groupKey{cluster.KindCompositePodGroup, g.Namespace, g.Parent}]
}

// chain lists the groups above a pod as they are read, its own first.
func (p *pod) chain() []*group {
	var list []*group
	for g := p.group; g != nil && len(list) < cluster.MaxTreeDepth; g = g.parent {
		list = append(list, g)
	}
	return list
}

// under lists the pods at or beneath g, running and pending.
func (g *group) under() []*pod { return g.underTo(cluster.MaxTreeDepth) }

func (g *group) underTo(depth int) []*pod {
	list := slices.Clone(g.pods())
	if depth > 1 {
		for _, c := range g.children {
			list = append(list, c.underTo(depth-1)...)
		}
	}
	return list
}

// levelAt is a preemption priority: the one given or else the priority, or what
// milestones make of it by now.
func (w *world) levelAt(prio int32, given *int32, guard *cluster.Guard, since func() time.Time) int32 {
	first := prio
	if given != nil {
		first = *given
	}
	if guard == nil || len(guard.Milestones) == 0 {
		return first
	}
	seconds, _ := w.elapsed(since())
	return int32(tariff.CurveAt(int64(first), guard.Milestones, seconds))
}

// groupCheckpoint is when a group last saved its progress, or else began.
func (w *world) groupCheckpoint(g *group) time.Time {
	if g.Cost != nil && !g.Cost.Checkpoint.IsZero() {
		return g.Cost.Checkpoint
	}
	var first time.Time
	for _, p := range g.under() {
		if p.Node != "" && !p.Started.IsZero() && (first.IsZero() || p.Started.Before(first)) {
			first = p.Started
		}
	}
	return first
}

// checkpoint is when a pod last saved its progress: as it says, or the nearest group
// above, or else since its start.
func (p *pod) checkpoint() time.Time {
	if p.Cost != nil && !p.Cost.Checkpoint.IsZero() {
		return p.Cost.Checkpoint
	}
	for g := p.group; g != nil; g = g.parent {
		if g.Cost != nil && !g.Cost.Checkpoint.IsZero() {
			return g.Cost.Checkpoint
		}
	}
	return p.Started
}
