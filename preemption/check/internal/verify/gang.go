package verify

import (
	"cmp"
	"math"
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/check/internal/relation"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// gangFits is a region in which the members fit when they are placed one after the other, each on the first node that it fits on, once leave of the
// region are gone; empty if there is none. It does not look at every placement: what it finds is one, what it does not find there may be all the
// same.
func (a *answer) gangFits(leave func(region) []*unit) string {
	for _, round := range a.rounds() {
		for _, r := range round {
			if a.looks <= 0 {
				return ""
			}
			out := leave(r)
			for _, u := range out {
				a.leave(u.pods...)
			}
			fits := a.fillUp(r)
			for _, u := range out {
				a.comeBack(u.pods...)
			}
			if fits {
				return r.name
			}
		}
	}
	return ""
}

// fillUp says whether enough members fit in r when they are placed one after the other:
// in their order or against it, from the first node on or the last. It takes them off. There are so many looks in all.
func (a *answer) fillUp(r region) bool {
	for way := 0; way < 4 && a.looks > 0; way++ {
		members, nodes := slices.Clone(a.members), slices.Clone(r.nodes)
		if way%2 == 1 {
			slices.Reverse(members)
		}
		if way/2 == 1 {
			slices.Reverse(nodes)
		}
		if a.fill(members, nodes) {
			return true
		}
	}
	return false
}

// fill says whether members will do where fillAll places them, those of groups that have too few left out once.
func (a *answer) fill(members []*member, nodes []*node) bool {
	a.fillAll(members, nodes)
	all := len(a.placedNow())
	for vain := a.team.inVain(isPlaced); vain != nil && vain != a.team; vain = a.team.inVain(isPlaced) {
		a.unplace(vain.members()...)
	}
	others := slices.DeleteFunc(slices.Clone(members), func(m *member) bool { return m.to == nil })
	if len(a.relations) > 0 && len(others) < all { // who may need those who are gone
		a.unplace(others...)
		a.fillAll(others, nodes)
	}
	group, _ := a.team.strays()
	ok := len(a.placedNow()) > 0 && a.team.runs(isPlaced) && a.team.inVain(isPlaced) == nil && group == ""
	if a.asked.Placement != nil {
		for _, m := range a.members {
			_, given := a.asked.Placement[placedAs(m.Namespace, m.Name)]
			ok = ok && given == isPlaced(m)
		}
	}
	a.unplace(a.members...)
	return ok
}

// fillAll places members one after the other, then those who did not fit beside those who came later.
func (a *answer) fillAll(members []*member, nodes []*node) {
	for before := -1; len(a.placedNow()) > before; {
		before = len(a.placedNow())
		a.fillOnce(members, nodes)
		if len(a.relations) == 0 {
			break
		}
	}
}

func isPlaced(m *member) bool { return m.to != nil }

// placedNow are the members that have a place, in the order of the gang.
func (a *answer) placedNow() []*member {
	return slices.DeleteFunc(slices.Clone(a.members), func(m *member) bool { return m.to == nil })
}

// fillOnce places each member on the first of nodes that it fits on.
func (a *answer) fillOnce(members []*member, nodes []*node) {
	from := map[string]int{}                 // by what members ask for: nodes before are full
	steps := len(a.Pods) + 4*len(nodes) + 64 // linear in the cluster
	for _, m := range members {
		switch given := a.asked.Placement; {
		case m.to != nil:
		case given != nil:
			n := a.byNode[given[placedAs(m.Namespace, m.Name)]]
			if n != nil && len(a.misfits(m, n)) == 0 {
				a.place(m, n)
			}
		default:
			shape := a.shape(m)
			a.looks--
			i := from[shape]
			for ; i < len(nodes) && steps > 0 && a.looks > 0 && m.to == nil; steps-- {
				a.looks -= 1 + len(m.ports)*len(nodes[i].who)/16
				if len(a.misfits(m, nodes[i])) == 0 {
					a.place(m, nodes[i])
				} else {
					i++
				}
			}
			from[shape] = i
		}
	}
}

// shape is equal for members that ask for the same, other pods apart: to a filter, all that it sees is asked.
func (q *question) shape(m *member) string {
	if m.text == "" {
		asks := []any{m.Requests, m.Ports, m.NodeSelector, m.NodeAffinity, m.Tolerations, m.RequiredNode, m.Affinity, m.AntiAffinity, m.Spread}
		if q.o.Hooks != nil && q.o.Hooks.Filter != nil {
			asks = append(asks, suits.Shown(m.Pod))
		}
		m.text = relation.AsText(asks)
	}
	return m.text
}

// mostLooks is from how many pairs of a member and a node on searches for places may be cut short, and how many are looked at here.
const mostLooks = 1 << 20

// many reports whether there are so many members and nodes that places may not have been looked for everywhere.
func (a *answer) many() bool { return len(a.members)*len(a.nodes) > mostLooks }

// manyLevels is many where the lowest sufficient level was looked for: places are, level by level, in each domain.
func (a *answer) manyLevels() bool {
	levels := map[int32]bool{}
	if a.rules.lowest && a.r.Verdict == preemption.Feasible {
		for _, u := range a.evictable(a.nodes...) {
			levels[u.level] = true
		}
	}
	return len(a.members)*len(a.nodes)*a.domains()*len(levels) > mostLooks
}

// readMore: no further member could have a place at the cost of nobody. Members of a group that prefers a level stay where most others of it went;
// where members are tied to other pods, that is a search; where victims move, it may be in their way.
func (a *answer) readMore() {
	if a.team == nil || len(a.r.Moves) > 0 || a.asked.Placement != nil || len(a.relations) > 0 || a.o.Hooks != nil && a.o.Hooks.Placer != nil ||
		!a.r.Stats.Exact && (a.many() || a.manyLevels()) {
		return
	}
	steps, looked, stays := len(a.Pods)+4*len(a.nodes)+64, map[string]bool{}, map[*member]bool{}
	for _, c := range a.team.children {
		c.preferring(stays)
	}
	for _, m := range a.members {
		if m.to != nil || stays[m] || looked[a.shape(m)] {
			continue
		}
		looked[a.shape(m)] = true
		for _, n := range a.nodes {
			if steps--; steps < 0 {
				return
			}
			if len(a.misfits(m, n)) > 0 {
				continue
			}
			a.place(m, n)
			group, _ := a.team.strays()
			more := a.team.inVain(isPlaced) == nil && group == ""
			a.unplace(m)
			if more {
				a.About(found.Fits, cluster.KindPod, m.Namespace, m.Name, "it would fit on %s, too, and is left out", n.Name)
				break
			}
		}
	}
}

// readFilled: a gang that fits fills nodes as the placement that is asked for does: packed, the roomiest node to the brim, then the next; or
// spread, one member to each node with room, the roomiest first, then a second one. That is read of one pod group whose members are alike, where
// nothing but the node and its room decides: how many go to each node.
func (a *answer) readFilled() {
	if a.team == nil || !a.team.leaf || a.asked.Placement != nil || len(a.relations) > 0 || len(a.members[0].ports) > 0 ||
		a.o.Hooks != nil && a.o.Hooks.Placer != nil {
		return
	}
	m := a.members[0]
	if slices.ContainsFunc(a.members, func(o *member) bool { return a.shape(o) != a.shape(m) }) {
		return
	}
	a.unplace(a.members...)
	order, room := slices.Clone(a.nodes), map[*node]int64{}
	for _, n := range order {
		if room[n] = a.roomFor(m, n); room[n] == math.MaxInt64 {
			return // which of two endless rooms is the larger is nobody's to say
		}
	}
	slices.SortStableFunc(order, func(x, y *node) int { return cmp.Compare(room[y], room[x]) })
	want, left := map[*node]int{}, len(a.r.Nominations)
	give := func(n *node, most int64) {
		k := int(min(most, int64(left), room[n]-int64(want[n])))
		want[n], left = want[n]+k, left-k
	}
	if a.o.Placement == preemption.PlaceSpread {
		for before := -1; left != before && left > 0; {
			before = left
			for _, n := range order {
				give(n, 1)
			}
		}
	} else {
		for _, n := range order {
			give(n, math.MaxInt64)
		}
	}
	has := map[*node]int{}
	for _, x := range a.r.Nominations {
		has[a.byNode[x.Node]]++
	}
	for _, n := range order {
		if has[n] != want[n] {
			a.Add(found.Fits, "%d of the members go to %s, where %d would go by the placement that is asked for", has[n], n.Name, want[n])
			return
		}
	}
}

// roomFor is for how many members like m n has room beside who runs there and those nominated to it that count.
func (a *answer) roomFor(m *member, n *node) int64 {
	if a.admits(n.Node, m.Pod) != "" {
		return 0
	}
	used, most := a.expectedUse(n), int64(math.MaxInt64)
	if slots, limited := n.Allocatable[cluster.Pods]; limited {
		most = max(slots-used[len(a.asks)], 0)
	}
	for i, name := range a.asks {
		if want := m.Requests[name]; want > 0 {
			most = min(most, max(n.Allocatable[name]-used[i], 0)/want)
		}
	}
	return most
}
