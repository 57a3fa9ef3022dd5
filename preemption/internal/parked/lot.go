package parked

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

// Lot keeps an entry for each key, and the question that it is about, in the order in which
// they were put. The zero Lot is empty.
type Lot[K comparable, Q any] struct {
	Changes Changes
	list    []place[K, Q]
	at      map[K]int
}

type place[K comparable, Q any] struct {
	key      K
	entry    Entry
	question Q
}

// Len is how many there are.
func (l *Lot[K, Q]) Len() int { return len(l.list) }

// Put adds an entry, or puts it in the place of the one of its key.
func (l *Lot[K, Q]) Put(key K, e Entry, q Q) {
	if l.at == nil {
		l.at = map[K]int{}
	}
	i, ok := l.at[key]
	if !ok {
		i = len(l.list)
		l.at[key], l.list = i, append(l.list, place[K, Q]{})
	}
	l.list[i] = place[K, Q]{key, e, q}
}

// Delete takes the entry of key away, if there is one.
func (l *Lot[K, Q]) Delete(key K) {
	if i, ok := l.at[key]; ok {
		l.keep(func(p *place[K, Q]) bool { return p != &l.list[i] })
	}
}

// keep lets those stay that stays says.
func (l *Lot[K, Q]) keep(stays func(p *place[K, Q]) bool) {
	kept := 0
	for i := range l.list {
		if !stays(&l.list[i]) {
			delete(l.at, l.list[i].key)
			continue
		}
		if kept < i {
			l.list[kept] = l.list[i]
			l.at[l.list[kept].key] = kept
		}
		kept++
	}
	clear(l.list[kept:])
	l.list = l.list[:kept]
}

// Until is the first second, since 1970, at which time may answer somebody: who has waited, or who would
// evict units of which something changes then, lone pods' or grouped ones; Never if there is none.
func (l *Lot[K, Q]) Until(lone, grouped func() *victims.Units) int64 {
	first, alone, groups := int64(Never), false, false
	for i := range l.list {
		e := &l.list[i].entry
		first = min(first, e.Until)
		alone = alone || e.Any || e.Evicts && !e.Grouped
		groups = groups || e.Any || e.Evicts && e.Grouped
	}
	if alone {
		first = min(first, lone().Due())
	}
	if groups {
		first = min(first, grouped().Due())
	}
	return first
}

// Wake takes out whoever the changes may have answered, and forgets the changes. lone are
// the units that lone pods meet, grouped those that groups do, each asked for where an entry
// needs them. O(e n r) for e entries, n
// nodes that have changed and r resources, and O(k log k) for each such node of k units.
func (l *Lot[K, Q]) Wake(ix *cluster.Index, lone, grouped func() *victims.Units) []Q {
	now := int64(math.MinInt64)
	if t := ix.Time(); !t.IsZero() {
		now = t.Unix()
	}
	rooms := newRooms(ix, &l.Changes, lone, grouped)
	return l.take(func(e *Entry) bool { return e.Until <= now || l.Changes.concern(ix, e) || rooms.take(e) })
}

// WakeAll takes everybody out.
func (l *Lot[K, Q]) WakeAll() []Q { return l.take(func(*Entry) bool { return true }) }

func (l *Lot[K, Q]) take(wakes func(e *Entry) bool) (woken []Q) {
	l.keep(func(p *place[K, Q]) bool {
		if !wakes(&p.entry) {
			return true
		}
		woken = append(woken, p.question)
		return false
	})
	l.Changes = Changes{}
	return woken
}

// rooms is what the nodes that have changed could offer.
type rooms struct {
	ix    *cluster.Index
	units [2]func() *victims.Units
	kinds [2][]room // for lone pods and for groups; formed when first asked
	nodes []cluster.NodeID
}

// room is one node's.
type room struct {
	node  cluster.NodeID
	rungs []rung
}

// rung is what is free once every unit up to a level has left, lowest level first. The first
// rung is what is free as things stand.
type rung struct {
	level int64
	free  []int64
}

func newRooms(ix *cluster.Index, c *Changes, lone, grouped func() *victims.Units) *rooms {
	r := &rooms{ix: ix, units: [2]func() *victims.Units{lone, grouped}}
	for _, n := range slices.Sorted(maps.Keys(c.nodes)) {
		if int(n) < ix.NumNodes() && ix.IsNode(n) { // the numbers of those that have gone may be beyond the last
			r.nodes = append(r.nodes, n)
		}
	}
	return r
}

