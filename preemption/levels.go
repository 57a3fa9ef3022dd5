package preemption

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// levels lists the domains to try, in rounds: the first round that has a plan
// decides. Required topology keys hold in every round; preferred ones are given up
// from the narrowest on. Members that run already pin the domain.
func (q *question) levels() ([][]domain.Domain, error) {
	if err := q.checkTopology(q.team, q.group); err != nil {
		return nil, err
	}
	if q.given != nil { // kept as it is; placeGiven looks whether it is one that is allowed
		return [][]domain.Domain{domain.WholeCluster{}.Split(nil, q.ix)}, nil
	}
	if h := q.options.Hooks; h != nil && h.Splitter != nil {
		return [][]domain.Domain{q.pinned(q.splitBy(h.Splitter), q.pins(q.team))}, nil
	}
	var rounds [][]domain.Domain
	for _, keys := range keysByRound(q.team.topology) {
		rounds = append(rounds, q.pinned(q.split(keys), q.pins(q.team)))
	}
	return rounds, nil
}

// split divides the cluster by node labels; without any it is one domain.
func (q *question) split(keys domain.Topology) []domain.Domain {
	if len(keys) == 0 {
		return domain.WholeCluster{}.Split(nil, q.ix)
	}
	return keys.Split(nil, q.ix)
}

// checkTopology complains about a topology key of t, which is group g, or of a group
// beneath it that no node has.
func (q *question) checkTopology(t *team, g *cluster.Group) error {
	for i, c := range t.topology {
		if q.ix.NumNodes() > 0 && len(domain.Topology{c.Key}.Split(nil, q.ix)) == 0 {
			return &cluster.FieldError{
				Kind: string(g.Kind), Namespace: g.Namespace, Name: g.Name,
				Field: fmt.Sprintf("Topology[%d].Key", i), Value: fmt.Sprintf("%q", c.Key), Want: "a label of some node",
			}
		}
	}
	for _, c := range t.children {
		if err := q.checkTopology(c, q.ix.Group(c.id)); err != nil {
			return err
		}
	}
	return nil
}

// keysByRound returns all keys, then again and again without the last preferred one.
func keysByRound(constraints []cluster.TopologyConstraint) []domain.Topology {
	var rounds []domain.Topology
	for {
		var keys domain.Topology
		last := -1
		for i, c := range constraints {
			keys = append(keys, c.Key)
			if c.Preferred {
				last = i
			}
		}
		rounds = append(rounds, keys)
		if last < 0 {
			return rounds
		}
		constraints = append(constraints[:last:last], constraints[last+1:]...)
	}
}

// pinned keeps of domains the one that holds every pin.
func (q *question) pinned(domains []domain.Domain, pins map[cluster.NodeID]bool) []domain.Domain {
	if len(pins) == 0 {
		return domains
	}
	var kept []domain.Domain
	for _, d := range domains {
		in := 0
		for _, n := range d.Nodes {
			if pins[n] {
				in++
			}
		}
		if in == len(pins) {
			kept = append(kept, d)
		}
	}
	return kept
}

// pins are the nodes of the running members of t.
func (q *question) pins(t *team) map[cluster.NodeID]bool {
	if t.id == cluster.NoGroup {
		return nil
	}
	pins := map[cluster.NodeID]bool{}
	for _, p := range q.ix.PodsUnder(nil, t.id) {
		if n := q.ix.NodeOf(p); n != cluster.NoNode {
			pins[n] = true
		}
	}
	return pins
}

// regions lists where in d a child group may go, in rounds; see levels.
func (q *question) regions(t *team, d *domain.Domain) [][]domain.Domain {
	inside := make(map[cluster.NodeID]bool, len(d.Nodes))
	for _, n := range d.Nodes {
		inside[n] = true
	}
	var rounds [][]domain.Domain
	for _, keys := range keysByRound(t.topology) {
		var round []domain.Domain
		for _, region := range q.pinned(q.split(keys), q.pins(t)) {
			region.Nodes = slices.DeleteFunc(region.Nodes, func(n cluster.NodeID) bool { return !inside[n] })
			if len(region.Nodes) > 0 {
				round = append(round, region)
			}
		}
		rounds = append(rounds, round)
	}
	return rounds
}

// strays says where a placement leaves the one topology value that t, with its
// running members, requires; empty if it does not, or if it places nobody of t.
func (q *question) strays(t *team, at func(domain.MemberID) cluster.NodeID) string {
	nodes := map[cluster.NodeID]bool{}
	for _, leaf := range t.leaves(nil) {
		for _, m := range leaf.members {
			if n := at(m); n != cluster.NoNode {
				nodes[n] = true
			}
		}
	}
	if len(nodes) == 0 {
		return ""
	}
	maps.Copy(nodes, q.pins(t))
	for _, c := range t.topology {
		values := map[string]bool{}
		for _, n := range slices.Sorted(maps.Keys(nodes)) {
			value, ok := q.ix.Node(n).Labels[c.Key]
			if !ok && !c.Preferred {
				return fmt.Sprintf("node %s has no %s, which %s requires", q.ix.Node(n).Name, c.Key, t.name)
			}
			values[value] = true
		}
		if len(values) > 1 && !c.Preferred {
			return fmt.Sprintf("%s requires one %s, the placement given has %d", t.name, c.Key, len(values))
		}
	}
	for _, c := range t.children {
		if text := q.strays(c, at); text != "" {
			return text
		}
	}
	return ""
}
