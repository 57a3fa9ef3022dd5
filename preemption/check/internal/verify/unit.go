package verify

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/check/internal/budgets"
	"github.com/preempt-go/preempt/preemption/check/internal/order"
	"github.com/preempt-go/preempt/preemption/check/internal/tariff"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// fewPods are as many as a unit has of which candidates list all pods, and nothing is remembered.
const fewPods = 8

// unit is what goes or stays as a whole: one pod, or the running pods beneath a group.
type unit struct {
	kind            cluster.Kind
	namespace, name string
	group           *group // the group that goes as a whole; nil for a pod
	pods            []*pod // by UID, then namespace and name
	alone           [1]*pod
	priority        int32
	level           int32 // what it is eligible by
	rank            int
	start           int64
	elastic         bool

	charge   int                       // what its loss adds to the violations, once that was asked
	charged  map[*budgets.Budget]int64 // what its loss charges, once that was asked of a large one
	memo     budgets.Memo              // of charge
	homeless *int64                    // how many of its pods find no other place, once that was asked
	cost     *int64                    // what its pods cost together, once that was asked
	before   budgets.Left              // of an elastic one: what budgets had left before it was charged
	stuck    int                       // see pinned; 0: not known yet
	branches map[*group]*branch        // of an elastic one that was counted
	parted   int                       // by [scene.part]: when it was asked for last
	away     bool                      // likewise: it has left
	asker    *question                 // who asked what keeps it
	keeps    kept                      // that
}

// whole is what count says of pods of u; of all of them it is asked once.
func (u *unit) whole(said **int64, pods []*pod, count func() int64) int64 {
	if len(pods) < len(u.pods) {
		return count()
	}
	if *said == nil {
		n := count()
		*said = &n
	}
	return **said
}

// unitOf is the unit that a running pod belongs to.
func (w *world) unitOf(p *pod) *unit {
	if p.unit != nil {
		return p.unit
	}
	u := w.units.next()
	u.kind, u.namespace, u.name = cluster.KindPod, p.Namespace, p.Name
	if u.group = w.atom(p); u.group == nil {
		u.alone[0] = p
		u.pods = u.alone[:]
	} else {
		u.kind, u.namespace, u.name = u.group.kind, u.group.Namespace, u.group.Name
		u.elastic = u.group.Mode == disruption.SurplusFirst
		for _, q := range u.group.under() {
			if q.Node != "" && w.atom(q) == u.group {
				u.pods = append(u.pods, q)
			}
		}
		slices.SortFunc(u.pods, inUnits)
	}
	w.describe(u)
	for _, q := range u.pods {
		q.unit = u
	}
	return u
}

// inUnits is the order of pods in their unit.
func inUnits(a, b *pod) int { return cmp.Or(strings.Compare(a.UID, b.UID), compareNames(a, b)) }

// near are the pods of units that matter to a lone pod on n: those there, unless some constraint ties pods to others. To a gang, n is nil, all matter.
func (s *scene) near(n *node, units ...*unit) (pods []*pod) {
	all := n == nil || s.across
	for _, u := range units {
		if all || len(u.pods) <= len(n.who) {
			pods = append(pods, u.pods...)
		} else {
			pods = append(pods, slices.DeleteFunc(slices.Clone(n.pods()), func(p *pod) bool { return s.unitOf(p) != u })...)
		}
	}
	return slices.DeleteFunc(pods, func(p *pod) bool { return !all && p.at != n })
}

// atom is the group that a pod goes with as a whole, the highest one.
func (w *world) atom(p *pod) (whole *group) {
	for _, g := range p.chain() {
		if w.rules.atomic() && g.Mode.Whole() && (!w.rules.old || g == p.group) {
			whole = g
		}
	}
	return whole
}

