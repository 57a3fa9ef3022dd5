package cluster

import (
	"maps"
	"slices"
)

// The methods of this file let groups come, change and go while nobody is beneath them or goes
// as a whole with who is: the caller takes these pods out before, and brings them back. What a
// group is to a pod (its priority, its guard, who goes with it) is found out anew when that
// comes back; other pods of its tree do not read it.

// removedGroup is what a hole among the groups reads as.
var removedGroup PodGroup

// MaySetGroup reports whether the group of that kind and name can be set to g, which is
// valid by itself, or with nil removed. pods are those that have to be out: beneath it, before or
// then, and of what it is and will be a part of that goes as a whole. Trees that are too deep,
// and cycles, are settled when an index is made.
func (ix *Index) MaySetGroup(kind Kind, namespace, name string, g *Group) (pods []PodID, ok bool) {
	if ix.deep || ix.cyclic || g != nil && ix.badGroup(g) {
		return nil, false
	}
	id, children := ix.GroupByName(kind, namespace, name), ix.childrenOf(kind, namespace, name)
	tops := children
	if id != NoGroup {
		tops = ix.wholes([]GroupID{id}, id)
	} else if kind == KindPodGroup {
		pods = ix.orphans(namespace, name)
	}
	if g != nil {
		levels := 1 + ix.height(children)
		if kind == KindCompositePodGroup && g.parentName() == name {
			return nil, false
		}
		for at := ix.parentOf(g); at != NoGroup; at = ix.Group(at).Parent {
			if levels++; at == id || slices.Contains(children, at) {
				return nil, false
			}
		}
		tops = ix.wholes(tops, ix.parentOf(g))
		if levels > MaxTreeDepth {
			return nil, false
		}
	}
	for _, top := range tops {
		pods = ix.PodsUnder(pods, top)
	}
	slices.Sort(pods) // some are beneath several
	pods = slices.Compact(pods)
	for _, p := range pods {
		if !ix.MaySetPod(ix.Pod(p), p) {
			return nil, false
		}
	}
	return pods, true
}

// wholes appends the groups at or above g that go as a whole.
func (ix *Index) wholes(dst []GroupID, g GroupID) []GroupID {
	for ; g != NoGroup; g = ix.Group(g).Parent {
		if ix.Group(g).Mode.Whole() {
			dst = append(dst, g)
		}
	}
	return dst
}

// badGroup reports whether g would not pass the checks that need its class.
func (ix *Index) badGroup(g *Group) bool {
	var ps problems
	ix.checkGroup(&ps, g)
	return len(ps) > 0
}

// checkGroup makes the checks of g that need its class.
func (ix *Index) checkGroup(ps *problems, g *Group) {
	o := ps.object(g.Kind, g.Namespace, g.Name)
	e, _ := ix.classes.Resolve(g.spec())
	level(o, e.Priority, g.preemptionPriority(), g.Guard())
	ix.checkLead(o, e.Priority, g.preemptionPriority(), g.Guard())
}

// parentOf is the group that g names as its parent, or NoGroup.
func (ix *Index) parentOf(g *Group) GroupID {
	if g.parentName() == "" {
		return NoGroup
	}
	return ix.GroupByName(KindCompositePodGroup, g.Namespace, g.parentName())
}

// childrenOf returns a new slice of those that name the group of that kind and name as
// their parent, in order.
func (ix *Index) childrenOf(kind Kind, namespace, name string) (list []GroupID) {
	if kind == KindPodGroup {
		return nil
	}
	if id := ix.GroupByName(kind, namespace, name); id != NoGroup {
		return slices.Clone(ix.Group(id).Children)
	}
	for i := range ix.NumGroups() {
		if g := ix.groups.At(i); g.Namespace == namespace && g.parentName() == name && name != "" {
			list = append(list, GroupID(i))
		}
	}
	slices.SortFunc(list, func(a, b GroupID) int { return compareGroups(ix.Group(a), ix.Group(b)) })
	return list
}

// height is of how many levels the trees of some groups are.
func (ix *Index) height(list []GroupID) (levels int) {
	for _, g := range list {
		levels = max(levels, 1+ix.height(ix.Group(g).Children))
	}
	return levels
}

// orphans returns the pods that name a group that is not there: they are warned of.
func (ix *Index) orphans(namespace, name string) (pods []PodID) {
	for _, w := range ix.warnings {
		if w.Kind == KindPod && w.Field == "Group" && w.Value == name && w.Namespace == namespace {
			pods = append(pods, ix.PodByName(namespace, w.Name))
		}
	}
	return pods
}

