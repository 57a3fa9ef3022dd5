package cluster

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/priority"
)

// MaxTreeDepth is how many levels of groups are read, from a pod's own group up.
// Source: KEP-6012, workload tree depth.
const MaxTreeDepth = 4

// Group is a PodGroup or CompositePodGroup of an index: what units and gangs need
// of it. The pod groups come first in the numbering, then the composite ones, each
// in order of namespace and name.
type Group struct {
	Kind            Kind
	Namespace, Name string
	UID             string
	Mode            disruption.Mode // never empty
	Priority        int32
	Policy          priority.Policy // never empty
	Parent          GroupID         // NoGroup at a root, where the parent is missing or on a cycle
	PodGroup        *PodGroup       // nil for a composite
	Composite       *CompositePodGroup
	Pods            []PodID   // of a pod group: running and pending, in order of name
	Children        []GroupID // of a composite

	level int32 // preemption priority without milestones: Priority if nothing else is said
}

// NumGroups is the number of groups and composite groups.
func (ix *Index) NumGroups() int { return ix.groups.Len() }

// Group returns group g. It must not be changed.
func (ix *Index) Group(g GroupID) *Group { return ix.groups.At(int(g)) }

// GroupOf returns the pod group of pod p, NoGroup if it has none or its group is
// not in the snapshot.
func (ix *Index) GroupOf(p PodID) GroupID { return ix.pods.At(int(p)).group }

// GroupByName returns the group of that kind and name, or NoGroup.
func (ix *Index) GroupByName(kind Kind, namespace, name string) GroupID {
	if g, ok := ix.groupByName[groupKey{kind, namespace, name}]; ok {
		return g
	}
	return NoGroup
}

// Root returns the highest group that the pods of pod group g are read to belong to.
func (ix *Index) Root(g GroupID) GroupID {
	for range MaxTreeDepth - 1 {
		if ix.Group(g).Parent == NoGroup {
			break
		}
		g = ix.Group(g).Parent
	}
	return g
}

// HighestAll returns the highest group at or above pod group g whose mode is All
// or SurplusFirst, or NoGroup.
func (ix *Index) HighestAll(g GroupID) GroupID {
	all := NoGroup
	for range MaxTreeDepth {
		if ix.Group(g).Mode.Whole() {
			all = g
		}
		if g = ix.Group(g).Parent; g == NoGroup {
			break
		}
	}
	return all
}

// PodsUnder appends to dst the pods, running and pending, of all pod groups that are
// read to stand at or beneath g, and returns the extended slice.
func (ix *Index) PodsUnder(dst []PodID, g GroupID) []PodID { return ix.podsUnder(dst, g, MaxTreeDepth) }

func (ix *Index) podsUnder(dst []PodID, g GroupID, levels int) []PodID {
	dst = append(dst, ix.Group(g).Pods...)
	if levels > 1 {
		for _, child := range ix.Group(g).Children {
			dst = ix.podsUnder(dst, child, levels-1)
		}
	}
	return dst
}

type groupKey struct {
	kind            Kind
	namespace, name string
}

// compileGroups numbers the groups, links them to their parents and settles their
// priorities. finishGroups does what needs their pods.
func (ix *Index) compileGroups(s *Objects) {
	groups := make([]Group, 0, len(s.PodGroups)+len(s.CompositePodGroups))
	for _, g := range s.PodGroups {
		groups = append(groups, g.AsGroup())
	}
	for _, g := range s.CompositePodGroups {
		groups = append(groups, g.AsGroup())
	}
	slices.SortFunc(groups, func(a, b Group) int { return compareGroups(&a, &b) })
	ix.groups = paged.Make[Group](len(groups))
	ix.groupByName = make(map[groupKey]GroupID, len(groups))
	for i := range groups {
		g := &groups[i]
		*ix.groups.Edit(i) = *g
		ix.groupByName[groupKey{g.Kind, g.Namespace, g.Name}] = GroupID(i)
	}
	ix.linkParents()
	for i := range ix.NumGroups() {
		g := ix.groups.Edit(i)
		e, _ := ix.classes.Resolve(g.spec())
		g.Priority, g.Policy = e.Priority, e.Policy
	}
}

