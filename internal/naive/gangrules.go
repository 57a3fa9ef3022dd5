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
		if len(g.topology) > 0 || slices.ContainsFunc(g.Members, g.never) {
			return NotEligible
		}
		return ""
	}
	switch {
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
	keys := slices.Clone(g.topology)
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

// InRegion says whether a placement keeps to one region of those that the gang's
// required topology leaves, with its running members.
func (g *Gang) InRegion(places Places) bool {
	rounds := g.Rounds()
	for _, r := range rounds[len(rounds)-1] {
		in := true
		for _, n := range places {
			in = in && slices.Contains(r.Nodes, n)
		}
		if in {
			return true
		}
	}
	return false
}
