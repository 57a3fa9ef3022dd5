package nearest

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// Change is one thing that would have to be otherwise.
type Change struct {
	Kind   Kind
	Node   cluster.NodeID // of Resource, Taint and Cordon; else NoNode
	Name   string         // of what it is about, where it has a name of its own: the resource, taint, port or node
	Bound  ask.Bound      // of Budget and Limit; its Left does not count
	Amount int64
}

// Kind is the kind of a change. The order is that in which changes are tried.
type Kind int

// The kinds.
const (
	Budget   Kind = iota // Bound allows Amount more
	Port                 // the host port Name dropped
	Limit                // Bound raised by Amount
	Selector             // node selector and required node affinity dropped
	NodeName             // the required node Name dropped
	Priority             // the preemptor's, raised to Amount
	Resource             // Amount more of Name allocatable on Node
	Taint                // Name gone from Node
	Cordon               // Node uncordoned
	MinCount             // the gang needs Amount pods fewer
)

// sorted sorts list in the order in which changes are tried.
func sorted(list []Change) []Change {
	slices.SortFunc(list, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Bound.Of, b.Bound.Of),
			cmp.Compare(a.Bound.Budget, b.Bound.Budget), window(a.Bound)-window(b.Bound))
	})
	return list
}

func window(b ask.Bound) int {
	if b.Window {
		return 1
	}
	return 0
}

// changesOf is how much wider bounds would have to be.
func changesOf(list []ask.Excess) []Change {
	var changes []Change
	for _, x := range list {
		c := Change{Kind: Limit, Node: cluster.NoNode, Bound: x.Bound, Amount: x.Amount}
		if x.Of == ask.Charges {
			c.Kind = Budget
		}
		c.Bound.Left = 0
		changes = append(changes, c)
	}
	return changes
}

// excessOf is changesOf the other way round.
func excessOf(list []Change) []ask.Excess {
	var wider []ask.Excess
	for _, c := range list {
		if c.Kind == Budget || c.Kind == Limit {
			wider = append(wider, ask.Excess{Bound: c.Bound, Amount: c.Amount})
		}
	}
	return wider
}
