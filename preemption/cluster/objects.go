package cluster

import (
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/priority"
)

// Objects are the objects of a snapshot by reference, for a caller that keeps them
// elsewhere. Quota objects are not among them.
type Objects struct {
	Time               time.Time
	Nodes              []*Node
	Pods               []*Pod
	PodGroups          []*PodGroup
	CompositePodGroups []*CompositePodGroup
	Budgets            []disruption.Budget
	PriorityClasses    []priority.Class
	Namespaces         []Namespace
	Disruptions        []Disruption
}

// Objects returns the objects of s; they still belong to s.
func (s *Snapshot) Objects() Objects {
	return Objects{
		Time: s.Time, Nodes: pointers(s.Nodes), Pods: pointers(s.Pods),
		PodGroups: pointers(s.PodGroups), CompositePodGroups: pointers(s.CompositePodGroups),
		Budgets: s.Budgets, PriorityClasses: s.PriorityClasses, Namespaces: s.Namespaces, Disruptions: s.Disruptions,
	}
}

func pointers[T any](list []T) []*T {
	ps := make([]*T, len(list))
	for i := range list {
		ps[i] = &list[i]
	}
	return ps
}

// Validate checks n by itself. The error joins a [*FieldError] for each problem.
func (n *Node) Validate() error {
	var ps problems
	validateNode(&ps, n)
	return ps.err()
}

// Validate checks p by itself. The error joins a [*FieldError] for each problem.
func (p *Pod) Validate() error {
	var ps problems
	validatePod(&ps, p)
	return ps.err()
}

// Validate checks g by itself. The error joins a [*FieldError] for each problem.
func (g *PodGroup) Validate() error {
	var ps problems
	validateGroup(&ps, g)
	return ps.err()
}

// Validate checks g by itself. The error joins a [*FieldError] for each problem.
func (g *CompositePodGroup) Validate() error {
	var ps problems
	validateComposite(&ps, g)
	return ps.err()
}

// ValidateBudget checks b by itself. The error joins a [*FieldError] for each problem.
func ValidateBudget(b *disruption.Budget) error {
	var ps problems
	validateBudget(&ps, b)
	return ps.err()
}
