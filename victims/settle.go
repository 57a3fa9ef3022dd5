package victims

import (
	"slices"
	"time"

	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Everything that is known of a unit beside its pods (where it stands in the order, what
// it costs, from whom it is kept) is found out by form and assess, when units are made and
// whenever something changes that they read: a pod of the unit, a group above it, a class,
// or the time. Assess also says when time alone may change it, which agenda keeps. So a
// change has to know only whom it concerns; Settle does the rest.

// form lets unit u consist of pods, which are in order and which it keeps.
func (us *Units) form(u UnitID, group cluster.GroupID, pods []cluster.PodID) {
	us.resize(len(us.Unit(u).Pods), len(pods))
	unit, due := us.describe(group, pods)
	*us.units.Edit(int(u)) = unit
	us.assign(u)
	us.assess(u, due)
}

// assess finds out what unit u, which is described until due, costs and from whom it is
// kept, and until when that holds.
func (us *Units) assess(u UnitID, due int64) {
	if len(us.Unit(u).Pods) > 1 {
		us.formed++
	}
	due = min(due, us.appraise(u))
	if us.kept != nil {
		due = min(due, us.kept.assess(u))
	}
	us.agenda.Set(int(u), due)
}

// Follow prepares us for changes of the index's time, and lets ps, which is about us and
// may be nil, follow all changes too.
func (us *Units) Follow(ps *Protections) {
	us.kept = ps
	guarded, described := ps != nil && ps.Any(), us.ix.AnyUnstarted() || us.rule.PreemptionPriority && us.ix.Guarded()
	if !guarded && !described {
		return
	}
	defer us.remember()()
	for u := range UnitID(us.Len()) {
		if unit := us.Unit(u); described {
			_, due := us.describe(unit.Group, unit.Pods)
			us.agenda.Advance(int(u), due)
		}
		if guarded && (ps.keptBelow(u) > nobody || ps.equals()) {
			us.agenda.Advance(int(u), ps.assess(u))
		}
	}
}

// Protections returns those that follow us; may be nil.
func (us *Units) Protections() *Protections { return us.kept }

// SetTime follows a change of the index's time, which was before: whatever is due by now
// may have changed, and everything where time goes back or nobody knew it.
func (us *Units) SetTime(before time.Time) {
	switch now := us.ix.Time(); {
	case us.timeless():
	case us.by.Order != nil || now.Before(before) || before.IsZero() || now.IsZero():
		us.staleAll()
	default:
		for _, u := range us.agenda.Due(nil, now.Unix()) {
			us.stale = append(us.stale, UnitID(u))
		}
	}
}

// timeless reports whether time has no part in anything about units.
func (us *Units) timeless() bool {
	return us.by.Cost == nil && us.by.Order == nil && !us.ix.AnyUnstarted() && !us.ix.Guarded() && (us.kept == nil || !us.kept.Any())
}

// Due is the first second, since 1970, at which time alone may change something about a unit: the next one where
// a price is asked for anew each time. It is [math.MaxInt64] if no time does, or none is known.
func (us *Units) Due() int64 {
	now, first := us.ix.Time(), us.agenda.First()
	if us.timeless() || now.IsZero() || first == paged.Never {
		return paged.Never
	}
	return max(first, now.Unix()) + 1 // what ends within a second has ended then
}

// SetNode follows a change of node n.
func (us *Units) SetNode(n cluster.NodeID) {
	if us.places != nil && us.places.follow(n) {
		us.staleAll()
	}
}

// Reconsider follows a change of what pods are to units, beside who runs where.
func (us *Units) Reconsider(pods []cluster.PodID) {
	for _, p := range pods {
		if u, ok := us.UnitOf(p); ok {
			us.stale = append(us.stale, u)
		}
	}
}

// Stale lists the nodes of the units that the next Settle looks at.
func (us *Units) Stale() (list []cluster.NodeID) {
	for _, u := range us.stale {
		if us.Exists(u) {
			list = append(list, us.nodesOf(u)...)
		}
	}
	return list
}

func (us *Units) staleAll() {
	for u := range UnitID(us.Len()) {
		us.stale = append(us.stale, u)
	}
}

// stir notes what may change about other units with pod p, which has come or is about to
// go: the milestones of a group begin with the first of its pods.
func (us *Units) stir(p cluster.PodID) {
	if !us.rule.PreemptionPriority {
		return
	}
	g := us.decider(us.atom(p), p)
	if g == cluster.NoGroup {
		return
	}
	if guard := us.ix.Group(g).Guard(); guard == nil || len(guard.Milestones) == 0 {
		return
	}
	for _, q := range us.ix.PodsUnder(nil, g) {
		if u, ok := us.UnitOf(q); ok {
			us.stale = append(us.stale, u)
		}
	}
}

// Settle finds out anew what may have changed about units, and lets those stand on their
// nodes where they belong now. It appends to dst, which has what else has changed, how
// nodes have. O(k log k) for the k units of the nodes concerned.
func (us *Units) Settle(dst []Shift) []Shift {
	defer us.remember()()
	if us.Apart() {
		dst = us.putTogether(dst)
		us.grown = us.grown[:0]
	}
	if us.kept != nil {
		us.kept.findLost(dst)
	}
	if len(us.stale) == 0 {
		return dst
	}
	us.unsort()
	slices.Sort(us.stale)
	us.stale = slices.Compact(us.stale)
	list, quiet := us.spare[:0], us.quiet[:0]
	for _, u := range us.stale {
		if !us.Exists(u) {
			continue
		}
		switch moved, changed := us.resettle(u); {
		case moved:
			list = us.first(list, u, moves)
		case changed:
			quiet = us.first(quiet, u, changes)
		}
	}
	us.stale = us.stale[:0]
	clear(us.marks)
	slices.Sort(list)
	for _, n := range list {
		on := slices.Clone(us.On(n))
		us.sorter.sort(us, on)
		*us.on.Edit(int(n)) = on
		dst = append(dst, Shift{Node: n, Anew: true})
	}
	slices.Sort(quiet)
	for _, n := range quiet {
		dst = append(dst, Shift{Node: n, Out: NoPosition, In: NoPosition})
	}
	us.spare, us.quiet = list, quiet
	return dst
}

// Why a node is marked: it is listed for a unit, on it one moves, on it something else changes about one.
const (
	listed uint8 = 1 << iota
	moves
	changes
)

// first appends to dst those nodes of unit u that are not marked so yet, and marks them.
func (us *Units) first(dst []cluster.NodeID, u UnitID, mark uint8) []cluster.NodeID {
	if len(us.marks) < us.ix.NumNodes() {
		us.marks = append(us.marks, make([]uint8, us.ix.NumNodes()-len(us.marks))...)
	}
	for _, p := range us.Unit(u).Pods {
		if n := us.ix.NodeOf(p); n != cluster.NoNode && us.marks[n]&mark == 0 {
			us.marks[n] |= mark
			dst = append(dst, n)
		}
	}
	return dst
}

// resettle finds out anew what is known of unit u, and reports whether it may have moved
// among the units of its nodes or be of another level, or what else is read of it may have
// changed: its price or that of a part, from whom it is kept, when its pods started.
func (us *Units) resettle(u UnitID) (moved, changed bool) {
	before, inside, kept := us.Unit(u), us.insideOf(u), us.kept.state(u)
	unit, due := us.describe(before.Group, before.Pods)
	moved = us.by.Order != nil || unit.worth() != before.worth() || unit.Level != before.Level || unit.Started != before.Started
	if moved {
		*us.units.Edit(int(u)) = unit
	}
	us.assess(u, due)
	moved = moved || us.insideOf(u) != inside
	changed = us.Priced() || us.kept.state(u) != kept || us.kept.equals() ||
		us.ix.AnyUnstarted() && slices.ContainsFunc(unit.Pods, us.ix.Unstarted)
	return moved, changed
}

// put writes element i of c, which is zero beyond its end.
func put[T comparable](c *paged.Column[T], i int, v T) {
	var zero T
	switch {
	case i < c.Len():
		if *c.At(i) == v {
			return
		}
	case v == zero:
		return
	}
	c.Reserve(i + 1)
	for c.Len() <= i {
		c.Append(zero)
	}
	*c.Edit(i) = v
}

// get reads element i of c, which is zero beyond its end.
func get[T any](c *paged.Column[T], i int) (v T) {
	if i < c.Len() {
		v = *c.At(i)
	}
	return v
}
