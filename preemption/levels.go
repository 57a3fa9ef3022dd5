package preemption

import (
	"fmt"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// levels lists the domains to try, in rounds: the first round that has a plan
// decides. Required topology keys hold in every round; preferred ones are given up
// from the narrowest on. Members that run already pin the domain.
func (q *question) levels() ([][]domain.Domain, error) {
	if h := q.options.Hooks; h != nil && h.Splitter != nil {
		return [][]domain.Domain{q.pinned(h.Splitter.Split(nil, q.ix))}, nil
	}
	constraints, err := q.topology()
	if err != nil {
		return nil, err
	}
	var rounds [][]domain.Domain
	for _, keys := range keysByRound(constraints) {
		splitter := domain.Splitter(domain.WholeCluster{})
		if len(keys) > 0 && q.given == nil {
			splitter = keys
		}
		rounds = append(rounds, q.pinned(splitter.Split(nil, q.ix)))
	}
	return rounds, nil
}

// topology returns the group's topology constraints, and complains about a key that
// no node has.
func (q *question) topology() ([]cluster.TopologyConstraint, error) {
	list := []cluster.TopologyConstraint(nil)
	if q.group.PodGroup != nil {
		list = q.group.PodGroup.Topology
	} else {
		list = q.group.Composite.Topology
	}
	for i, c := range list {
		if q.ix.NumNodes() > 0 && len(domain.Topology{c.Key}.Split(nil, q.ix)) == 0 {
			return nil, &cluster.FieldError{
				Kind: string(q.group.Kind), Namespace: q.group.Namespace, Name: q.group.Name,
				Field: fmt.Sprintf("Topology[%d].Key", i), Value: fmt.Sprintf("%q", c.Key), Want: "a label of some node",
			}
		}
	}
	return list, nil
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

// pinned keeps of domains the one that holds every running member.
func (q *question) pinned(domains []domain.Domain) []domain.Domain {
	pins := q.pins()
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

// pins are the nodes of the gang's running members.
func (q *question) pins() map[cluster.NodeID]bool {
	if q.team.id == cluster.NoGroup {
		return nil
	}
	pins := map[cluster.NodeID]bool{}
	for _, p := range q.ix.PodsUnder(nil, q.team.id) {
		if n := q.ix.NodeOf(p); n != cluster.NoNode {
			pins[n] = true
		}
	}
	return pins
}