// AsGroup is g as a group of its own, without parent, pods and priority.
func (g *PodGroup) AsGroup() Group {
	return Group{
		Kind: KindPodGroup, Namespace: g.Namespace, Name: g.Name, UID: g.UID,
		Mode: cmp.Or(g.Mode, disruption.Single), PodGroup: g, Parent: NoGroup,
	}
}

// AsGroup is g as a group of its own, without parent, pods and priority.
func (g *CompositePodGroup) AsGroup() Group {
	return Group{
		Kind: KindCompositePodGroup, Namespace: g.Namespace, Name: g.Name, UID: g.UID,
		Mode: cmp.Or(g.Mode, disruption.Single), Composite: g, Parent: NoGroup,
	}
}

// compareGroups orders groups by kind, pod groups first, namespace and name.
func compareGroups(a, b *Group) int {
	return cmp.Or(-cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// linkParents follows the names of parents. Groups on a cycle have no parent and
// are nobody's.
func (ix *Index) linkParents() {
	for i := range ix.NumGroups() {
		g := ix.groups.Edit(i)
		name := g.parentName()
		if name == "" {
			continue
		}
		g.Parent = ix.GroupByName(KindCompositePodGroup, g.Namespace, name)
	}
	onCycle := onCycles(ix.NumGroups(), func(g GroupID) GroupID { return ix.Group(g).Parent })
	for i := range ix.NumGroups() {
		g := ix.groups.Edit(i)
		if g.Parent == NoGroup || !onCycle[g.Parent] {
			continue
		}
		ix.warnGroup(g, "Parent", g.parentName(), "the parent is on a cycle: the chain of groups ends here")
		g.Parent, ix.cyclic = NoGroup, true
	}
	for i := range ix.NumGroups() {
		ix.warnDepth(GroupID(i))
	}
	for i := range ix.NumGroups() {
		if p := ix.groups.At(i).Parent; p != NoGroup {
			parent := ix.groups.Edit(int(p))
			parent.Children = append(parent.Children, GroupID(i))
		}
	}
}

func (g *Group) parentName() string {
	if g.PodGroup != nil {
		return g.PodGroup.Parent
	}
	return g.Composite.Parent
}

// onCycles tells of each of n groups whether its chain of parents comes back to it. It asks
// for O(n) parents, however long the chains are.
func onCycles(n int, parent func(GroupID) GroupID) []bool {
	onCycle := make([]bool, n)
	seen := make([]int, n) // by which chain; 0: by none
	for i := range seen {
		at := GroupID(i)
		for ; at != NoGroup && seen[at] == 0; at = parent(at) {
			seen[at] = i + 1
		}
		if at == NoGroup || seen[at] != i+1 {
			continue // it ends, or goes on as an earlier one did
		}
		for ; !onCycle[at]; at = parent(at) {
			onCycle[at] = true
		}
	}
	return onCycle
}

// warnDepth warns of a pod group with more than MaxTreeDepth levels: what is above
// them is not read for its pods.
func (ix *Index) warnDepth(leaf GroupID) {
	if ix.Group(leaf).Kind != KindPodGroup {
		return
	}
	if top := ix.Group(ix.Root(leaf)); top.Parent != NoGroup {
		ix.deep = true
		ix.warnGroup(ix.Group(leaf), "Parent", ix.Group(leaf).parentName(),
			fmt.Sprintf("more than %d levels: its chain of groups ends at %q", MaxTreeDepth, top.Name))
	}
}

// finishGroups gives every group its pods, in order of name, and settles what depends
// on them.
func (ix *Index) finishGroups(ps *problems) {
	for i := range ix.NumPods() {
		if g := ix.pods.At(i).group; g != NoGroup {
			of := ix.groups.Edit(int(g))
			of.Pods = append(of.Pods, PodID(i))
		}
	}
	for i := range ix.NumGroups() {
		g := ix.groups.Edit(i)
		ix.warnings = append(ix.warnings, ix.oddGroup(g, nil)...)
		ix.guarded.add(1, g.Guard(), g.Evictions())
		ix.latest = latest(ix.latest, g.Cost(), g.Evictions())
		g.level = level(ps.object(g.Kind, g.Namespace, g.Name), g.Priority, g.preemptionPriority(), g.Guard())
	}
}

// oddGroup lists what is odd about a group by itself and because of the pods that it has and
// more, but for its place in a tree.
func (ix *Index) oddGroup(g *Group, more []Pod) []Warning {
	list := ix.missing(g, more)
	if spec := g.spec(); spec.Class != "" {
		if _, err := ix.classes.Resolve(spec); err != nil {
			list = append(list, Warning{g.Kind, g.Namespace, g.Name, "Class", spec.Class, "no such priority class"})
		}
	}
	if name := g.parentName(); name != "" && ix.GroupByName(KindCompositePodGroup, g.Namespace, name) == NoGroup {
		list = append(list, Warning{g.Kind, g.Namespace, g.Name, "Parent", name, "no such group: the chain of groups ends here"})
	}
	if g.Mode == disruption.All && g.PodGroup != nil && g.PodGroup.MinCount == nil {
		list = append(list, Warning{g.Kind, g.Namespace, g.Name, "Mode", string(g.Mode), "All on a basic group: executed all the same"})
	}
	return ix.oddMoments(list, Warning{Kind: g.Kind, Namespace: g.Namespace, Name: g.Name}, g.Cost(), g.Evictions())
}

// missing lists what is odd about a group because of the pods that it has and more.
func (ix *Index) missing(g *Group, more []Pod) []Warning {
	if g.PodGroup == nil {
		return nil
	}
	var list []Warning
	warn := func(field, value, text string) {
		list = append(list, Warning{g.Kind, g.Namespace, g.Name, field, value, text})
	}
	leader := g.PodGroup.Leader
	_, leads := slices.BinarySearchFunc(g.Pods, leader, func(p PodID, name string) int { return cmp.Compare(ix.Pod(p).Name, name) })
	if leader != "" && !leads && !slices.ContainsFunc(more, func(p Pod) bool { return p.Name == leader }) {
		warn("Leader", leader, "no such pod in the group: nobody leads")
	}
	if m, pods := g.PodGroup.MinCount, len(g.Pods)+len(more); m != nil && pods < int(*m) {
		warn("MinCount", number(*m), fmt.Sprintf("the group has %d pods", pods))
	}
	return list
}

// level is the preemption priority that is given, or else the priority. It complains
// where that, or a milestone of guard, lies below.
func level(o object, prio int32, given *int32, guard *Guard) int32 {
	if guard != nil {
		for i, m := range guard.Milestones {
			if m.Value < int64(prio) {
				err := priority.CheckPreemptionPriority(prio, int32(max(m.Value, math.MinInt32)))
				o.wrap(err, fmt.Sprintf("Guard.Milestones[%d].Value", i), number(m.Value), fmt.Sprintf(">= the priority %d", prio))
			}
		}
	}
	if given == nil {
		return prio
	}
	if err := priority.CheckPreemptionPriority(prio, *given); err != nil {
		o.wrap(err, "PreemptionPriority", number(*given), fmt.Sprintf(">= the priority %d: it could evict its own preemptor in turn", prio))
	}
	return *given
}

// levelAt is what the milestones of guard make of first so long after since, and from
// which second on they may make something else of it.
func (ix *Index) levelAt(first int32, guard *Guard, since func() time.Time) (level int32, due int64) {
	if guard == nil || len(guard.Milestones) == 0 {
		return first, math.MaxInt64
	}
	curve, err := disruption.NewCurve(int64(first), guard.Milestones)
	if err != nil {
		panic("cluster: milestones passed validation: " + err.Error())
	}
	begin := since()
	seconds, _ := ix.Elapsed(begin)
	return int32(curve.At(seconds)), ix.Due(begin, curve.Until(seconds))
}

func (g *Group) preemptionPriority() *int32 {
	if g.PodGroup != nil {
		return g.PodGroup.PreemptionPriority
	}
	return g.Composite.PreemptionPriority
}

// spec is what the group says about its priority. The global default is for pods; a
// group without priority and class has 0.
func (g *Group) spec() priority.Spec {
	var spec priority.Spec
	if g.PodGroup != nil {
		spec = priority.Spec{Class: g.PodGroup.Class, Priority: g.PodGroup.Priority, Policy: g.PodGroup.Policy}
	} else {
		spec = priority.Spec{Class: g.Composite.Class, Priority: g.Composite.Priority, Policy: g.Composite.Policy}
	}
	if spec.Class == "" && spec.Priority == nil {
		spec.Priority = new(int32)
	}
	return spec
}
