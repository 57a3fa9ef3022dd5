package victims

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// The methods of this file let units follow their index as it changes. They need
// exclusive use of the units, and leave their forks alone. Units that have prices, or
// an order of their own, do not follow: see [Units.Follows].

// Follows reports whether the units can follow changes of their index.
func (us *Units) Follows() bool { return us.cost == nil && us.inside == nil && us.by.Order == nil }

// Fork returns an independent copy, for ix, a fork of the index.
func (us *Units) Fork(ix *cluster.Index) *Units {
	f := *us
	f.ix = ix
	f.units, f.unitOf, f.on = us.units.Fork(), us.unitOf.Fork(), us.on.Fork()
	return &f
}

// Add lets pod p, which the index has just got, be a unit or part of one, and
// appends to dst the nodes on which something has changed; some may be there twice.
func (us *Units) Add(dst []cluster.NodeID, p cluster.PodID) []cluster.NodeID {
	for us.unitOf.Len() < us.ix.NumPods() {
		us.unitOf.Append(noUnit)
	}
	if us.ix.Pod(p).Node == "" {
		return dst
	}
	us.unsort()
	group := us.atom(p)
	if group != cluster.NoGroup {
		for _, q := range us.ix.PodsUnder(nil, group) {
			if u, ok := us.UnitOf(q); ok && q != p {
				return us.regroup(dst, u, append(slices.Clone(us.Unit(u).Pods), p))
			}
		}
	}
	u := us.hole
	if unit := us.describe(group, []cluster.PodID{p}); u == noUnit {
		u = UnitID(us.units.Append(unit))
	} else {
		us.hole = UnitID(us.Unit(u).Started)
		*us.units.Edit(int(u)) = unit
	}
	us.assign(u)
	return us.list(dst, u)
}

// Remove takes pod p, which the index is about to lose, out of its unit, and appends
// to dst the nodes on which something has changed; some may be there twice.
func (us *Units) Remove(dst []cluster.NodeID, p cluster.PodID) []cluster.NodeID {
	u, ok := us.UnitOf(p)
	if !ok {
		return dst
	}
	us.unsort()
	*us.unitOf.Edit(int(p)) = noUnit
	if pods := us.Unit(u).Pods; len(pods) > 1 {
		return us.regroup(dst, u, slices.DeleteFunc(slices.Clone(pods), func(q cluster.PodID) bool { return p == q }))
	}
	dst = us.unlist(dst, u)
	*us.units.Edit(int(u)) = Unit{Started: int64(us.hole)}
	us.hole = u
	return dst
}

// Replace follows a change of pod p, which ran on node from before and runs now, and is
// of no group, then or now. It appends to dst the nodes on which something has
// changed.
func (us *Units) Replace(dst []cluster.NodeID, p cluster.PodID, from cluster.NodeID) []cluster.NodeID {
	us.unsort()
	u, _ := us.UnitOf(p)
	unit := us.units.Edit(int(u))
	*unit = us.describe(cluster.NoGroup, unit.Pods)
	to := us.ix.NodeOf(p)
	if from != to || !us.inOrder(to, u) {
		us.off(from, u)
		us.onto(to, u)
	}
	if from != to && from != cluster.NoNode {
		dst = append(dst, from)
	}
	if to != cluster.NoNode {
		dst = append(dst, to)
	}
	return dst
}

// inOrder reports whether unit u stands where it should among those on node n.
func (us *Units) inOrder(n cluster.NodeID, u UnitID) bool {
	if n == cluster.NoNode {
		return true
	}
	on := us.On(n)
	i := slices.Index(on, u)
	return (i == 0 || us.Compare(on[i-1], u) < 0) && (i+1 == len(on) || us.Compare(u, on[i+1]) < 0)
}

// unsort forgets the order of all units. A fork may form the one that is left.
func (us *Units) unsort() { us.sorted = &sortedUnits{} }

// regroup lets unit u consist of pods, which it keeps.
func (us *Units) regroup(dst []cluster.NodeID, u UnitID, pods []cluster.PodID) []cluster.NodeID {
	dst = us.unlist(dst, u)
	*us.units.Edit(int(u)) = us.describe(us.Unit(u).Group, pods)
	us.assign(u)
	return us.list(dst, u)
}

// list adds unit u on each of its nodes, which it appends to dst.
func (us *Units) list(dst []cluster.NodeID, u UnitID) []cluster.NodeID {
	first := len(dst)
	dst = us.nodes(dst, u)
	for _, n := range dst[first:] {
		us.onto(n, u)
	}
	return dst
}

// unlist takes unit u off each of its nodes, which it appends to dst.
func (us *Units) unlist(dst []cluster.NodeID, u UnitID) []cluster.NodeID {
	first := len(dst)
	dst = us.nodes(dst, u)
	for _, n := range dst[first:] {
		us.off(n, u)
	}
	return dst
}

// nodes appends to dst the nodes of unit u, each once.
func (us *Units) nodes(dst []cluster.NodeID, u UnitID) []cluster.NodeID {
	first := len(dst)
	for _, p := range us.Unit(u).Pods {
		if n := us.ix.NodeOf(p); n != cluster.NoNode && !slices.Contains(dst[first:], n) {
			dst = append(dst, n)
		}
	}
	return dst
}

// onto adds unit u to the list of node n, unless that is NoNode. The list is a new one.
func (us *Units) onto(n cluster.NodeID, u UnitID) {
	if n == cluster.NoNode {
		return
	}
	on := us.On(n)
	i, _ := slices.BinarySearchFunc(on, u, us.Compare)
	*us.on.Edit(int(n)) = append(append(append(make([]UnitID, 0, len(on)+1), on[:i]...), u), on[i:]...)
}

// off takes unit u off the list of node n, unless that is NoNode. The list is a new one.
func (us *Units) off(n cluster.NodeID, u UnitID) {
	if n == cluster.NoNode {
		return
	}
	on := us.On(n)
	i := slices.Index(on, u)
	*us.on.Edit(int(n)) = append(append(make([]UnitID, 0, len(on)-1), on[:i]...), on[i+1:]...)
}

// Fork returns an independent copy.
func (b *Budgets) Fork() *Budgets {
	f := *b
	f.cover, f.shared, f.buffer = b.cover.Fork(), true, nil
	b.shared = true
	return &f
}

// Set notes which budgets cover pod p of ix, which has just got it.
func (b *Budgets) Set(ix *cluster.Index, p cluster.PodID) {
	if b.None() {
		return
	}
	for b.cover.Len() < ix.NumPods() {
		b.cover.Append(0)
	}
	pod := ix.Pod(p)
	b.buffer = b.set.Covering(b.buffer[:0], b.Rule, pod.Namespace, pod.Name, pod.Labels)
	if id := b.intern(b.buffer); id != *b.cover.At(int(p)) {
		*b.cover.Edit(int(p)) = id
	}
}

// Follow takes from ix what budgets allow: nothing else about them has changed.
func (b *Budgets) Follow(ix *cluster.Index) { b.set = ix.BudgetSet() }
