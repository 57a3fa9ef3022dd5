package preemption

import (
	"fmt"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// levels lists the domains to try, in rounds: the first round that has a plan
// decides.
func (q *question) levels() ([][]domain.Domain, error) {
	if err := q.checkTopology(q.Tree, q.Group); err != nil {
		return nil, err
	}
	if q.Given != nil { // kept as it is; placeGiven looks whether it is one that is allowed
		return [][]domain.Domain{seating.Split(q.Index, nil)}, nil
	}
	if q.Splitter != nil {
		return [][]domain.Domain{q.Tree.Pinned(q.Index, q.Splitter.Split(nil, q.Index))}, nil
	}
	return q.Tree.Levels(q.Index), nil
}

// checkTopology complains about a topology key of t, which is group g, or of a group
// beneath it that no node has.
func (q *question) checkTopology(t *seating.Group, g *cluster.Group) error {
	for i, c := range t.Topology {
		if q.Index.CountNodes() > 0 && len(domain.Topology{c.Key}.Split(nil, q.Index)) == 0 {
			return &cluster.FieldError{
				Kind: string(g.Kind), Namespace: g.Namespace, Name: g.Name,
				Field: fmt.Sprintf("Topology[%d].Key", i), Value: fmt.Sprintf("%q", c.Key), Want: "a label of some node",
			}
		}
	}
	for _, c := range t.Children {
		if err := q.checkTopology(c, q.Index.Group(c.ID)); err != nil {
			return err
		}
	}
	return nil
}

// hopeless says why no eviction can help: there are too few pods, or too few groups
// that have enough. Empty if it may help.
func (q *question) hopeless() string {
	switch t, able := q.Tree.Short(); {
	case t == nil:
		return ""
	case len(t.Children) == 0:
		return "pod group " + t.Name + " has " + count(len(t.Members)+t.Running, "pod") + ", fewer than its minCount"
	default:
		return "composite group " + t.Name + " has " + count(able, "child group") + " with enough pods, fewer than its minGroupCount"
	}
}

// stray says where a placement leaves the one topology value that a group of the
// preemptor requires; empty if it does not.
func (q *question) stray(at func(domain.MemberID) cluster.NodeID) string {
	switch s := q.Tree.Stray(q.Index, at); {
	case s == nil:
		return ""
	case s.Node != cluster.NoNode:
		return fmt.Sprintf("node %s has no %s, which %s requires", q.Index.Node(s.Node).Name, s.Key, s.Group.Name)
	default:
		return fmt.Sprintf("%s requires one %s, the placement given has %d", s.Group.Name, s.Key, s.Values)
	}
}

// givenAt is the node that a given placement has for member m, or NoNode.
func (q *question) givenAt(m domain.MemberID) cluster.NodeID {
	for _, a := range q.Given {
		if a.Member == m {
			return a.Node
		}
	}
	return cluster.NoNode
}
