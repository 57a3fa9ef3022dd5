package cluster

import (
	"slices"
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

// Objects returns the objects of s; they still belong to s. A nil s has none.
func (s *Snapshot) Objects() Objects {
	if s == nil {
		return Objects{}
	}
	return Objects{
		Time: s.Time, Nodes: pointers(s.Nodes), Pods: pointers(s.Pods),
		PodGroups: pointers(s.PodGroups), CompositePodGroups: pointers(s.CompositePodGroups),
		Budgets: s.Budgets, PriorityClasses: s.PriorityClasses, Namespaces: s.Namespaces, Disruptions: s.Disruptions,
	}
}

// Snapshot returns a snapshot with copies of the objects.
func (o Objects) Snapshot() *Snapshot {
	return &Snapshot{
		Time: o.Time, Nodes: values(o.Nodes), Pods: values(o.Pods),
		PodGroups: values(o.PodGroups), CompositePodGroups: values(o.CompositePodGroups),
		Budgets: o.Budgets, PriorityClasses: o.PriorityClasses, Namespaces: o.Namespaces, Disruptions: o.Disruptions,
	}
}

func values[T any](list []*T) []T {
	vs := make([]T, len(list))
	for i, v := range list {
		vs[i] = *v
	}
	return vs
}

func pointers[T any](list []T) []*T {
	ps := make([]*T, len(list))
	for i := range list {
		ps[i] = &list[i]
	}
	return ps
}

// validateNils complains about lists with a nil in them, which nobody can read.
func validateNils(ps *problems, s *Objects) {
	noNils(ps, "Nodes", s.Nodes)
	noNils(ps, "Pods", s.Pods)
	noNils(ps, "PodGroups", s.PodGroups)
	noNils(ps, "CompositePodGroups", s.CompositePodGroups)
}

func noNils[T any](ps *problems, field string, list []*T) {
	if slices.Contains(list, nil) {
		ps.object(KindSnapshot, "", "").bad(field, "nil", "an object")
	}
}

// nilProblem is the error about a nil object that is to be validated.
func nilProblem(kind Kind) error {
	return &FieldError{Kind: string(kind), Field: "Name", Value: "nil", Want: "an object"}
}

// Validate checks n by itself. The error joins a [*FieldError] for each problem.
func (n *Node) Validate() error {
	if n == nil {
		return nilProblem(KindNode)
	}
	var ps problems
	validateNode(&ps, n)
	return ps.err()
}

// Validate checks p by itself. The error joins a [*FieldError] for each problem.
func (p *Pod) Validate() error {
	if p == nil {
		return nilProblem(KindPod)
	}
	var ps problems
	validatePod(&ps, p)
	validatePodTimes(&ps, p)
	return ps.err()
}

// Validate checks g by itself. The error joins a [*FieldError] for each problem.
func (g *PodGroup) Validate() error {
	if g == nil {
		return nilProblem(KindPodGroup)
	}
	var ps problems
	validateGroup(&ps, g)
	validatePast(ps.object(KindPodGroup, g.Namespace, g.Name), g.Cost, g.Evictions)
	return ps.err()
}

// Validate checks g by itself. The error joins a [*FieldError] for each problem.
func (g *CompositePodGroup) Validate() error {
	if g == nil {
		return nilProblem(KindCompositePodGroup)
	}
	var ps problems
	validateComposite(&ps, g)
	validatePast(ps.object(KindCompositePodGroup, g.Namespace, g.Name), g.Cost, g.Evictions)
	return ps.err()
}

// ValidateBudget checks b by itself. The error joins a [*FieldError] for each problem.
func ValidateBudget(b *disruption.Budget) error {
	if b == nil {
		return nilProblem(KindBudget)
	}
	var ps problems
	validateBudget(&ps, b)
	return ps.err()
}
