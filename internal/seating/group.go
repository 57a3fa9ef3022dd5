package seating

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Group is a pod group of a gang, or a composite group with the groups beneath it.
type Group struct {
	ID   cluster.GroupID // NoGroup for a group given inline
	Name string          // with its namespace

	Members []domain.MemberID // of a pod group: pending, in the order in which they are placed
	Running int               // of a pod group: pods that run already
	Min     int               // of a pod group: how many must run; at least 1; of a composite group without child groups MinChildren

	Children    []*Group // of a composite group
	MinChildren int      // of a composite group: how many of them must run

	Topology []cluster.TopologyConstraint // of a child group: its own, within the place of its parent

	Within *domain.Domain // of a pod group: where its members get a place; nil if it is left out
	Seated int            // of a pod group: how many of its members had a place at first

	splits  splits // those of the tree
	found   regions
	hardest []*Group // hardestFirst, once they are sorted
}

// NewGroup builds the tree of groups beneath g; add is called for every pending pod, in
// the order in which they are placed, and returns its member.
func NewGroup(ix *cluster.Index, g cluster.GroupID, add func(cluster.PodID) domain.MemberID) *Group {
	return newGroup(ix, g, splits{}, add)
}

func newGroup(ix *cluster.Index, g cluster.GroupID, shared splits, add func(cluster.PodID) domain.MemberID) *Group {
	group := ix.Group(g)
	t := &Group{ID: g, Name: nameOf(group), Min: 1, splits: shared}
	if group.PodGroup == nil {
		t.Topology = group.Composite.Topology
		for _, c := range group.Children {
			t.Children = append(t.Children, newGroup(ix, c, shared, add))
		}
		t.MinChildren = len(t.Children)
		if m := group.Composite.MinGroupCount; m != nil {
			t.MinChildren = int(*m)
		}
		t.Min = t.MinChildren
		return t
	}
	t.Topology = group.PodGroup.Topology
	if m := group.PodGroup.MinCount; m != nil {
		t.Min = int(*m)
	}
	for _, p := range placingOrder(ix, group.Pods) {
		if ix.Pod(p).Node != "" {
			t.Running++
		} else {
			t.Members = append(t.Members, add(p))
		}
	}
	return t
}

func nameOf(g *cluster.Group) string {
	if g.Namespace == "" {
		return g.Name
	}
	return g.Namespace + "/" + g.Name
}

// placingOrder is the order in which members are placed, where it matters: higher
// priority, then earlier creation, then namespace and name.
func placingOrder(ix *cluster.Index, pods []cluster.PodID) []cluster.PodID {
	pods = slices.Clone(pods)
	slices.SortStableFunc(pods, func(a, b cluster.PodID) int {
		return cmp.Or(
			cmp.Compare(ix.Priority(b), ix.Priority(a)),
			cmp.Compare(cluster.Nanos(ix.Pod(a).Created), cluster.Nanos(ix.Pod(b).Created)),
			ix.ComparePods(a, b))
	})
	return pods
}

// Need is how many pending members of a pod group must get a place.
func (t *Group) Need() int { return max(0, t.Min-t.Running) }

// AskForMore makes a lone pod group ask for one member more than those that run.
func (t *Group) AskForMore() {
	if len(t.Children) == 0 {
		t.Min = max(t.Min, t.Running+1)
	}
}

// Enough reports whether a pod group has the pods that it needs at all.
func (t *Group) Enough() bool { return len(t.Members) >= t.Need() }

// Short returns the group on account of which no eviction can help, nil if there is none:
// a pod group with too few pods, or a composite group of which no more than so many child
// groups have enough.
//
// Source: KEP-6012, status of a composite group: successful, waiting and
// unschedulable children against the number needed.
func (t *Group) Short() (short *Group, able int) {
	if len(t.Children) == 0 {
		if t.Enough() {
			return nil, 0
		}
		return t, 0
	}
	for _, c := range t.Children {
		if short, _ := c.Short(); short == nil {
			able++
		}
	}
	if able < t.MinChildren {
		return t, able
	}
	return nil, able
}

// Satisfied reports whether t may run if ok tells which of its pod groups may.
func (t *Group) Satisfied(ok func(leaf *Group) bool) bool {
	if len(t.Children) == 0 {
		return ok(t)
	}
	able := 0
	for _, c := range t.Children {
		if c.Satisfied(ok) {
			able++
		}
	}
	return able >= t.MinChildren
}

