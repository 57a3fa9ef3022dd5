package cluster

import (
	"slices"

	"github.com/preempt-go/preempt/priority"
)

// SetClass puts c in place of the class of that name, adds it, or with nil removes it, and
// returns the pods that it concerns: those that name it, or are of a group that does. Where
// not all of it can be read then, ok is false, and nothing has changed. O(p) for p pods, and
// some 100 times that for those that it concerns.
func (ix *Index) SetClass(name string, c *priority.Class) (concerned []PodID, ok bool) {
	list := slices.DeleteFunc(slices.Clone(ix.source.PriorityClasses), func(k priority.Class) bool { return k.Name == name })
	if c != nil {
		list = append(list, *c)
	}
	classes, err := priority.NewClasses(list)
	if err != nil {
		return nil, false
	}
	before, _ := ix.classes.Default()
	after, _ := classes.Default()
	standard := before.Name == name || after.Name == name
	var ps problems
	reads := func(s priority.Spec, given *int32, guard *Guard) bool {
		if s.Class != name && !(standard && s.Class == "" && s.Priority == nil) {
			return false
		}
		o := ps.object(KindPriorityClass, "", name)
		e, _ := classes.Resolve(s)
		level(o, e.Priority, given, guard)
		ix.checkLead(o, e.Priority, given, guard)
		return true
	}
	var pods []PodID
	for p := range PodID(ix.NumPods()) {
		if pod := ix.Pod(p); ix.Exists(p) && reads(pod.spec(), pod.PreemptionPriority, pod.Guard) {
			pods = append(pods, p)
		}
	}
	var groups []GroupID
	concerned = slices.Clone(pods)
	for i := range ix.NumGroups() {
		if g := ix.groups.At(i); reads(g.spec(), g.preemptionPriority(), g.Guard()) {
			groups = append(groups, GroupID(i))
			concerned = ix.PodsUnder(concerned, GroupID(i))
		}
	}
	if len(ps) > 0 {
		return nil, false
	}
	slices.Sort(concerned)
	concerned = slices.Compact(concerned)
	odd := ix.oddAmong(concerned, groups)
	ix.classes, ix.source.PriorityClasses = classes, list
	for _, p := range pods {
		ix.resolve(nil, p)
	}
	for _, id := range groups {
		g := ix.groups.Edit(int(id))
		e, _ := classes.Resolve(g.spec())
		g.Priority, g.Policy = e.Priority, e.Policy
		g.level = level(new(problems).object("", "", ""), e.Priority, g.preemptionPriority(), g.Guard())
	}
	ix.rewarn(odd, ix.oddAmong(concerned, groups))
	return concerned, true
}

// HasClass reports whether there is a class of that name, but for those that always are.
func (ix *Index) HasClass(name string) bool {
	return slices.ContainsFunc(ix.source.PriorityClasses, func(k priority.Class) bool { return k.Name == name })
}

// oddAmong lists what is odd about some pods and groups.
func (ix *Index) oddAmong(pods []PodID, groups []GroupID) (list []Warning) {
	for _, p := range pods {
		list = append(list, ix.oddities(ix.pods.At(int(p)))...)
	}
	return append(list, ix.oddGroups(NoGroup, groups)...)
}
