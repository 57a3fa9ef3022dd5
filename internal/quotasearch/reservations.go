package quotasearch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/btree"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Order is the order in which workloads are evicted, within what eviction and
// the queues decide: a list of criteria, then the UID, ascending, then namespace
// and name, and of one name a workload before pods.
type Order struct {
	by []cluster.VictimOrder
}

// NewOrder returns the order by these criteria; none of them means
// [cluster.ByLowestPriority], [cluster.ByLowestRuntime].
func NewOrder(by []cluster.VictimOrder) Order {
	if len(by) == 0 {
		by = []cluster.VictimOrder{cluster.ByLowestPriority, cluster.ByLowestRuntime}
	}
	return Order{slices.Clone(by)}
}

// Equal reports whether two orders are the same.
func (o Order) Equal(other Order) bool { return slices.Equal(o.by, other.by) }

// byPriority reports whether priority decides before all else.
func (o Order) byPriority() bool { return o.by[0] == cluster.ByLowestPriority }

// entry is a reservation with what it is sorted by: less goes first.
type entry struct {
	local int64 // only among workloads of one queue
	keys  [3]int64
	r     *quota.Reservation
}

func (o Order) entry(r *quota.Reservation) entry {
	e := entry{local: r.LocalUsage, r: r}
	for i, by := range o.by {
		switch by {
		case cluster.ByLowestPriority:
			e.keys[i] = r.Priority
		case cluster.ByLowestRuntime:
			e.keys[i] = ^r.Reserved
		case cluster.ByLongestRuntime:
			e.keys[i] = r.Reserved
		}
	}
	return e
}

func (e *entry) compare(o *entry) int {
	for i, k := range e.keys {
		if k != o.keys[i] {
			return cmp.Compare(k, o.keys[i])
		}
	}
	a, b := e.r.Workload, o.r.Workload
	return cmp.Or(strings.Compare(a.UID, b.UID), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), cmp.Compare(e.r.Kind, o.r.Kind))
}

// compareAge puts higher priority first, then newer.
func (e *entry) compareAge(o *entry) int {
	return cmp.Or(cmp.Compare(o.r.Priority, e.r.Priority), cmp.Compare(o.r.Ordered, e.r.Ordered), e.compare(o))
}

func (e *entry) compareLocal(o *entry) int {
	return cmp.Or(cmp.Compare(e.local, o.local), e.compare(o))
}

// Reservations are the workloads that hold quota, kept in the order in which they
// would be evicted, by queue and flavor-resource. Reading is safe for concurrent
// use; changing is not.
type Reservations struct {
	order      Order
	numColumns int
	byLocal    []bool                    // by queue: usage of the LocalQueue decides before priority
	trees      [2][]*btree.BTreeG[entry] // evicted ones, then the others; queue-major rows by column; nil: none

	// ages are the same entries by priority and age, newest first, of the queues whose
	// preemptors may evict newer workloads of their own priority.
	byAge []bool // by queue
	ages  [2][]*btree.BTreeG[entry]

	few []entry // all there are, in order within a queue, instead of trees; nil: there are trees
}

// NewReservations sorts the reservations of ix. O(k log k).
func NewReservations(ix *quota.Index, order Order) *Reservations {
	rs := &Reservations{order: order, numColumns: ix.NumColumns(), byLocal: make([]bool, ix.NumQueues())}
	rs.byAge = make([]bool, ix.NumQueues())
	for q := range rs.byLocal {
		queue := ix.Queue(quota.HolderID(q))
		rs.byLocal[q] = queue.FairLocalQueues
		rs.byAge[q] = queue.Preemption.WithinClusterQueue == cluster.LowerOrNewerEqualPriority
	}
	for i := range rs.trees {
		rs.trees[i] = make([]*btree.BTreeG[entry], ix.NumQueues()*ix.NumColumns())
		rs.ages[i] = make([]*btree.BTreeG[entry], ix.NumQueues()*ix.NumColumns())
	}
	for _, r := range ix.Reservations() {
		rs.Insert(r)
	}
	return rs
}

