package victims

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// UnitID is a position in Units, valid for that Units only. The numbering says
// nothing about importance.
type UnitID int32

// Unit is the smallest thing that is evicted whole.
type Unit struct {
	Group    cluster.GroupID // the group that goes as a whole; NoGroup for a single pod
	Priority int32
	Level    int32 // what it is eligible by: Priority, or under UnitsKEP its preemption priority
	Elastic  bool  // the group's mode is SurplusFirst: it may go in part
	rank     uint8 // from 0 to 3
	Started  int64 // nanoseconds; the earliest of its pods, one that has not started counts as started now
	Pods     []cluster.PodID
}

// worth is priority, rank and number of pods in one number: higher is kept.
func (u *Unit) worth() uint64 {
	return uint64(uint32(u.Priority)^1<<31)<<32 | uint64(u.rank)<<30 | uint64(len(u.Pods))&(1<<30-1)
}

// Units are the preemption units of one index under one rule. Safe for concurrent
// use, but for the methods that follow a change of the index (see live.go), which need
// exclusive use.
type Units struct {
	ix     *cluster.Index
	rule   UnitRule
	units  paged.Column[Unit]
	unitOf paged.Column[UnitID]   // by pod; noUnit for a pod that does not run
	on     paged.Column[[]UnitID] // by node; the lists are never changed in place
	hole   UnitID                 // the last one of the units that are gone; noUnit

	by     Worth
	inside []uint64 // by unit: tells those of equal priority apart, before anything else; may be nil
	cost   []int64  // by unit; nil: they are free

	sorted *sortedUnits
	places []cluster.NodeID // buffer of nodes
}

// sortedUnits are all units, most important first, once that was needed.
type sortedUnits struct {
	once   sync.Once
	formed atomic.Bool // then nobody changes it any more, and forks have the same
	list   []UnitID
}

const noUnit UnitID = -1

// NewUnits forms the units of the running pods of ix.
//
// A unit's pods are in order of UID, then namespace and name; those on nodes that
// the snapshot does not have are among them. O(k log k) for k pods.
//
// Source: KEP-5710, "Preemption unit"; kube-scheduler, building of victims.
func NewUnits(ix *cluster.Index, rule UnitRule) *Units { return NewPricedUnits(ix, rule, Worth{}) }

// formUnits forms the units without listing them by node. Those of one pod come first
// in the numbering.
func formUnits(ix *cluster.Index, rule UnitRule) *Units {
	us := &Units{ix: ix, rule: rule, unitOf: paged.Make[UnitID](ix.NumPods()), hole: noUnit, sorted: &sortedUnits{}}
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
			*us.units.Edit(u) = us.describe(cluster.NoGroup, pods[u:u+1:u+1])
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
		us.assign(UnitID(us.units.Append(us.describe(group, all[start:len(all):len(all)]))))
	}
}

// fewUnits are made by one goroutine.
const fewUnits = 4096

// parts is among how many goroutines the units are divided when they are made. An order
// of the user's need not be made for several.
func (us *Units) parts() int {
	if us.by.Order != nil {
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

// describe returns the unit of pods, which it keeps and brings into order.
func (us *Units) describe(group cluster.GroupID, pods []cluster.PodID) Unit {
	ix := us.ix
	if len(pods) > 1 {
		slices.SortFunc(pods, func(a, b cluster.PodID) int {
			return cmp.Or(cmp.Compare(ix.Pod(a).UID, ix.Pod(b).UID), ix.ComparePods(a, b))
		})
	}
	u := Unit{Group: group, Priority: us.priority(group, pods[0]), Pods: pods, rank: us.rank(group, pods[0])}
	u.Elastic = group != cluster.NoGroup && ix.Group(group).Mode == disruption.SurplusFirst
	u.Level = u.Priority
	if us.rule.PreemptionPriority {
		u.Level = us.level(group, pods[0])
	}
	u.Started = ix.Started(pods[0])
	for _, p := range pods[1:] {
		u.Started = min(u.Started, ix.Started(p))
	}
	return u
}

// assign notes that the pods of unit u belong to it.
func (us *Units) assign(u UnitID) {
	for _, p := range us.Unit(u).Pods {
		*us.unitOf.Edit(int(p)) = u
	}
}

// level is priority for preemption priorities.
func (us *Units) level(group cluster.GroupID, first cluster.PodID) int32 {
	ix := us.ix
	switch g := ix.GroupOf(first); {
	case us.rule.RootPriority && g != cluster.NoGroup:
		return ix.Group(ix.Root(g)).Level
	case group != cluster.NoGroup:
		return ix.Group(group).Level
	}
	return ix.PreemptionPriority(first)
}

func (us *Units) priority(group cluster.GroupID, first cluster.PodID) int32 {
	ix := us.ix
	switch g := ix.GroupOf(first); {
	case us.rule.RootPriority && g != cluster.NoGroup:
		return ix.Group(ix.Root(g)).Priority
	case group != cluster.NoGroup:
		return ix.Group(group).Priority
	}
	return ix.Priority(first)
}

// rank is from 0 to 3.
func (us *Units) rank(group cluster.GroupID, first cluster.PodID) uint8 {
	switch us.rule.Rank {
	case RankGrouped:
		if us.ix.Grouped(first) {
			return 1
		}
	case RankGroupKind:
		switch {
		case group != cluster.NoGroup && us.ix.Group(group).Kind == cluster.KindCompositePodGroup:
			return 3
		case us.ix.GroupOf(first) != cluster.NoGroup:
			return 2
		}
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
			on := us.on.Edit(n)
			for _, p := range ix.PodsOn(cluster.NodeID(n)) {
				u := *us.unitOf.At(int(p))
				if len(us.Unit(u).Pods) == 1 || !slices.Contains(*on, u) {
					*on = append(*on, u)
				}
			}
			sorter.sort(us, *on)
			*on = slices.Clip(*on)
		}
	})
}

