package domain

import (
	"github.com/preempt-go/preempt/internal/lists"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// FirstFit puts one member after the other on the first node that takes it: the members in the order given or from the last on, the nodes
// in order of name or from the last on. It asks for no price.
type FirstFit struct{ LastMemberFirst, LastNodeFirst bool }

// Place places as the type says. Where one member may make room for another, as constraints can, a member begins where the one like it
// before it went, and those without a place are tried again from the first node on. O(shapes·nodes + members) a round.
func (f FirstFit) Place(t *GangTrial, d *Domain, _ Offers, members []MemberID, most int) int {
	nodes := d.Nodes
	if f.LastMemberFirst {
		members = lists.Reversed(members)
	}
	if f.LastNodeFirst {
		nodes = lists.Reversed(nodes)
	}
	type place struct {
		member MemberID
		at     int // in nodes
	}
	placed := 0
	for {
		before := placed
		from := map[int]place{} // by shape: of its latest member
		for _, m := range members {
			if placed == most || t.passed(t.stop) {
				return placed
			}
			if t.At(m) != cluster.NoNode {
				continue
			}
			at := 0
			if last, ok := from[t.shapes[m]]; ok && t.FitAlike(last.member, m) {
				at = last.at // nodes before it take no more
			}
			for at < len(nodes) && !t.takes(m, nodes[at]) {
				at++
			}
			if from[t.shapes[m]] = (place{m, at}); at < len(nodes) {
				t.Place(m, nodes[at])
				placed++
			}
		}
		if placed == before || len(t.states) == 0 {
			return placed
		}
	}
}
