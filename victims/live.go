package victims

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// The methods of this file let units follow their index as it changes. They need
// exclusive use of the units, and leave their forks alone. After all of a change Settle
// has to be called.

// Position is the position of a unit among those of its node, most important first.
type Position int32

// Shift is a change of the units of a node: the one on position Out was taken away, and
// then one was put on position In.
type Shift struct {
	Node    cluster.NodeID // NoNode: nothing but how many pods unit Grown has
	Out, In Position       // NoPosition: nobody
	Anew    bool           // more than that may have changed
	Grown   UnitID
}

// Quiet reports whether the units of the node stand as they did, and only something else
// may have changed about one of them: what it costs, from whom it is kept.
func (s Shift) Quiet() bool { return !s.Anew && s.Out == NoPosition && s.In == NoPosition }

// NoPosition stands for no position.
const NoPosition Position = -1

// Fork returns an independent copy, for ix, a fork of the index.
func (us *Units) Fork(ix *cluster.Index) *Units {
	f := *us
	f.ix = ix
	if !us.sorted.formed.Load() {
		f.sorted = &sortedUnits{}
	}
	f.units, f.unitOf, f.on = us.units.Fork(), us.unitOf.Fork(), us.on.Fork()
	f.inside, f.cost, f.agenda, f.places = us.inside.Fork(), us.cost.Fork(), us.agenda.Fork(), us.places.fork(ix)
	f.kept, f.sorter, f.nodes, f.spare, f.quiet, f.marks, f.under = nil, Sorter{}, nil, nil, nil, nil, nil
	f.stale, f.grown, f.came = slices.Clone(us.stale), slices.Clone(us.grown), maps.Clone(us.came)
	f.sizes, f.roomy = maps.Clone(us.sizes), noUnit
	for u, pods := range f.came {
		f.came[u] = slices.Clone(pods)
	}
	if us.kept != nil {
		f.kept = us.kept.fork(&f)
	}
	return &f
}

// Add lets pod p, which the index has just got, be a unit or part of one, and
// appends to dst how nodes have changed; some may be there twice. A unit of several is on no node until Settle, unless
// it only grows, which it does where b, if not nil, says that the budgets of its first pod cover p.
func (us *Units) Add(dst []Shift, p cluster.PodID, b *Budgets) []Shift {
	for us.unitOf.Len() < us.ix.NumPods() {
		us.unitOf.Append(noUnit)
	}
	if us.ix.Pod(p).Node == "" {
		return dst
	}
	us.unsort()
	us.stir(p)
	group := us.atom(p)
	if group != cluster.NoGroup {
		us.under = us.ix.PodsUnder(us.under[:0], group)
		for _, q := range us.under {
			if u, ok := us.UnitOf(q); ok && q != p {
				if b != nil && b.same(p, us.Unit(u).Pods[0]) && us.mayGrow(u, p) && us.grow(u, p) {
					return us.listGrown(dst, u, p)
				}
				dst = us.takeApart(dst, u)
				us.came[u] = append(us.came[u], p)
				*us.unitOf.Edit(int(p)) = u
				return dst
			}
		}
	}
	u := us.hole
	if u == noUnit {
		u = UnitID(us.units.Append(Unit{}))
	} else {
		us.hole = UnitID(us.Unit(u).Started)
	}
	us.form(u, group, []cluster.PodID{p})
	return us.list(dst, u)
}

// Remove takes pod p, which the index is about to lose, out of its unit, and appends
// to dst how nodes have changed; some may be there twice. What is left of a unit of several is on no node until Settle.
func (us *Units) Remove(dst []Shift, p cluster.PodID) []Shift {
	u, ok := us.UnitOf(p)
	if !ok {
		return dst
	}
	us.unsort()
	*us.unitOf.Edit(int(p)) = noUnit
	us.stir(p)
	if us.apart(u) || len(us.Unit(u).Pods) > 1 {
		return us.takeApart(dst, u)
	}
	dst = us.unlist(dst, u)
	us.dig(u)
	return dst
}

// dig makes unit u, which has no pods and is on no node, a hole.
func (us *Units) dig(u UnitID) {
	us.resize(len(us.Unit(u).Pods), 0)
	*us.units.Edit(int(u)) = Unit{Started: int64(us.hole)}
	us.agenda.Set(int(u), paged.Never)
	us.hole = u
}

// Replace follows a change of pod p, which ran on node from before and runs now, and is
// of no group, then or now. It appends to dst how nodes have changed.
func (us *Units) Replace(dst []Shift, p cluster.PodID, from cluster.NodeID) []Shift {
	us.unsort()
	u, _ := us.UnitOf(p)
	us.form(u, cluster.NoGroup, us.Unit(u).Pods)
	to := us.ix.NodeOf(p)
	if from != to {
		return us.onto(us.off(dst, from, u), to, u)
	}
	if from == cluster.NoNode {
		return dst
	}
	on := us.On(from)
	at, _ := slices.BinarySearchFunc(on, u, us.Compare) // all are in order but u perhaps
	if at == len(on) || on[at] != u {
		at = slices.Index(on, u)
	}
	if i := Position(at); us.stands(on, at) {
		return append(dst, Shift{Node: from, Out: i, In: i})
	}
	last := len(dst)
	dst = us.onto(us.off(dst, from, u), from, u)
	dst[last].In = dst[last+1].In
	return dst[:last+1]
}