// describe settles what u is worth. By the newer rules the root of its groups says so;
// by those before the group that goes whole, or else the pod itself.
func (w *world) describe(u *unit) {
	first, says := u.pods[0], u.group
	if chain := first.chain(); !w.rules.old && len(chain) > 0 {
		says = chain[len(chain)-1]
	}
	if says != nil {
		u.priority, u.level = says.effective.Priority, says.level
	} else {
		u.priority = first.priority
		u.level = w.levelAt(first.priority, first.PreemptionPriority, first.Guard, func() time.Time { return first.checkpoint() })
	}
	if !w.rules.apart {
		u.level = u.priority
	}
	switch {
	case w.rules.old && (!w.rules.group || first.Group == ""):
	case !w.rules.old && u.kind == cluster.KindCompositePodGroup:
		u.rank = 3
	case !w.rules.old && first.group != nil:
		u.rank = 2
	default:
		u.rank = 1
	}
	u.start = w.started(first)
	for _, p := range u.pods {
		u.start = min(u.start, w.started(p))
	}
}

// moreImportant is below zero if a is worth keeping more than b.
func (w *world) moreImportant(a, b *unit) int {
	if c := cmp.Compare(b.priority, a.priority); c != 0 {
		return c
	}
	if w.o.PreferMovable {
		if c := cmp.Compare(w.pinned(b), w.pinned(a)); c != 0 {
			return c
		}
	}
	if w.o.Cost.Importance {
		if c := cmp.Compare(w.price(b, b.pods), w.price(a, a.pods)); c != 0 {
			return c
		}
	}
	if c := cmp.Or(b.rank-a.rank, len(b.pods)-len(a.pods), cmp.Compare(a.start, b.start)); c != 0 {
		return c
	}
	if c := strings.Compare(a.pods[0].UID, b.pods[0].UID); c != 0 {
		return c
	}
	return compareNames(a.pods[0], b.pods[0])
}

// pinned is 2 if a pod of u can run on no other node, else 1: what it selects and tolerates counts, room does not.
func (w *world) pinned(u *unit) int {
	if u.stuck > 0 {
		return u.stuck
	}
	u.stuck = 1
	for _, p := range u.pods {
		elsewhere := func(n node) bool {
			return n.Name != p.Node && w.lists.Node(p.Pod, n.Node) && w.lists.Taints(p.Pod, n.Node)
		}
		if p.at != nil && p.RequiredNode == p.Node || !slices.ContainsFunc(w.nodes, elsewhere) {
			u.stuck = 2
		}
	}
	return u.stuck
}

// potential lists the units that may be evicted for the preemptor and have a pod on one of some nodes, most important first.
func (q *question) potential(nodes ...*node) []*unit {
	list := q.evictable(nodes...)
	slices.SortFunc(list, q.moreImportant)
	return list
}

// evictable lists them in no order.
func (q *question) evictable(nodes ...*node) []*unit {
	return slices.DeleteFunc(q.unitsOn(nodes), func(u *unit) bool { return !q.mayEvict(u) || q.owns(u) })
}

// unitsOn lists the units that have a pod on one of some nodes, each once, but pods that their own priority alone keeps.
func (q *question) unitsOn(nodes []*node) (list []*unit) {
	ruled, seen := q.o.Guards.EqualAfterSeconds == 0 && !q.ownEligible(), map[*unit]bool{}
	for _, n := range nodes {
		for _, i := range n.who {
			p := &q.Pods[i]
			alone := p.Group == "" && p.Queue == "" && p.Guard == nil && p.PreemptionPriority == nil
			if ruled && alone && q.priorityOf(p) >= q.priority {
				continue
			}
			u := q.unitOf(q.record(i))
			if len(u.pods) == 1 || !seen[u] {
				list = append(list, u)
			}
			if len(u.pods) > 1 {
				seen[u] = true
			}
		}
	}
	return list
}

type groupKey struct {
	kind            cluster.Kind
	namespace, name string
}

// group is a pod group or a composite one.
type group struct {
	cluster.PodGroup     // of a composite one, MinCount is of groups
	crowd                // running and pending
	run              int // how many run
	beneath          int // see running
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

// levelAt is a preemption priority: the one given or else the priority, or what milestones make of it by now.
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

// checkpoint is when a pod last saved its progress: as it says, or the nearest group above, or else since its start.
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
