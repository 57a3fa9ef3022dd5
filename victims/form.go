package victims

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// formUnits forms the units without listing them by node. Those of one pod come first
// in the numbering.
func formUnits(ix *cluster.Index, rule UnitRule) *Units {
	us := &Units{ix: ix, rule: rule, unitOf: paged.Make[UnitID](ix.NumPods()), hole: noUnit, roomy: noUnit, sorted: &sortedUnits{}}
	defer us.remember()()
	parts := us.parts()
	lone, grouped := make([]int, parts+1), make([]int, parts) // lone: how many there are in the parts before
	ranges.Each(ix.NumPods(), parts, func(part, first, end int) {
		for p := cluster.PodID(first); p < cluster.PodID(end); p++ {
			switch {
			case us.lone(p):
				lone[part+1]++
			case ix.Runs(p):
				grouped[part]++
			}
		}
	})
	for part := range parts {
		lone[part+1] += lone[part]
	}
	us.units = paged.Make[Unit](lone[parts])
	pods := make([]cluster.PodID, lone[parts]) // one backing array for the units of one pod
	ranges.Each(ix.NumPods(), parts, func(part, first, end int) {
		u := lone[part]
		for p := first; p < end; p++ {
			if !us.lone(cluster.PodID(p)) {
				*us.unitOf.Edit(p) = noUnit
				continue
			}
			pods[u] = cluster.PodID(p)
			*us.unitOf.Edit(p) = UnitID(u)
			*us.units.Edit(u), _ = us.describe(cluster.NoGroup, pods[u:u+1:u+1])
			u++
		}
	})
	us.formGroups(grouped)
	return us
}

// lone reports whether pod p is a unit by itself.
func (us *Units) lone(p cluster.PodID) bool {
	return us.ix.Runs(p) && us.atom(p) == cluster.NoGroup
}

// formGroups forms the units of groups, which have so many pods.
func (us *Units) formGroups(pods []int) {
	ix, sum := us.ix, 0
	for _, n := range pods {
		sum += n
	}
	if sum == 0 {
		return
	}
	all := make([]cluster.PodID, 0, sum) // one backing array
	var under []cluster.PodID
	for p := range ix.Pods() {
		if *us.unitOf.At(int(p)) != noUnit || !ix.Runs(p) {
			continue
		}
		group, start := us.atom(p), len(all)
		under = ix.PodsUnder(under[:0], group)
		for _, q := range under {
			if ix.Runs(q) && *us.unitOf.At(int(q)) == noUnit {
				all = append(all, q)
			}
		}
		pods := all[start:len(all):len(all)]
		us.order(pods)
		us.resize(0, len(pods))
		unit, _ := us.describe(group, pods)
		us.assign(UnitID(us.units.Append(unit)))
	}
}

// fewUnits are made by one goroutine.
const fewUnits = 4096

// parts is among how many goroutines the units are divided when they are made. An order
// of the user's need not be made for several, nor are levels that are remembered.
func (us *Units) parts() int {
	if us.by.Order != nil || us.levels != nil {
		return 1
	}
	return ranges.Parts(us.ix.NumPods(), fewUnits)
}

// atom returns the group that goes as a whole with pod p, or NoGroup.
func (us *Units) atom(p cluster.PodID) cluster.GroupID {
	g := us.ix.GroupOf(p)
	if g == cluster.NoGroup || !us.rule.Atomic {
		return cluster.NoGroup
	}
	if us.rule.HighestAll {
		return us.ix.HighestAll(g)
	}
	if us.ix.Group(g).Mode.Whole() {
		return g
	}
	return cluster.NoGroup
}

// resize notes that a unit of so many pods has another number of them; 0: it comes or goes.
func (us *Units) resize(from, to int) {
	if from > 1 {
		if us.sizes[from]--; us.sizes[from] == 0 {
			delete(us.sizes, from)
		}
	}
	if to > 1 {
		if us.sizes == nil {
			us.sizes = map[int]int{}
		}
		us.sizes[to]++
	}
}

// order brings the pods of a unit into order.
func (us *Units) order(pods []cluster.PodID) {
	slices.SortFunc(pods, us.comparePods)
}

func (us *Units) comparePods(a, b cluster.PodID) int {
	return cmp.Or(cmp.Compare(us.ix.Pod(a).UID, us.ix.Pod(b).UID), us.ix.ComparePods(a, b))
}

