package victims

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/preempt-go/preempt/internal/paged"
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
	inside paged.Column[uint64] // by unit: tells those of equal priority apart, before anything else; see ranked
	cost   paged.Column[int64]  // by unit; see Priced
	places *places              // nil unless by.ByPlace
	kept   *Protections         // they follow the units; may be nil

	sorted *sortedUnits
	agenda paged.Agenda                   // by unit: the second, since 1970, from which on what is known of it may not hold
	stale  []UnitID                       // those about which something may have changed; see Settle
	came   map[UnitID][]cluster.PodID     // of those that are on no node until Settle: the pods that came meanwhile
	grown  []UnitID                       // since Settle; see grow
	roomy  UnitID                         // the last one that has grown: what its pods have room for is no fork's; noUnit
	formed int                            // see Formed
	levels map[cluster.GroupID]groupLevel // see remember; nil: nothing is kept
	sizes  map[int]int                    // by number of pods, of several: how many units have so many
	sorter Sorter
	nodes  []cluster.NodeID // buffer
	under  []cluster.PodID  // likewise
	spare  []cluster.NodeID // likewise
	quiet  []cluster.NodeID // likewise
	marks  []uint8          // likewise, by node; zero between calls
}

// sortedUnits are all units, most important first, once that was needed.
type sortedUnits struct {
	mu     sync.Mutex
	formed atomic.Bool // then nobody changes it any more, and forks have the same
	list   []UnitID
}

const noUnit UnitID = -1

// Index returns the index whose pods the units are.
func (us *Units) Index() *cluster.Index { return us.ix }

// ByLevel reports whether no unit is more important than one of a higher level: neither
// preemption priorities nor an order of the user's have a say.
func (us *Units) ByLevel() bool { return !us.rule.PreemptionPriority && !us.OwnOrder() }

// OwnOrder reports whether an [Order] of one's own says who is more important.
func (us *Units) OwnOrder() bool { return us.by.Order != nil }

// Len is the number of units; UnitID runs from 0 to Len-1. Where the index has lost
// pods, some of these are holes: see [Units.Exists].
func (us *Units) Len() int { return us.units.Len() }

// Exists reports whether u is a unit, and not a hole that a former one has left.
func (us *Units) Exists(u UnitID) bool { return len(us.Unit(u).Pods) > 0 }

// Unit returns unit u. It must not be changed.
func (us *Units) Unit(u UnitID) *Unit { return us.units.At(int(u)) }

// Formed is how often units of several pods were found out anew: where it is as it was, no such unit has changed but that it has grown.
func (us *Units) Formed() int { return us.formed }

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
	case us.ranked() && us.insideOf(a) != us.insideOf(b):
		return cmp.Compare(us.insideOf(b), us.insideOf(a))
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
	us.sorted.form(us)
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

// form sorts all units, once. An order of the user's own that panics leaves it to the next caller.
func (s *sortedUnits) form(us *Units) {
	if s.formed.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.formed.Load() {
		return
	}
	order := make([]UnitID, 0, us.Len())
	for u := range UnitID(us.Len()) {
		if us.Exists(u) {
			order = append(order, u)
		}
	}
	slices.SortFunc(order, us.Compare)
	s.list = order
	s.formed.Store(true)
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
