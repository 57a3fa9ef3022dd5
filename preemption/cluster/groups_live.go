package cluster

import (
	"cmp"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
)

// The methods of this file let pod groups come, change and go while nobody is in them:
// the caller takes the pods that name a group out before, and brings them back.

// removedGroup is what a hole among the groups reads as.
var removedGroup PodGroup

// MaySetGroup reports whether the pod group of that name can be set to g, which is valid
// by itself, or with nil removed: groups in trees, with quota, prices or guards, and
// those that are given a preemption priority or a class that nobody knows, are settled
// when an index is made. pods are those that name it.
func (ix *Index) MaySetGroup(namespace, name string, g *PodGroup) (pods []PodID, ok bool) {
	id := ix.GroupByName(KindPodGroup, namespace, name)
	if ix.deep || g != nil && !ix.ordinary(g) || id != NoGroup && !ix.ordinary(ix.Group(id).PodGroup) {
		return nil, false
	}
	if id != NoGroup {
		pods = slices.Clone(ix.Group(id).Pods)
	} else {
		pods = ix.orphans(namespace, name)
	}
	for _, p := range pods {
		if !ix.MaySetPod(ix.Pod(p), p) {
			return nil, false
		}
	}
	return pods, true
}

// ordinary reports whether g stands by itself.
func (ix *Index) ordinary(g *PodGroup) bool {
	if g.Parent != "" || g.Queue != "" || g.PreemptionPriority != nil || g.Guard != nil || g.Cost != nil || len(g.Evictions) > 0 {
		return false
	}
	_, known := ix.classes.Lookup(g.Class)
	return known || g.Class == ""
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

// SetGroup adds g or puts it in place of the pod group of its name, which has no pods.
// [Index.MaySetGroup] has said that it can.
func (ix *Index) SetGroup(g *PodGroup) {
	id := ix.GroupByName(KindPodGroup, g.Namespace, g.Name)
	var out []Warning
	switch {
	case id != NoGroup:
		out = ix.oddGroup(ix.Group(id))
	case len(ix.groupHoles) > 0:
		last := len(ix.groupHoles) - 1
		id, ix.groupHoles = ix.groupHoles[last], ix.groupHoles[:last:last]
	default:
		id = GroupID(ix.groups.Append(Group{}))
	}
	row := Group{
		Kind: KindPodGroup, Namespace: g.Namespace, Name: g.Name, UID: g.UID,
		Mode: cmp.Or(g.Mode, disruption.Single), PodGroup: g, Parent: NoGroup,
	}
	e, _ := ix.classes.Resolve(row.spec())
	row.Priority, row.level, row.Policy = e.Priority, e.Priority, e.Policy
	*ix.groups.Edit(int(id)) = row
	ix.ownGroupNames()[groupKey{KindPodGroup, g.Namespace, g.Name}] = id
	ix.rewarn(out, ix.oddGroup(&row))
}

// RemoveGroup removes the pod group of that name, which has no pods. Its number is a
// hole from then on. [Index.MaySetGroup] has said that it can.
func (ix *Index) RemoveGroup(namespace, name string) {
	id := ix.GroupByName(KindPodGroup, namespace, name)
	ix.rewarn(ix.oddGroup(ix.Group(id)), nil)
	*ix.groups.Edit(int(id)) = Group{PodGroup: &removedGroup, Parent: NoGroup}
	delete(ix.ownGroupNames(), groupKey{KindPodGroup, namespace, name})
	ix.groupHoles = append(ix.groupHoles, id)
}

// ownGroupNames returns the names of groups for a change.
func (ix *Index) ownGroupNames() map[groupKey]GroupID {
	if ix.groupsShared {
		ix.groupByName, ix.groupsShared = maps.Clone(ix.groupByName), false
	}
	return ix.groupByName
}

// podGroups returns a new slice of the pod groups.
func (ix *Index) podGroups() []*PodGroup {
	var list []*PodGroup
	for i := range ix.NumGroups() {
		if g := ix.groups.At(i).PodGroup; g != nil && g != &removedGroup {
			list = append(list, g)
		}
	}
	return list
}