// fewEntries is up to how many reservations a list is searched faster than trees.
const fewEntries = 64

// Only returns the same index of these reservations alone, which is not changed any
// more. O(k log k).
func (rs *Reservations) Only(list []*quota.Reservation) *Reservations {
	c := &Reservations{order: rs.order, numColumns: rs.numColumns, byLocal: rs.byLocal, byAge: rs.byAge}
	if len(list) <= fewEntries {
		c.few = make([]entry, len(list))
		for i, r := range list {
			c.few[i] = rs.order.entry(r)
		}
		slices.SortFunc(c.few, func(a, b entry) int { return a.compareLocal(&b) })
		return c
	}
	for i := range rs.trees {
		c.trees[i] = make([]*btree.BTreeG[entry], len(rs.trees[i]))
		c.ages[i] = make([]*btree.BTreeG[entry], len(rs.ages[i]))
	}
	for _, r := range list {
		c.Insert(r)
	}
	return c
}

// Order returns the order in which they are kept.
func (rs *Reservations) Order() Order { return rs.order }

// Insert adds r. O(log k) for each flavor-resource that it uses.
func (rs *Reservations) Insert(r *quota.Reservation) {
	e := rs.order.entry(r)
	for _, u := range r.Usage {
		insert(rs.tree(r, u.Column), e, beforeLocal)
		if rs.byAge[r.Queue] {
			insert(rs.age(r, u.Column), e, beforeAge)
		}
	}
}

func insert(t **btree.BTreeG[entry], e entry, before btree.LessFunc[entry]) {
	if *t == nil {
		*t = btree.NewG(32, before)
	}
	(*t).ReplaceOrInsert(e)
}

// Called by name and not through a variable, the comparison lets a and b stay on the stack.
func beforeLocal(a, b entry) bool { return a.compareLocal(&b) < 0 }
func beforeAge(a, b entry) bool   { return a.compareAge(&b) < 0 }

// Delete removes r, which must have been inserted as it is.
func (rs *Reservations) Delete(r *quota.Reservation) {
	e := rs.order.entry(r)
	for _, u := range r.Usage {
		if t := *rs.tree(r, u.Column); t != nil {
			t.Delete(e)
		}
		if t := *rs.age(r, u.Column); t != nil {
			t.Delete(e)
		}
	}
}

func (rs *Reservations) tree(r *quota.Reservation, c quota.ColumnID) **btree.BTreeG[entry] {
	return &rs.trees[stage(r.Evicted)][int(r.Queue)*rs.numColumns+int(c)]
}

func (rs *Reservations) age(r *quota.Reservation, c quota.ColumnID) **btree.BTreeG[entry] {
	return &rs.ages[stage(r.Evicted)][int(r.Queue)*rs.numColumns+int(c)]
}

func stage(evicted bool) int {
	if evicted {
		return 0
	}
	return 1
}

// Clone returns an independent copy. It costs the number of queues and
// flavor-resources, not that of the reservations, and counts as changing rs.
func (rs *Reservations) Clone() *Reservations {
	c := &Reservations{order: rs.order, numColumns: rs.numColumns, byLocal: rs.byLocal, byAge: rs.byAge, few: rs.few}
	for i := range rs.trees {
		c.trees[i], c.ages[i] = cloneAll(rs.trees[i]), cloneAll(rs.ages[i])
	}
	return c
}

func cloneAll(trees []*btree.BTreeG[entry]) []*btree.BTreeG[entry] {
	out := make([]*btree.BTreeG[entry], len(trees))
	for i, t := range trees {
		if t != nil {
			out[i] = t.Clone()
		}
	}
	return out
}

// Compare is below zero if a goes before b, in whichever queues they are. Whether
// they are evicted already is not looked at.
func (o Order) Compare(a, b *quota.Reservation) int {
	x, y := o.entry(a), o.entry(b)
	return x.compare(&y)
}
