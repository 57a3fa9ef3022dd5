package victims

import (
	"cmp"
	"slices"
	"sync"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// UnitID is a position in Units, valid for that Units only. The numbering says
// nothing about importance.
type UnitID int32

// Unit is the smallest thing that is evicted whole.
type Unit struct {
	Group    cluster.GroupID // the group that goes as a whole; NoGroup for a single pod
	Elastic  bool            // the group's mode is SurplusFirst: it may go in part
	Priority int32
	Level    int32 // what it is eligible by: Priority, or under UnitsKEP its preemption priority
	Started  int64 // nanoseconds; the earliest of its pods, one that has not started counts as started now
	Pods     []cluster.PodID

	worth  uint64 // priority, rank and number of pods in one number: higher is kept
	inside uint64 // likewise, between priority and the rest, where Units.inside says so
	uid    string // of the first pod
}

// Units are the preemption units of one index under one rule. Immutable, safe for
// concurrent use.
type Units struct {
	ix     *cluster.Index
	rule   UnitRule
	units  []Unit
	unitOf []UnitID // by pod; noUnit for a pod that does not run
	on     [][]UnitID

	by     Worth
	inside bool    // units of equal priority are told apart by Unit.inside
	cost   []int64 // by unit; nil: they are free

	once  sync.Once
	order []UnitID // all units, most important first, once that was needed
}

const noUnit UnitID = -1

// NewUnits forms the units of the running pods of ix.
//
// A unit's pods are in order of UID, then namespace and name; those on nodes that
// the snapshot does not have are among them. O(k log k) for k pods.
//
// Source: KEP-5710, "Preemption unit"; kube-scheduler, building of victims.
func NewUnits(ix *cluster.Index, rule UnitRule) *Units { return NewPricedUnits(ix, rule, Worth{}) }

// formUnits forms the units without listing them by node.
func formUnits(ix *cluster.Index, rule UnitRule) *Units {
	us := &Units{ix: ix, rule: rule, units: make([]Unit, 0, ix.NumPods()), unitOf: make([]UnitID, ix.NumPods())}
	for p := range us.unitOf {
		us.unitOf[p] = noUnit
	}
	single := make([]cluster.PodID, 0, ix.NumPods()) // one backing array for the units of one pod
	for p := range cluster.PodID(ix.NumPods()) {
		if us.unitOf[p] != noUnit || ix.Pod(p).Node == "" {
			continue
		}
		group := us.atom(p)
		start := len(single)
		if group == cluster.NoGroup {
			single = append(single, p)
		} else {
			for _, q := range ix.PodsUnder(nil, group) {
				if ix.Pod(q).Node != "" && us.unitOf[q] == noUnit {
					single = append(single, q)
				}
			}
		}
		us.add(group, single[start:len(single):len(single)])
	}
	return us
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

func (us *Units) add(group cluster.GroupID, pods []cluster.PodID) {
	ix := us.ix
	if len(pods) > 1 {
		slices.SortFunc(pods, func(a, b cluster.PodID) int {
			return cmp.Or(cmp.Compare(ix.Pod(a).UID, ix.Pod(b).UID), cmp.Compare(a, b))
		})
	}
	id := UnitID(len(us.units))
	u := Unit{Group: group, Priority: us.priority(group, pods[0]), Pods: pods, uid: ix.Pod(pods[0]).UID}
	u.Elastic = group != cluster.NoGroup && ix.Group(group).Mode == disruption.SurplusFirst
	u.Level = u.Priority
	if us.rule.PreemptionPriority {
		u.Level = us.level(group, pods[0])
	}
	u.Started = us.started(pods[0])
	for _, p := range pods {
		us.unitOf[p] = id
		u.Started = min(u.Started, us.started(p))
	}
	u.worth = uint64(uint32(u.Priority)^1<<31)<<32 | uint64(us.rank(group, pods[0]))<<30 | uint64(len(pods))&(1<<30-1)
	us.units = append(us.units, u)
}

// started is when pod p started, in nanoseconds; now if it has not.
func (us *Units) started(p cluster.PodID) int64 {
	if t := us.ix.Pod(p).Started; !t.IsZero() {
		return cluster.Nanos(t)
	}
	return us.ix.Now()
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
		if us.ix.Pod(first).Group != "" {
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
	us.on = make([][]UnitID, us.ix.NumNodes())
	all := make([]UnitID, 0, us.ix.NumPods())
	for n := range us.on {
		start := len(all)
		for _, p := range us.ix.PodsOn(cluster.NodeID(n)) {
			u := us.unitOf[p]
			if len(us.units[u].Pods) == 1 || !slices.Contains(all[start:], u) {
				all = append(all, u)
			}
		}
		us.on[n] = all[start:len(all):len(all)]
		slices.SortFunc(us.on[n], us.Compare)
	}
}

// Index returns the index whose pods the units are.
func (us *Units) Index() *cluster.Index { return us.ix }

// Len is the number of units; UnitID runs from 0 to Len-1.
func (us *Units) Len() int { return len(us.units) }

// Unit returns unit u. It must not be changed.
func (us *Units) Unit(u UnitID) *Unit { return &us.units[u] }

// UnitOf returns the unit of pod p and whether it has one: pending pods do not.
func (us *Units) UnitOf(p cluster.PodID) (UnitID, bool) { return us.unitOf[p], us.unitOf[p] != noUnit }

// On returns the units with a pod on node n, most important first. The slice
// belongs to us.
func (us *Units) On(n cluster.NodeID) []UnitID { return us.on[n] }

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
	x, y := &us.units[a], &us.units[b]
	switch {
	case us.inside && x.Priority == y.Priority && x.inside != y.inside:
		return cmp.Compare(y.inside, x.inside)
	case x.worth != y.worth:
		return cmp.Compare(y.worth, x.worth)
	case x.Started != y.Started:
		return cmp.Compare(x.Started, y.Started)
	}
	if c := cmp.Compare(x.uid, y.uid); c != 0 {
		return c
	}
	return cmp.Compare(x.Pods[0], y.Pods[0])
}

// Sorted returns a new slice with the units of list, most important first. Large
// parts of all units are sorted by an order that is made once, when first needed.
func (us *Units) Sorted(list []UnitID) []UnitID {
	if len(list) < us.Len()/4 {
		list = slices.Clone(list)
		slices.SortFunc(list, us.Compare)
		return list
	}
	us.once.Do(func() {
		us.order = make([]UnitID, us.Len())
		for u := range us.order {
			us.order[u] = UnitID(u)
		}
		slices.SortFunc(us.order, us.Compare)
	})
	in := make([]bool, us.Len())
	for _, u := range list {
		in[u] = true
	}
	sorted := make([]UnitID, 0, len(list))
	for _, u := range us.order {
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
	on := us.on[n]
	if us.rule.PreemptionPriority || us.by.Order != nil {
		return us.filter(on, below)
	}
	i, _ := slices.BinarySearchFunc(on, below, func(u UnitID, below int32) int {
		if us.units[u].Priority >= below {
			return -1
		}
		return 1
	})
	return on[i:]
}

func (us *Units) filter(on []UnitID, below int32) []UnitID {
	var list []UnitID
	for _, u := range on {
		if us.units[u].Level < below {
			list = append(list, u)
		}
	}
	return list
}
