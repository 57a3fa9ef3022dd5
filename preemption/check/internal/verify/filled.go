package verify

import (
	"cmp"
	"math"
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// readFilled: a gang that fits fills nodes as the placement that is asked for does: packed,
// the roomiest node to the brim, then the next; or spread, one member to each node with
// room, the roomiest first, then a second one. That is read of one pod group whose members
// are alike, where nothing but the node and its room decides: how many go to each node.
func (a *answer) readFilled() {
	if a.team == nil || !a.team.leaf || a.asked.Placement != nil || len(a.relations) > 0 || len(a.members[0].ports) > 0 ||
		a.o.Hooks != nil && a.o.Hooks.Placer != nil {
		return
	}
	m := a.members[0]
	if slices.ContainsFunc(a.members, func(o *member) bool { return a.shape(o) != a.shape(m) }) {
		return
	}
	for _, placed := range a.placedNow() {
		a.unplace(placed)
	}
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

// roomFor is for how many members like m n has room beside who runs there and those
// nominated to it that count.
func (a *answer) roomFor(m *member, n *node) int64 {
	if a.admits(n.Node, m.Pod) != "" {
		return 0
	}
	used := slices.Clone(a.usedOn(n))
	for _, p := range a.expected(n) {
		a.add(used, p.Pod, 1)
	}
	most := int64(math.MaxInt64)
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