// stands reports whether the i-th unit of a list is where it belongs. The others are.
func (us *Units) stands(on []UnitID, i int) bool {
	return (i == 0 || us.Compare(on[i-1], on[i]) < 0) && (i+1 == len(on) || us.Compare(on[i], on[i+1]) < 0)
}

// Renumber follows nodes of the index that have come or gone, or have other numbers: nodes
// are the numbers that stand for another one than before, pods those whose node is known
// now and was not, or the other way round.
func (us *Units) Renumber(nodes []cluster.NodeID, pods []cluster.PodID) {
	for us.on.Len() < us.ix.NumNodes() {
		us.on.Append(nil)
	}
	for _, n := range nodes {
		*us.on.Edit(int(n)) = make([]UnitID, 0, len(us.ix.PodsOn(n)))
		us.listOn(n, &us.sorter)
	}
	if us.places != nil && us.places.renumber(nodes) {
		us.staleAll()
		return
	}
	if us.places == nil && us.kept == nil {
		return
	}
	for _, p := range pods {
		if u, ok := us.UnitOf(p); ok {
			us.stale = append(us.stale, u)
		}
	}
}

// unsort forgets the order of all units.
func (us *Units) unsort() {
	if us.sorted.formed.Load() {
		us.sorted = &sortedUnits{}
	}
}

// Apart reports whether units are on no node until Settle, or would be once one more of their pods comes.
func (us *Units) Apart() bool { return len(us.came)+len(us.grown) > 0 }

func (us *Units) apart(u UnitID) bool {
	_, apart := us.came[u]
	return apart
}

// mayGrow reports whether pod p, the first that comes to unit u of several since Settle, changes nothing about it but how many
// pods it has and what it costs, and perhaps its place: where questions are asked in between, its nodes are not changed for each pod.
func (us *Units) mayGrow(u UnitID, p cluster.PodID) bool {
	unit := us.Unit(u)
	return len(unit.Pods) > 1 && !us.apart(u) && !slices.Contains(us.grown, u) &&
		us.by.Order == nil && !us.ranked() && !us.rule.PreemptionPriority && (us.kept == nil || !us.kept.Any()) &&
		us.ix.Started(p) >= unit.Started && (us.ix.Priority(p) == unit.Level || us.ix.Priority(unit.Pods[0]) != unit.Level) // as even as it was
}

// grow lets pod p come to unit u, which may grow, unless it would not stand on each of its nodes as it does.
func (us *Units) grow(u UnitID, p cluster.PodID) bool {
	unit := us.units.Edit(int(u))
	before := unit.Pods
	i, _ := slices.BinarySearchFunc(before, p, us.comparePods)
	if us.roomy != u || i < len(before) { // a fork may have the same array
		before = slices.Clip(before)
	}
	unit.Pods, us.roomy = slices.Insert(before, i, p), u
	near := us.sizes[len(before)]+us.sizes[len(before)+1] > 1 // where nobody is as large it stands as it did
	if near && slices.ContainsFunc(before, func(q cluster.PodID) bool {
		n := us.ix.NodeOf(q)
		return n != cluster.NoNode && !us.stands(us.On(n), slices.Index(us.On(n), u))
	}) {
		unit.Pods = before
		return false
	}
	us.resize(len(before), len(unit.Pods))
	return true
}

// listGrown notes that pod p is one of unit u, which has grown, and appends to dst how nodes change.
func (us *Units) listGrown(dst []Shift, u UnitID, p cluster.PodID) []Shift {
	*us.unitOf.Edit(int(p)) = u
	if us.ix.Unstarted(p) {
		us.agenda.Advance(int(u), us.ix.Time().Unix())
	}
	if us.Priced() {
		us.costMore(u, p)
	}
	us.grown = append(us.grown, u)
	dst = append(dst, Shift{Node: cluster.NoNode, Out: NoPosition, In: NoPosition, Grown: u})
	if n := us.ix.NodeOf(p); n == cluster.NoNode || !slices.Contains(us.On(n), u) {
		return us.onto(dst, n, u)
	}
	return append(dst, Shift{Node: us.ix.NodeOf(p), Anew: true})
}

// takeApart takes unit u, of which pods come or go, off its nodes until Settle: what many changes come to is found out once.
func (us *Units) takeApart(dst []Shift, u UnitID) []Shift {
	if us.apart(u) {
		return dst
	}
	if us.came == nil {
		us.came = map[UnitID][]cluster.PodID{}
	}
	us.came[u] = nil
	return us.unlist(dst, u)
}