// SetGroup adds g or puts it in place of the group of its kind and name, whose tree has
// no pods. [Index.MaySetGroup] has said that it can.
func (ix *Index) SetGroup(g *Group) {
	children := ix.childrenOf(g.Kind, g.Namespace, g.Name)
	id := ix.GroupByName(g.Kind, g.Namespace, g.Name)
	out := ix.oddGroups(id, children)
	switch {
	case id != NoGroup:
		ix.unlink(id)
	case len(ix.groupHoles) > 0:
		last := len(ix.groupHoles) - 1
		id, ix.groupHoles = ix.groupHoles[last], ix.groupHoles[:last:last]
	default:
		id = GroupID(ix.groups.Append(Group{}))
	}
	row := *g
	e, _ := ix.classes.Resolve(row.spec())
	row.Priority, row.Policy = e.Priority, e.Policy
	row.level = level(new(problems).object("", "", ""), e.Priority, row.preemptionPriority(), row.Guard())
	row.Parent, row.Children = ix.parentOf(g), children
	*ix.groups.Edit(int(id)) = row
	ix.ownGroupNames()[groupKey{g.Kind, g.Namespace, g.Name}] = id
	for _, child := range children {
		ix.groups.Edit(int(child)).Parent = id
	}
	if row.Parent != NoGroup {
		siblings := &ix.groups.Edit(int(row.Parent)).Children
		i, _ := slices.BinarySearchFunc(*siblings, id, func(a, b GroupID) int { return compareGroups(ix.Group(a), ix.Group(b)) })
		*siblings = slices.Insert(slices.Clip(slices.Clone(*siblings)), i, id)
	}
	ix.guarded.add(1, row.Guard(), row.Evictions())
	ix.latest = latest(ix.latest, row.Cost(), row.Evictions())
	ix.rewarn(out, ix.oddGroups(id, children))
}

// RemoveGroup removes the group of that kind and name, whose tree has no pods. Its number
// is a hole from then on. [Index.MaySetGroup] has said that it can.
func (ix *Index) RemoveGroup(kind Kind, namespace, name string) {
	id, children := ix.GroupByName(kind, namespace, name), ix.childrenOf(kind, namespace, name)
	out := ix.oddGroups(id, children)
	ix.unlink(id)
	for _, child := range children {
		ix.groups.Edit(int(child)).Parent = NoGroup
	}
	*ix.groups.Edit(int(id)) = Group{PodGroup: &removedGroup, Parent: NoGroup}
	delete(ix.ownGroupNames(), groupKey{kind, namespace, name})
	ix.groupHoles = append(ix.groupHoles, id)
	ix.rewarn(out, ix.oddGroups(NoGroup, children))
}

// unlink takes group id, which is about to be another one or none, from its parent.
func (ix *Index) unlink(id GroupID) {
	g := ix.Group(id)
	ix.guarded.add(-1, g.Guard(), g.Evictions())
	if g.Parent != NoGroup {
		parent := ix.groups.Edit(int(g.Parent))
		parent.Children = slices.DeleteFunc(slices.Clone(parent.Children), func(c GroupID) bool { return c == id })
	}
}

// oddGroups lists what is odd about a group, unless it is NoGroup, and its children.
func (ix *Index) oddGroups(id GroupID, children []GroupID) (list []Warning) {
	if id != NoGroup {
		list = ix.oddGroup(ix.Group(id), nil)
	}
	for _, child := range children {
		list = append(list, ix.oddGroup(ix.Group(child), nil)...)
	}
	return list
}

// ownGroupNames returns the names of groups for a change.
func (ix *Index) ownGroupNames() map[groupKey]GroupID {
	if ix.groupsShared {
		ix.groupByName, ix.groupsShared = maps.Clone(ix.groupByName), false
	}
	return ix.groupByName
}

// listGroups returns new slices of the groups.
func (ix *Index) listGroups() (pods []*PodGroup, composites []*CompositePodGroup) {
	for i := range ix.NumGroups() {
		switch g := ix.groups.At(i); {
		case g.Composite != nil:
			composites = append(composites, g.Composite)
		case g.PodGroup != &removedGroup:
			pods = append(pods, g.PodGroup)
		}
	}
	return pods, composites
}
