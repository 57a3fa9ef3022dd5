package naive

import (
	"maps"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// Eligible returns the verdict that ends the question when the gang does not fit as
// things are, or "" if it may preempt.
//
// Source: kube-scheduler v1.36 and v1.37, pod group preemption.
func (g *Gang) Eligible() string {
	if !g.units() {
		if g.root.wishes() || slices.ContainsFunc(g.Members, g.never) {
			return NotEligible
		}
		return ""
	}
	switch {
	case g.parentOf(g.self.group).name != "":
		return NotEligible // its composite group preempts
	case slices.ContainsFunc(g.Members, g.differs):
		return NotEligible
	case slices.ContainsFunc(g.Members, g.waits):
		return Waiting
	case g.policy() == priority.Never:
		return NotEligible
	}
	return ""
}

// policy is the group's own, else that of its class.
func (g *Gang) policy() priority.Policy {
	switch {
	case g.self.policy != "":
		return g.self.policy
	case g.self.class != "" && g.class(g.self.class).Policy != "":
		return g.class(g.self.class).Policy
	}
	return priority.PreemptLowerPriority
}

// differs says whether a member is unlike its group in priority or policy. One that
// says nothing is like it.
func (g *Gang) differs(p *cluster.Pod) bool {
	if (p.Priority != nil || p.Class != "") && g.priorityOf(p) != g.priority {
		return true
	}
	return (p.Policy != "" || p.Class != "") && g.never(p) != (g.policy() == priority.Never)
}

// waits says whether somebody whom the gang may evict is leaving, preempted, the
// node to which a member is nominated.
func (g *Gang) waits(m *cluster.Pod) bool {
	for i := range g.snapshot.Pods {
		p := &g.snapshot.Pods[i]
		if p.Node != "" && p.Node == m.NominatedNode && p.Terminating && p.Preempted && g.level(g.groupUnitOf(p)) < g.priority &&
			slices.ContainsFunc(g.snapshot.Nodes, func(n cluster.Node) bool { return n.Name == p.Node }) {
			return true
		}
	}
	return false
}

// Region is a domain: nodes, by name.
type Region struct {
	Name  string
	Nodes []string
}

// Rounds lists the regions that the gang may go to, those of one round before those
// of the next: nodes that agree in every topology key, then again without the last
// key that is only preferred, and so on. All running members are in the region.
func (g *Gang) Rounds() [][]Region {
	keys := slices.Clone(g.root.topology)
	var rounds [][]Region
	for {
		rounds = append(rounds, g.regions(keys))
		last := -1
		for i, k := range keys {
			if k.Preferred {
				last = i
			}
		}
		if last < 0 {
			return rounds
		}
		keys = slices.Delete(slices.Clone(keys), last, last+1)
	}
}

func (g *Gang) regions(keys []cluster.TopologyConstraint) []Region {
	byName := map[string][]string{}
	for _, n := range g.snapshot.Nodes {
		var parts []string
		for _, k := range keys {
			if v, ok := n.Labels[k.Key]; ok {
				parts = append(parts, k.Key+"="+v)
			}
		}
		if len(parts) == len(keys) {
			name := strings.Join(parts, ",")
			byName[name] = append(byName[name], n.Name)
		}
	}
	var out []Region
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		r := Region{name, slices.Sorted(slices.Values(byName[name]))}
		if name == "" {
			r.Name = "cluster"
		}
		if g.pinnedTo(r) {
			out = append(out, r)
		}
	}
	return out
}

// pinnedTo says whether every running member whose node is known runs in r.
func (g *Gang) pinnedTo(r Region) bool {
	for _, p := range g.root.own() {
		known := slices.ContainsFunc(g.snapshot.Nodes, func(n cluster.Node) bool { return n.Name == p.Node })
		if known && !slices.Contains(r.Nodes, p.Node) {
			return false
		}
	}
	return true
}

// Together says whether the members of each group of which any gets a place, and
// those that run already, are where one value of each topology key is that the group
// requires.
func (g *Gang) Together(places Places) bool { return g.together(&g.root, places) }

func (g *Gang) together(n *node, places Places) bool {
	var nodes []string
	for _, p := range n.own() {
		nodes = append(nodes, p.Node)
	}
	for _, p := range n.members() {
		if at, ok := places[key(p)]; ok {
			nodes = append(nodes, at)
		}
	}
	if len(nodes) == len(n.own()) {
		return true
	}
	for _, k := range n.topology {
		values := map[string]bool{}
		for _, of := range g.snapshot.Nodes {
			if !slices.Contains(nodes, of.Name) || k.Preferred {
				continue
			}
			v, ok := of.Labels[k.Key]
			if !ok {
				return false
			}
			values[v] = true
		}
		if len(values) > 1 {
			return false
		}
	}
	for i := range n.children {
		if !g.together(&n.children[i], places) {
			return false
		}
	}
	return true
}

// wishes says whether a group of the preemptor has topology constraints.
func (n *node) wishes() bool {
	return len(n.topology) > 0 || slices.ContainsFunc(n.children, func(c node) bool { return c.wishes() })
}