// pending are the members of the pod groups of t, one group after the other.
func (t *Group) pending() (members []domain.MemberID) {
	for _, leaf := range t.Leaves() {
		members = append(members, leaf.Members...)
	}
	return members
}

// Fewest is how many pending members must get a place at least for t to run, [math.MaxInt32] if it can't.
func (t *Group) Fewest() int {
	_, need, ok := t.cheapest(nil)
	if !ok {
		return math.MaxInt32
	}
	return need
}

// runsWith reports whether t may run, and every group between it and leaf, if ok tells
// which of its pod groups may.
func (t *Group) runsWith(leaf *Group, ok func(*Group) bool) bool {
	return t.Satisfied(ok) && (t == leaf || slices.ContainsFunc(t.Children, func(c *Group) bool { return c.runsWith(leaf, ok) }))
}

// HasTopology reports whether t or a group beneath it has topology constraints.
func (t *Group) HasTopology() bool { return len(t.Topology) > 0 || t.PartsHaveTopology() }

// PartsHaveTopology reports whether a group beneath t has topology constraints.
func (t *Group) PartsHaveTopology() bool {
	return slices.ContainsFunc(t.Children, (*Group).HasTopology)
}

// Able lists the pod groups of t that run once all their members have a place, with every group
// above them.
func (t *Group) Able() []*Group { return t.able(nil) }

func (t *Group) able(dst []*Group) []*Group {
	if !t.Satisfied((*Group).Enough) {
		return dst
	}
	if len(t.Children) == 0 {
		return append(dst, t)
	}
	for _, c := range t.Children {
		dst = c.able(dst)
	}
	return dst
}

// Leaves are the pod groups of t, in order.
func (t *Group) Leaves() []*Group { return t.leaves(nil) }

func (t *Group) leaves(dst []*Group) []*Group {
	if len(t.Children) == 0 {
		return append(dst, t)
	}
	for _, c := range t.Children {
		dst = c.leaves(dst)
	}
	return dst
}

// leaveOut says that no member of t is looked for a place.
func (t *Group) leaveOut() {
	if len(t.Children) == 0 {
		t.Within = nil
	}
	for _, c := range t.Children {
		c.leaveOut()
	}
}

// hardestFirst are the child groups: those with topology constraints first, and of
// them and of the others those that need most members.
func (t *Group) hardestFirst() []*Group {
	if t.hardest != nil {
		return t.hardest
	}
	list := slices.Clone(t.Children)
	rank := func(c *Group) int {
		if c.HasTopology() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Fewest(), a.Fewest()))
	})
	t.hardest = list
	return list
}

// fewChildren is up to how many child groups each is left out in turn.
const fewChildren = 8

// choices are the child groups in the orders in which they are seated: as they are, the
// hardest first, and then without one of them that may stay out, where they are few.
func (t *Group) choices() iter.Seq[[]*Group] {
	return func(yield func([]*Group) bool) {
		if !yield(t.Children) || !yield(t.hardestFirst()) || len(t.Children) > fewChildren || len(t.Children) <= t.MinChildren {
			return
		}
		for i := range t.Children {
			if !yield(slices.Concat(t.Children[:i], t.Children[i+1:])) {
				return
			}
		}
	}
}

// cheapest appends the pod groups beneath t that suffice with the fewest members, and
// returns how many members they need; ok is false if there are too few pods.
func (t *Group) cheapest(dst []*Group) (list []*Group, need int, ok bool) {
	if len(t.Children) == 0 {
		return append(dst, t), t.Need(), t.Enough()
	}
	type choice struct {
		leaves []*Group
		need   int
	}
	var choices []choice
	for _, c := range t.Children {
		if leaves, need, ok := c.cheapest(nil); ok {
			choices = append(choices, choice{leaves, need})
		}
	}
	if len(choices) < t.MinChildren {
		return dst, 0, false
	}
	slices.SortStableFunc(choices, func(a, b choice) int { return cmp.Compare(a.need, b.need) })
	for _, c := range choices[:t.MinChildren] {
		dst, need = append(dst, c.leaves...), need+c.need
	}
	return dst, need, true
}
