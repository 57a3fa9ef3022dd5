package seating

import (
	"maps"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// rounds lists the topologies to try, one after the other: all keys, then again and again
// without the last preferred one. Required keys are in every round.
func rounds(constraints []cluster.TopologyConstraint) []domain.Topology {
	var all []domain.Topology
	for {
		var keys domain.Topology
		last := -1
		for i, c := range constraints {
			keys = append(keys, c.Key)
			if c.Preferred {
				last = i
			}
		}
		all = append(all, keys)
		if last < 0 {
			return all
		}
		constraints = append(constraints[:last:last], constraints[last+1:]...)
	}
}

// Levels lists the domains where t may go, in rounds: by all its keys, then without the
// last preferred one, and so on. The first round that has a place decides. Members that
// run already pin the domain.
func (t *Group) Levels(ix *cluster.Index) [][]domain.Domain {
	var levels [][]domain.Domain
	for _, keys := range rounds(t.Topology) {
		levels = append(levels, t.Pinned(ix, Split(ix, keys)))
	}
	return levels
}

// Split divides the cluster by node labels; without any it is one domain.
func Split(ix *cluster.Index, keys domain.Topology) []domain.Domain {
	if len(keys) == 0 {
		return domain.WholeCluster{}.Split(nil, ix)
	}
	return keys.Split(nil, ix)
}

// Pinned keeps of domains the one that holds every running member of t; all of them if
// none runs.
func (t *Group) Pinned(ix *cluster.Index, domains []domain.Domain) []domain.Domain {
	pins := t.pins(ix)
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
func (t *Group) pins(ix *cluster.Index) map[cluster.NodeID]bool {
	if t.ID == cluster.NoGroup {
		return nil
	}
	pins := map[cluster.NodeID]bool{}
	for _, p := range ix.PodsUnder(nil, t.ID) {
		if n := ix.NodeOf(p); n != cluster.NoNode {
			pins[n] = true
		}
	}
	return pins
}

// splits are how keys divide the cluster, for all groups of a tree that ask for the same.
type splits map[string]*split

// split is how keys divide the cluster, and the domain of it that was asked about last.
type split struct {
	whole, inside []domain.Domain
	in            *domain.Domain
}

// by is how keys divide the cluster; it must not be changed.
func (s splits) by(ix *cluster.Index, keys domain.Topology) *split {
	name := strings.Join(keys, "\x00")
	if s[name] == nil {
		s[name] = &split{whole: Split(ix, keys)}
	}
	return s[name]
}

// within is whole within d. Who asks about the same d gets the same slice.
func (s *split) within(ix *cluster.Index, d *domain.Domain) []domain.Domain {
	if s.in != d {
		s.in, s.inside = d, within(ix, s.whole, d)
	}
	return s.inside
}

// within are regions as far as they are in d, those that are.
func within(ix *cluster.Index, regions []domain.Domain, d *domain.Domain) (list []domain.Domain) {
	inside := make([]bool, ix.NumNodes())
	for _, n := range d.Nodes {
		inside[n] = true
	}
	for _, region := range regions {
		var nodes []cluster.NodeID
		for _, n := range region.Nodes {
			if inside[n] {
				nodes = append(nodes, n)
			}
		}
		if len(nodes) > 0 {
			region.Nodes = nodes
			list = append(list, region)
		}
	}
	return list
}

// regions are where in a domain a child group may go.
type regions struct {
	in     *domain.Domain
	rounds [][]domain.Domain
}

// regions lists where in d a child group may go, in rounds; see Levels. It remembers those
// of the last d, which is asked about again and again; they must not be changed.
func (t *Group) regions(ix *cluster.Index, d *domain.Domain) [][]domain.Domain {
	if t.found.in == d {
		return t.found.rounds
	}
	pinned := len(t.pins(ix)) > 0
	var levels [][]domain.Domain
	for _, keys := range rounds(t.Topology) {
		split := t.splits.by(ix, keys)
		if pinned {
			levels = append(levels, within(ix, t.Pinned(ix, split.whole), d))
		} else {
			levels = append(levels, split.within(ix, d))
		}
	}
	t.found = regions{d, levels}
	return levels
}

// required lists the regions of d that hold what t requires of a topology.
func (t *Group) required(ix *cluster.Index, d *domain.Domain) []domain.Domain {
	rounds := t.regions(ix, d)
	return rounds[len(rounds)-1]
}

// Stray is how a placement leaves the one topology value that a group requires.
type Stray struct {
	Group  *Group
	Key    string
	Node   cluster.NodeID // without that label, or NoNode
	Values int            // so many values
}

// Stray says where a placement leaves the one topology value that t, with its running
// members, or a group beneath it requires; nil if it does not. Groups of which at places
// nobody are nowhere.
func (t *Group) Stray(ix *cluster.Index, at func(domain.MemberID) cluster.NodeID) *Stray {
	nodes := map[cluster.NodeID]bool{}
	for _, leaf := range t.Leaves() {
		for _, m := range leaf.Members {
			if n := at(m); n != cluster.NoNode {
				nodes[n] = true
			}
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	maps.Copy(nodes, t.pins(ix))
	for _, c := range t.Topology {
		if c.Preferred {
			continue
		}
		values := map[string]bool{}
		for _, n := range slices.Sorted(maps.Keys(nodes)) {
			value, ok := ix.Node(n).Labels[c.Key]
			if !ok {
				return &Stray{t, c.Key, n, 0}
			}
			values[value] = true
		}
		if len(values) > 1 {
			return &Stray{t, c.Key, cluster.NoNode, len(values)}
		}
	}
	for _, c := range t.Children {
		if s := c.Stray(ix, at); s != nil {
			return s
		}
	}
	return nil
}