// take reports whether one of the nodes could take a pod of e.
func (r *rooms) take(e *Entry) bool {
	kind := 0
	if e.Grouped {
		kind = 1
	}
	if r.kinds[kind] == nil && len(r.nodes) > 0 {
		units := r.units[kind]()
		for _, n := range r.nodes {
			r.kinds[kind] = append(r.kinds[kind], room{n, r.rungs(units, n)})
		}
	}
	below := int64(math.MinInt64) // nobody leaves
	if e.Evicts {
		below = int64(e.Priority)
	}
	for i := range r.kinds[kind] {
		if r.kinds[kind][i].takes(r.ix, e, below) {
			return true
		}
	}
	return false
}

// takes reports whether a pod of e has room once every unit below a level has left.
func (r *room) takes(ix *cluster.Index, e *Entry, below int64) bool {
	i, _ := slices.BinarySearchFunc(r.rungs[1:], below, func(r rung, below int64) int { return cmp.Compare(r.level, below) })
	free, allocatable := r.rungs[i].free, ix.Allocatable(r.node)
	for _, m := range e.Shapes {
		if why := m.Resources(free, allocatable); why.OK() && m.Static(ix.Node(r.node)).OK() {
			return true
		}
	}
	return false
}

// rungs are those of node n.
func (r *rooms) rungs(us *victims.Units, n cluster.NodeID) []rung {
	list := []rung{{math.MinInt64, slices.Clone(r.ix.Free(n))}}
	on := slices.Clone(us.On(n))
	slices.SortFunc(on, func(a, b victims.UnitID) int { return cmp.Compare(us.Unit(a).Level, us.Unit(b).Level) })
	for _, u := range on {
		unit := us.Unit(u)
		if int64(unit.Level) != list[len(list)-1].level {
			list = append(list, rung{int64(unit.Level), slices.Clone(list[len(list)-1].free)})
		}
		free := list[len(list)-1].free
		for _, p := range unit.Pods {
			if r.ix.NodeOf(p) == n {
				for at, v := range r.ix.Request(p)[:len(free)] {
					free[at] += v
				}
			}
		}
	}
	return list
}

// Entry is what may change the answer of a question.
type Entry struct {
	Shapes   []*domain.Member // its pods, those that ask for the same once
	Priority int32            // units of a lower level may be evicted for it
	Evicts   bool             // it was looked for units to evict; else for free room alone
	Grouped  bool             // it meets the units that groups do
	Names    []Name           // its pods and groups
	Places   []Place          // nodes to which its pods are nominated
	Any      bool             // any change may
	Until    int64            // Unix seconds from which time may; Never
}

// Place is a node by its name, and its number when the entry was made; NoNode: it was not
// there.
type Place struct {
	Name string
	Node cluster.NodeID
}

// Never is the Until of an entry whose answer time does not change.
const Never = math.MaxInt64

// NewEntry is that of a question about which nothing but room, static checks, priorities and
// the preemptor itself has a say. With evicts, evictions may be the answer.
func NewEntry(q *ask.Question, evicts bool) Entry {
	e := Entry{Priority: q.Priority, Evicts: evicts, Grouped: q.Tree != nil, Until: Never}
	if why := q.Impatient(); why.Why == ask.WaitsFirst {
		e.Until = q.Index.Time().Unix() + why.Left
	}
	for i, m := range q.Members {
		e.Names = append(e.Names, Name{m.Pod.Namespace, m.Pod.Name, false})
		if at := m.Pod.NominatedNode; at != "" {
			e.Places = append(e.Places, Place{at, q.Index.NodeByName(at)})
		}
		if i == 0 || !takenAlike(m, q.Members[i-1]) {
			e.Shapes = append(e.Shapes, m)
		}
	}
	if q.Tree == nil {
		return e
	}
	for _, leaf := range q.Tree.Leaves() {
		group := q.Group // given inline
		if leaf.ID != cluster.NoGroup {
			group = q.Index.Group(leaf.ID)
		}
		e.Names = append(e.Names, Name{group.Namespace, group.Name, true})
	}
	return e
}

// takenAlike reports whether a node that could take m could take o, and the other way round, as
// far as a glance tells.
func takenAlike(m, o *domain.Member) bool {
	return m.Anywhere() && o.Anywhere() && slices.Equal(m.Request(), o.Request()) && slices.Equal(m.Unknown(), o.Unknown()) &&
		slices.Equal(m.Pod.Tolerations, o.Pod.Tolerations)
}