// Index returns the index whose pods the units are.
func (us *Units) Index() *cluster.Index { return us.ix }

// Len is the number of units; UnitID runs from 0 to Len-1. Where the index has lost
// pods, some of these are holes: see [Units.Exists].
func (us *Units) Len() int { return us.units.Len() }

// Exists reports whether u is a unit, and not a hole that a former one has left.
func (us *Units) Exists(u UnitID) bool { return len(us.Unit(u).Pods) > 0 }

// Unit returns unit u. It must not be changed.
func (us *Units) Unit(u UnitID) *Unit { return us.units.At(int(u)) }

// UnitOf returns the unit of pod p and whether it has one: pending pods do not.
func (us *Units) UnitOf(p cluster.PodID) (UnitID, bool) {
	u := *us.unitOf.At(int(p))
	return u, u != noUnit
}

// On returns the units with a pod on node n, most important first. The slice
// belongs to us.
func (us *Units) On(n cluster.NodeID) []UnitID { return *us.on.At(int(n)) }

// Compare is the order of importance: below zero if a is more worth keeping than b.
// In this order: higher priority; higher rank; more pods; earlier start; smaller
// UID of the first pod; its namespace and name. What [Worth] adds comes after the
// priority, its Order before it.
//
// Source: kube-scheduler v1.36 and v1.37, more important victim; the last key is ours.
func (us *Units) Compare(a, b UnitID) int {
	if us.by.Order != nil {
		if c := us.by.Order.Compare(us, a, b); c != 0 {
			return c
		}
	}
	return us.compare(a, b)
}

func (us *Units) compare(a, b UnitID) int {
	x, y := us.Unit(a), us.Unit(b)
	switch {
	case x.Priority != y.Priority:
		return cmp.Compare(y.Priority, x.Priority)
	case us.inside != nil && us.inside[a] != us.inside[b]:
		return cmp.Compare(us.inside[b], us.inside[a])
	case x.rank != y.rank:
		return cmp.Compare(y.rank, x.rank)
	case len(x.Pods) != len(y.Pods):
		return cmp.Compare(len(y.Pods), len(x.Pods))
	case x.Started != y.Started:
		return cmp.Compare(x.Started, y.Started)
	}
	if c := cmp.Compare(us.ix.Pod(x.Pods[0]).UID, us.ix.Pod(y.Pods[0]).UID); c != 0 {
		return c
	}
	return us.ix.ComparePods(x.Pods[0], y.Pods[0])
}

// Sorted returns a new slice with the units of list, most important first. Large
// parts of all units are sorted by an order that is made once, when first needed.
func (us *Units) Sorted(list []UnitID) []UnitID {
	if len(list) < us.Len()/4 {
		list = slices.Clone(list)
		slices.SortFunc(list, us.Compare)
		return list
	}
	us.sorted.once.Do(func() {
		order := make([]UnitID, 0, us.Len())
		for u := range UnitID(us.Len()) {
			if us.Exists(u) {
				order = append(order, u)
			}
		}
		slices.SortFunc(order, us.Compare)
		us.sorted.list = order
		us.sorted.formed.Store(true)
	})
	in := make([]bool, us.Len())
	for _, u := range list {
		in[u] = true
	}
	sorted := make([]UnitID, 0, len(list))
	for _, u := range us.sorted.list {
		if in[u] {
			sorted = append(sorted, u)
		}
	}
	return sorted
}

// Potential returns the units on node n whose level is below that given, most
// important first: the end of On(n), unless levels are apart from priorities. The
// slice belongs to us. O(log k) for k units on the node.
//
// Source: kube-scheduler, potential victims.
func (us *Units) Potential(n cluster.NodeID, below int32) []UnitID {
	on := us.On(n)
	if us.rule.PreemptionPriority || us.by.Order != nil {
		return us.filter(on, below)
	}
	i, _ := slices.BinarySearchFunc(on, below, func(u UnitID, below int32) int {
		if us.Unit(u).Priority >= below {
			return -1
		}
		return 1
	})
	return on[i:]
}

func (us *Units) filter(on []UnitID, below int32) []UnitID {
	var list []UnitID
	for _, u := range on {
		if us.Unit(u).Level < below {
			list = append(list, u)
		}
	}
	return list
}