// putTogether forms the units anew that were taken apart, and appends to dst how nodes change.
func (us *Units) putTogether(dst []Shift) []Shift {
	for _, u := range slices.Sorted(maps.Keys(us.came)) {
		pods := slices.DeleteFunc(slices.Concat(us.Unit(u).Pods, us.came[u]), func(p cluster.PodID) bool { return *us.unitOf.At(int(p)) != u })
		slices.Sort(pods)
		pods = slices.Compact(pods)
		delete(us.came, u)
		if len(pods) == 0 {
			us.dig(u)
			continue
		}
		us.order(pods)
		us.form(u, us.Unit(u).Group, pods)
		dst = us.list(dst, u)
	}
	return dst
}

// list adds unit u on each of its nodes, and appends to dst how they change.
func (us *Units) list(dst []Shift, u UnitID) []Shift {
	for _, n := range us.nodesOf(u) {
		dst = us.onto(dst, n, u)
	}
	return dst
}

// unlist takes unit u off each of its nodes, and appends to dst how they change.
func (us *Units) unlist(dst []Shift, u UnitID) []Shift {
	for _, n := range us.nodesOf(u) {
		dst = us.off(dst, n, u)
	}
	return dst
}

// fewPods is of how many pods a unit needs no marks, which each fork makes anew.
const fewPods = 2

// nodesOf returns the nodes of unit u, each once. They are good until the next.
func (us *Units) nodesOf(u UnitID) []cluster.NodeID {
	list, pods := us.nodes[:0], us.Unit(u).Pods
	if len(pods) > fewPods {
		list = us.first(list, u, listed)
		for _, n := range list {
			us.marks[n] &^= listed
		}
	} else {
		for _, p := range pods {
			if n := us.ix.NodeOf(p); n != cluster.NoNode && !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	us.nodes = list
	return list
}

// onto adds unit u to the list of node n, unless that is NoNode. The list is a new one.
func (us *Units) onto(dst []Shift, n cluster.NodeID, u UnitID) []Shift {
	if n == cluster.NoNode {
		return dst
	}
	on := us.On(n)
	i, _ := slices.BinarySearchFunc(on, u, us.Compare)
	*us.on.Edit(int(n)) = append(append(append(make([]UnitID, 0, len(on)+1), on[:i]...), u), on[i:]...)
	return append(dst, Shift{Node: n, Out: NoPosition, In: Position(i)})
}

// off takes unit u off the list of node n, unless that is NoNode. The list is a new one.
func (us *Units) off(dst []Shift, n cluster.NodeID, u UnitID) []Shift {
	if n == cluster.NoNode {
		return dst
	}
	on := us.On(n)
	i := slices.Index(on, u)
	*us.on.Edit(int(n)) = append(append(make([]UnitID, 0, len(on)-1), on[:i]...), on[i+1:]...)
	return append(dst, Shift{Node: n, Out: Position(i), In: NoPosition})
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
	if id := b.find(ix.Pod(p)); id != *b.cover.At(int(p)) {
		*b.cover.Edit(int(p)) = id
	}
}

// Follow takes from ix what budgets allow: nothing else about them has changed.
func (b *Budgets) Follow(ix *cluster.Index) { b.set = ix.BudgetSet() }

// Change follows ix, where budget at was another one before: nil where it has come, so that those behind it have one number
// more, or is nil where it has gone. It reports whether a pod may be covered by other budgets than before.
//
// O(k + l) for k pods with labels that it selects or did, and l distinct lists of budgets.
func (b *Budgets) Change(ix *cluster.Index, at cluster.BudgetID, was, is *disruption.Budget) (changed bool) {
	if b.set = ix.BudgetSet(); b.None() {
		b.cover, b.lists = paged.Make[int32](ix.NumPods()), newCoverLists()
	}
	switch {
	case was == nil:
		b.renumber(at, +1)
	case is == nil:
		b.renumber(at, -1)
	}
	sets := ix.LabelSets()
	for _, of := range [...]*disruption.Budget{was, is} {
		if of == nil {
			continue
		}
		matcher, _ := of.Selector.Compile()
		for _, s := range sets.Candidates(of.Selector) {
			pod := sets.Pod(s)
			if !b.Rule.Covers(&disruption.Budget{Namespace: of.Namespace}, matcher, pod.Namespace, pod.Name, pod.Labels) {
				continue
			}
			list := b.selecting(pod)
			for _, p := range sets.Carriers(s) {
				*b.cover.Edit(int(p)), changed = b.charged(list, ix.Pod(p)), true
			}
		}
	}
	if b.set.Len() == 0 {
		b.lists = nil
	}
	return changed
}

// renumber adds by to the numbers of budgets from at on. Where one goes, its lists do: the caller looks at their pods anew.
func (b *Budgets) renumber(at, by cluster.BudgetID) {
	next := newCoverLists()
	for l, list := range b.lists.lists[1:] {
		id := int32(l + 1)
		if list = slices.Clone(list); len(list) == 0 || by < 0 && slices.Contains(list, at) {
			next.lists, next.free = append(next.lists, nil), append(next.free, id)
			continue
		}
		for i := range list {
			if list[i] >= at {
				list[i] += by
			}
		}
		next.lists = append(next.lists, list)
		next.ids[string(appendKey(nil, list))] = id
	}
	b.lists, b.shared = next, false
}