// describe returns the unit of pods, which it keeps and which are in order. Without other
// changes the unit is like that until the second due, since 1970.
func (us *Units) describe(group cluster.GroupID, pods []cluster.PodID) (u Unit, due int64) {
	ix := us.ix
	u = Unit{Group: group, Priority: us.priority(group, pods[0]), Pods: pods, rank: us.rank(group, pods[0])}
	u.Elastic = group != cluster.NoGroup && ix.Group(group).Mode == disruption.SurplusFirst
	u.Level, due = u.Priority, paged.Never
	if us.rule.PreemptionPriority {
		u.Level, due = us.level(group, pods[0])
	}
	u.Started = ix.Started(pods[0])
	for _, p := range pods[1:] {
		u.Started = min(u.Started, ix.Started(p))
	}
	if ix.AnyUnstarted() && slices.ContainsFunc(pods, ix.Unstarted) { // such a pod counts as started now
		due = ix.Time().Unix()
	}
	return u, due
}

// assign notes that the pods of unit u belong to it.
func (us *Units) assign(u UnitID) {
	for _, p := range us.Unit(u).Pods {
		*us.unitOf.Edit(int(p)) = u
	}
}

// level is priority for preemption priorities.
func (us *Units) level(group cluster.GroupID, first cluster.PodID) (level int32, due int64) {
	g := us.decider(group, first)
	if g == cluster.NoGroup {
		return us.ix.PreemptionPriority(first)
	}
	of, known := us.levels[g]
	if !known {
		of.level, of.due = us.ix.GroupPreemptionPriority(g)
		if us.levels != nil {
			us.levels[g] = of
		}
	}
	return of.level, of.due
}

// groupLevel is the level of a group until due.
type groupLevel struct {
	level int32
	due   int64
}

// remember lets each group's level, for which all of its pods are looked at, be found out once until forget is called.
func (us *Units) remember() (forget func()) {
	if us.rule.PreemptionPriority && us.ix.Guarded() {
		us.levels = map[cluster.GroupID]groupLevel{}
	}
	return func() { us.levels = nil }
}

func (us *Units) priority(group cluster.GroupID, first cluster.PodID) int32 {
	if g := us.decider(group, first); g != cluster.NoGroup {
		return us.ix.Group(g).Priority
	}
	return us.ix.Priority(first)
}

// decider is the group whose priority is that of a unit; NoGroup: its pod's own is.
func (us *Units) decider(group cluster.GroupID, first cluster.PodID) cluster.GroupID {
	if g := us.ix.GroupOf(first); us.rule.RootPriority && g != cluster.NoGroup {
		return us.ix.Root(g)
	}
	return group
}

// rank is from 0 to 3.
func (us *Units) rank(group cluster.GroupID, first cluster.PodID) uint8 {
	switch {
	case us.rule.ByKind:
		switch {
		case group != cluster.NoGroup && us.ix.Group(group).Kind == cluster.KindCompositePodGroup:
			return 3
		case us.ix.GroupOf(first) != cluster.NoGroup:
			return 2
		}
		return 1
	case us.rule.ByGroup && us.ix.Grouped(first):
		return 1
	}
	return 0
}

// listByNode keeps, for every node, the units with a pod there, most important first.
func (us *Units) listByNode() {
	ix := us.ix
	us.on = paged.Make[[]UnitID](ix.NumNodes())
	all, start := make([]UnitID, ix.NumPods()), 0
	for n := range us.on.Len() {
		end := start + len(ix.PodsOn(cluster.NodeID(n)))
		*us.on.Edit(n) = all[start:start:end]
		start = end
	}
	ranges.Each(us.on.Len(), us.parts(), func(_, first, end int) {
		var sorter Sorter
		for n := first; n < end; n++ {
			us.listOn(cluster.NodeID(n), &sorter)
		}
	})
}

// listOn fills the list of node n, which is empty, with the units there.
func (us *Units) listOn(n cluster.NodeID, sorter *Sorter) {
	on := us.on.Edit(int(n))
	for _, p := range us.ix.PodsOn(n) {
		u := *us.unitOf.At(int(p))
		if len(us.Unit(u).Pods) == 1 || !slices.Contains(*on, u) {
			*on = append(*on, u)
		}
	}
	sorter.sort(us, *on)
	*on = slices.Clip(*on)
}
