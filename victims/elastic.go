package victims

import (
	"cmp"
	"iter"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Members returns a new slice with the pods of unit u, those that go last first:
// leaders, then the higher priority of the pod itself, the earlier start, the smaller
// UID, namespace and name; those that are terminating after all others.
func (us *Units) Members(u UnitID) []cluster.PodID {
	return us.lastFirst(slices.Clone(us.Unit(u).Pods))
}

// lastFirst sorts pods of one unit, those that go last first, and returns them.
func (us *Units) lastFirst(list []cluster.PodID) []cluster.PodID {
	ix := us.ix
	first := func(x, y bool) int {
		switch {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	}
	slices.SortFunc(list, func(a, b cluster.PodID) int {
		return cmp.Or(
			first(us.counts(a), us.counts(b)),
			first(us.Leads(a), us.Leads(b)),
			cmp.Compare(ix.Priority(b), ix.Priority(a)),
			cmp.Compare(us.ix.Started(a), us.ix.Started(b)),
			cmp.Compare(ix.Pod(a).UID, ix.Pod(b).UID),
			ix.ComparePods(a, b))
	})
	return list
}

// Leads reports whether pod p is the leader of its group.
func (us *Units) Leads(p cluster.PodID) bool {
	g := us.ix.GroupOf(p)
	return g != cluster.NoGroup && us.ix.Group(g).PodGroup.Leader == us.ix.Pod(p).Name
}

// GoesOn reports whether elastic unit u goes on with those of its pods that stays
// says. A pod group needs its minCount and its leader; one of mode All all of its
// pods, or none. A composite group needs as many of its groups as minGroupCount says,
// or all that go on now. A group that was below that before goes on as it is. Pods
// that are terminating are not counted: they go anyway.
//
// O(k) for k pods.
func (us *Units) GoesOn(u UnitID, stays func(cluster.PodID) bool) bool {
	return us.remains(us.Unit(u).Group, func(p cluster.PodID) bool { return *us.unitOf.At(int(p)) != u || stays(p) }) >= partRemains
}

// GoesOnWithout is GoesOn where out go of the running pods that count for the group of u, which has none
// beneath; see [Units.Running].
//
// O(k) for k pods of out.
func (us *Units) GoesOnWithout(u UnitID, running int, out iter.Seq[cluster.PodID]) bool {
	staying, leaderless := running, false
	for p := range out {
		if us.counts(p) {
			staying--
			leaderless = leaderless || us.Leads(p)
		}
	}
	return judge(us.ix.Group(us.Unit(u).Group), running, staying, leaderless) >= partRemains
}

// Running is how many pods count for the group of elastic unit u; ok is false if groups are beneath it.
func (us *Units) Running(u UnitID) (running int, ok bool) {
	group := us.ix.Group(us.Unit(u).Group)
	if group.PodGroup == nil {
		return 0, false
	}
	for _, p := range group.Pods {
		if us.counts(p) {
			running++
		}
	}
	return running, true
}

// remainder is what remains of a group once some of its pods are gone.
type remainder int

const (
	useless     remainder = iota // some pods, of no use
	nobodyLeft                   // no pod
	partRemains                  // enough of them
	allRemains                   // all that run
)

// remains says what remains of group g.
func (us *Units) remains(g cluster.GroupID, stays func(cluster.PodID) bool) remainder {
	group := us.ix.Group(g)
	if group.PodGroup != nil {
		return us.podsRemain(group, stays)
	}
	alive, intact, here := 0, 0, 0
	for _, child := range group.Children {
		if !us.anybody(child) {
			continue
		}
		here++
		switch us.remains(child, stays) {
		case useless:
			return useless
		case allRemains:
			intact++
			alive++
		case partRemains:
			alive++
		}
	}
	return judgeGroups(group, here, alive, intact)
}

// judgeGroups says what remains of a composite group with so many groups in which pods run.
func judgeGroups(group *cluster.Group, here, alive, intact int) remainder {
	need := here
	if m := group.Composite.MinGroupCount; m != nil {
		need = int(*m)
	}
	switch {
	case alive == 0:
		return nobodyLeft
	case intact == here:
		return allRemains
	case group.Mode == disruption.All, alive < need:
		return useless
	}
	return partRemains
}

func (us *Units) podsRemain(group *cluster.Group, stays func(cluster.PodID) bool) remainder {
	running, staying, leaderless := 0, 0, false
	for _, p := range group.Pods {
		if !us.counts(p) {
			continue
		}
		running++
		if stays(p) {
			staying++
		} else if us.Leads(p) {
			leaderless = true
		}
	}
	return judge(group, running, staying, leaderless)
}

// judge says what remains of a pod group of which so many pods run, and so many of these stay.
func judge(group *cluster.Group, running, staying int, leaderless bool) remainder {
	least := int32(0)
	if m := group.PodGroup.MinCount; m != nil {
		least = *m
	}
	switch {
	case staying == 0:
		return nobodyLeft
	case staying == running:
		return allRemains
	case group.Mode == disruption.All, leaderless, staying < int(least):
		return useless
	}
	return partRemains
}

// counts reports whether pod p runs and is not on its way out.
func (us *Units) counts(p cluster.PodID) bool {
	pod := us.ix.Pod(p)
	return pod.Node != "" && !pod.Terminating
}

// anybody reports whether a pod beneath g counts.
func (us *Units) anybody(g cluster.GroupID) bool {
	return slices.ContainsFunc(us.ix.PodsUnder(nil, g), us.counts)
}

// Deciders returns those of some pods of elastic unit u, in the order of Members, about which
// there is something to decide where only those matter to which matters says so: of
// a pod group these, of a composite group all pods of a group right beneath it in
// which one matters. The others stay in every largest set of pods that goes on.
func (us *Units) Deciders(u UnitID, pods []cluster.PodID, matters func(cluster.PodID) bool) []cluster.PodID {
	top := us.Unit(u).Group
	decides := matters
	if us.ix.Group(top).Composite != nil {
		concerned := map[cluster.GroupID]bool{}
		for _, p := range pods {
			if matters(p) {
				concerned[us.beneath(p, top)] = true
			}
		}
		decides = func(p cluster.PodID) bool { return concerned[us.beneath(p, top)] }
	}
	var list []cluster.PodID // most of the pods may be elsewhere
	for _, p := range pods {
		if decides(p) {
			list = append(list, p)
		}
	}
	return us.lastFirst(list)
}

// nested is what there is to know of an elastic unit whose group has groups beneath.
type nested struct {
	us     *Units
	top    cluster.GroupID
	number map[cluster.GroupID]int               // of its pods that count, or of groups beneath in which there are any
	pods   map[cluster.GroupID][]cluster.PodID   // of the unit, by pod group: those that count, in the order of [Units.Members]
	leaves map[cluster.GroupID][]cluster.GroupID // by group right beneath the top: which pod groups have such pods
}

// Nested reads elastic unit u once for all sets of its pods; nil if no groups are beneath its group. goesOnWithout is GoesOn where out
// go: O(k) for k of them, and g^2 for the groups above them. together are the pods beside some that matter about which there is something
// to decide, but that stay together, or go with all others of their pod group, in a largest set that goes on; in the order of Members.
//
// O(k log k) for k pods.
func (us *Units) Nested(u UnitID) (goesOnWithout func(out iter.Seq[cluster.PodID]) bool, together func(some []cluster.PodID) [][]cluster.PodID) {
	top := us.Unit(u).Group
	if us.ix.Group(top).Composite == nil {
		return nil, nil
	}
	n := &nested{us, top, map[cluster.GroupID]int{}, map[cluster.GroupID][]cluster.PodID{}, map[cluster.GroupID][]cluster.GroupID{}}
	n.count(top)
	for _, p := range us.Members(u) {
		if !us.counts(p) {
			continue
		}
		g := us.ix.GroupOf(p)
		if n.pods[g] == nil {
			child := us.beneath(p, top)
			n.leaves[child] = append(n.leaves[child], g)
		}
		n.pods[g] = append(n.pods[g], p)
	}
	return n.goesOnWithout, n.together
}

func (n *nested) count(g cluster.GroupID) {
	sum := 0
	for _, p := range n.us.ix.Group(g).Pods {
		if n.us.counts(p) {
			sum++
		}
	}
	for _, child := range n.us.ix.Group(g).Children {
		if n.count(child); n.us.anybody(child) {
			sum++
		}
	}
	n.number[g] = sum
}

func (n *nested) together(some []cluster.PodID) (blocks [][]cluster.PodID) {
	seen := map[cluster.GroupID]bool{}
	for _, p := range some {
		child := n.us.beneath(p, n.top)
		if seen[child] {
			continue
		}
		seen[child] = true
		for _, g := range n.leaves[child] {
			block := slices.DeleteFunc(slices.Clone(n.pods[g]), func(q cluster.PodID) bool { return slices.Contains(some, q) })
			if len(block) > 0 {
				blocks = append(blocks, block)
			}
		}
	}
	return blocks
}

func (n *nested) goesOnWithout(out iter.Seq[cluster.PodID]) bool {
	lost, leaderless := map[cluster.GroupID]int{}, map[cluster.GroupID]bool{}
	for p := range out {
		if !n.us.counts(p) {
			continue
		}
		g := n.us.ix.GroupOf(p)
		leaderless[g] = leaderless[g] || n.us.Leads(p)
		lost[g]++
		for g != n.top {
			if g = n.us.ix.Group(g).Parent; lost[g] == 0 {
				lost[g] = 1
			}
		}
	}
	return n.remains(n.top, lost, leaderless) >= partRemains
}

// remains is [Units.remains]; lost are the groups with pods that go, and how many of a pod group.
func (n *nested) remains(g cluster.GroupID, lost map[cluster.GroupID]int, leaderless map[cluster.GroupID]bool) remainder {
	group, here := n.us.ix.Group(g), n.number[g]
	if group.PodGroup != nil {
		return judge(group, here, here-lost[g], leaderless[g])
	}
	alive, intact := here, here
	for child := range lost {
		if n.us.ix.Group(child).Parent != g || child == n.top {
			continue
		}
		switch intact--; n.remains(child, lost, leaderless) {
		case useless:
			return useless
		case nobodyLeft:
			alive--
		}
	}
	return judgeGroups(group, here, alive, intact)
}

// beneath is the group right beneath top, or top itself, at or above pod p.
func (us *Units) beneath(p cluster.PodID, top cluster.GroupID) cluster.GroupID {
	g := us.ix.GroupOf(p)
	for g != top && us.ix.Group(g).Parent != top {
		g = us.ix.Group(g).Parent
	}
	return g
}

// Parts says of units that are out in part which of their pods are. A unit that is
// not in it is out with all its pods. nil: all of them are.
type Parts map[UnitID][]cluster.PodID

// Of returns the pods of unit u that are out. The slice belongs to us or parts.
func (parts Parts) Of(us *Units, u UnitID) []cluster.PodID {
	if pods, ok := parts[u]; ok {
		return pods
	}
	return us.Unit(u).Pods
}

// CostOf is the price of those pods of unit u: of the whole unit with what its group
// costs, of a part with what those groups beneath cost that are out whole.
func (us *Units) CostOf(u UnitID, pods []cluster.PodID) int64 {
	if !us.Priced() || len(pods) == len(us.Unit(u).Pods) {
		return us.Cost(u)
	}
	group := us.Unit(u).Group
	if len(us.ix.Group(group).Children) == 0 {
		pods = slices.Clone(pods)
		slices.SortFunc(pods, us.ix.ComparePods)
		return us.by.Cost.Price(us.ix, cluster.NoGroup, pods)
	}
	in := make(map[cluster.PodID]bool, len(pods))
	above := map[cluster.GroupID]bool{group: true}
	for _, p := range pods {
		in[p] = true
		for g := us.ix.GroupOf(p); !above[g]; g = us.ix.Group(g).Parent {
			above[g] = true
		}
	}
	sum, rest := us.lost(group, in, above)
	if len(rest) > 0 {
		sum = checked.Add(sum, us.by.Cost.Price(us.ix, cluster.NoGroup, rest))
	}
	return sum
}

// lost prices the groups at or beneath g whose pods are all in out; rest are the
// others that are. Only groups in above have any.
func (us *Units) lost(g cluster.GroupID, out map[cluster.PodID]bool, above map[cluster.GroupID]bool) (sum int64, rest []cluster.PodID) {
	if !above[g] {
		return 0, nil
	}
	group := us.ix.Group(g)
	if us.allOut(group, out) {
		return us.by.Cost.Price(us.ix, g, slices.DeleteFunc(us.ix.PodsUnder(nil, g), func(p cluster.PodID) bool { return !out[p] })), nil
	}
	for _, p := range group.Pods {
		if out[p] {
			rest = append(rest, p)
		}
	}
	for _, child := range group.Children {
		price, more := us.lost(child, out, above)
		sum, rest = checked.Add(sum, price), append(rest, more...)
	}
	return sum, rest
}

// allOut reports whether all pods at or beneath a group that run are in out.
func (us *Units) allOut(group *cluster.Group, out map[cluster.PodID]bool) bool {
	return !slices.ContainsFunc(group.Pods, func(p cluster.PodID) bool { return *us.unitOf.At(int(p)) != noUnit && !out[p] }) &&
		!slices.ContainsFunc(group.Children, func(child cluster.GroupID) bool { return !us.allOut(us.ix.Group(child), out) })
}
