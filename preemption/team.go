package preemption

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// team is one group of a preemptor, with the groups beneath it.
type team struct {
	id      cluster.GroupID // NoGroup for a group given inline
	name    string
	members []domain.MemberID // of a pod group: pending, in the order in which they are placed
	running int               // of a pod group: pods that run already
	min     int               // of a pod group: how many must run; at least 1

	children []*team // of a composite group
	minTeams int     // of a composite group: how many of them must run

	topology []cluster.TopologyConstraint // of a child group: its own, within the place of its parent

	within *domain.Domain // of a pod group: where its members get a place; nil if it is left out
	seated int            // of a pod group: how many of them had one at first
}

// need is how many pending members must get a place.
func (t *team) need() int { return max(0, t.min-t.running) }

// atLeastOne makes a lone pod group ask for one member more than those that run.
func (t *team) atLeastOne() {
	if len(t.children) == 0 {
		t.min = max(t.min, t.running+1)
	}
}

// enough reports whether t has the pods that it needs at all.
func (t *team) enough() bool { return len(t.members) >= t.need() }

// wishes reports whether t or a group beneath it has topology constraints.
func (t *team) wishes() bool {
	return len(t.topology) > 0 || slices.ContainsFunc(t.children, (*team).wishes)
}

// hardestFirst returns the child groups: those that want to be packed first, and of
// them and of the others those that need most members.
func (t *team) hardestFirst() []*team {
	list := slices.Clone(t.children)
	rank := func(c *team) int {
		if c.wishes() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b *team) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.leastNeed(), a.leastNeed()))
	})
	return list
}

// leastNeed is how many pending members t needs at least.
func (t *team) leastNeed() int {
	_, need, _ := t.cheapest(nil)
	return need
}

// leaves appends the pod groups of t, in order.
func (t *team) leaves(dst []*team) []*team {
	if len(t.children) == 0 {
		return append(dst, t)
	}
	for _, c := range t.children {
		dst = c.leaves(dst)
	}
	return dst
}

// hopeless says why no eviction can help: there are too few pods, or too few groups
// that have enough. Empty if it may help.
//
// Source: KEP-6012, status of a composite group: successful, waiting and
// unschedulable children against the number needed.
func (t *team) hopeless() string {
	if len(t.children) == 0 {
		if !t.enough() {
			return "pod group " + t.name + " has " + count(len(t.members)+t.running, "pod") + ", fewer than its minCount"
		}
		return ""
	}
	able := 0
	for _, c := range t.children {
		if c.hopeless() == "" {
			able++
		}
	}
	if able < t.minTeams {
		return "composite group " + t.name + " has " + count(able, "child group") + " with enough pods, fewer than its minGroupCount"
	}
	return ""
}

// satisfied reports whether t may run if ok tells which of its pod groups may.
func (t *team) satisfied(ok func(leaf *team) bool) bool {
	if len(t.children) == 0 {
		return ok(t)
	}
	able := 0
	for _, c := range t.children {
		if c.satisfied(ok) {
			able++
		}
	}
	return able >= t.minTeams
}

// cheapest appends the pod groups beneath t that suffice with the fewest members, and
// returns how many members they need; ok is false if there are too few pods.
func (t *team) cheapest(dst []*team) (list []*team, need int, ok bool) {
	if len(t.children) == 0 {
		return append(dst, t), t.need(), t.enough()
	}
	type choice struct {
		leaves []*team
		need   int
	}
	var choices []choice
	for _, c := range t.children {
		if leaves, need, ok := c.cheapest(nil); ok {
			choices = append(choices, choice{leaves, need})
		}
	}
	if len(choices) < t.minTeams {
		return dst, 0, false
	}
	slices.SortStableFunc(choices, func(a, b choice) int { return cmp.Compare(a.need, b.need) })
	for _, c := range choices[:t.minTeams] {
		dst, need = append(dst, c.leaves...), need+c.need
	}
	return dst, need, true
}

// newTeam builds the tree of groups beneath g; add is called for every pending pod
// and returns its member.
func newTeam(ix *cluster.Index, g cluster.GroupID, add func(cluster.PodID) domain.MemberID) *team {
	group := ix.Group(g)
	t := &team{id: g, name: key(group.Namespace, group.Name), min: 1, topology: wishesOf(group)}
	if group.PodGroup != nil {
		if m := group.PodGroup.MinCount; m != nil {
			t.min = int(*m)
		}
		for _, p := range placingOrder(ix, group.Pods) {
			if ix.Pod(p).Node != "" {
				t.running++
			} else {
				t.members = append(t.members, add(p))
			}
		}
		return t
	}
	for _, c := range group.Children {
		t.children = append(t.children, newTeam(ix, c, add))
	}
	t.minTeams = len(t.children)
	if m := group.Composite.MinGroupCount; m != nil {
		t.minTeams = int(*m)
	}
	return t
}

// wishesOf returns the topology constraints of a group.
func wishesOf(g *cluster.Group) []cluster.TopologyConstraint {
	if g.PodGroup != nil {
		return g.PodGroup.Topology
	}
	return g.Composite.Topology
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
