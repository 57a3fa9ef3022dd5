package gen

import (
	"fmt"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func (b *builder) budgets() {
	if !b.p.Budgets {
		return
	}
	for i := range b.Source(4) {
		b.s.Budgets = append(b.s.Budgets, b.budget(i))
	}
}

func (b *builder) budget(i int) disruption.Budget {
	budget := disruption.Budget{
		Namespace: Pick(b.Source, "default", "default", "team"),
		Name:      fmt.Sprintf("b%d", i),
		Selector:  b.selector(),
		Allowed:   Pick(b.Source, int32(0), 1, 2, -1),
	}
	for _, p := range b.s.Pods {
		if b.chance(true, 8) {
			budget.Disrupted = append(budget.Disrupted, p.Name)
		}
	}
	return budget
}

func (b *builder) selector() *disruption.Selector {
	app := func(op disruption.Operator, values ...string) *disruption.Selector {
		return &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "app", Operator: op, Values: values}}}
	}
	return Pick(b.Source,
		&disruption.Selector{MatchLabels: map[string]string{"app": "web"}},
		&disruption.Selector{MatchLabels: map[string]string{"tier": "back"}},
		&disruption.Selector{},
		nil,
		app(disruption.In, "web", "db"),
		app(disruption.NotIn, "web"),
		app(disruption.Exists),
		app(disruption.DoesNotExist),
	)
}

// groups makes a forest of groups for the running pods to be in.
func (b *builder) groups() {
	if !b.p.Groups {
		return
	}
	for i := range b.Source(3) {
		b.s.CompositePodGroups = append(b.s.CompositePodGroups, b.composite(i))
	}
	for i := range b.Source(4) {
		b.s.PodGroups = append(b.s.PodGroups, b.podGroup(i))
	}
}

func (b *builder) mode() disruption.Mode {
	return Pick(b.Source, disruption.All, disruption.Single, "")
}

func (b *builder) groupPriority() *int32 {
	v := Pick(b.Source, int32(0), 10, 100)
	return Pick(b.Source, &v, &v, nil)
}

// composite is composite group i, perhaps below an earlier one.
func (b *builder) composite(i int) cluster.CompositePodGroup {
	c := cluster.CompositePodGroup{Namespace: "default", Name: fmt.Sprintf("c%d", i), Mode: b.mode(), Priority: b.groupPriority()}
	if i > 0 && b.Source(2) > 0 {
		c.Parent = fmt.Sprintf("c%d", b.Source(i))
	}
	if b.chance(b.p.Odd, 5) {
		c.Parent = "missing"
	}
	return c
}

// podGroup is pod group i.
func (b *builder) podGroup(i int) cluster.PodGroup {
	g := cluster.PodGroup{
		Namespace: Pick(b.Source, "default", "default", "team"), Name: fmt.Sprintf("g%d", i), Mode: b.mode(), Priority: b.groupPriority(),
	}
	if n := len(b.s.CompositePodGroups); g.Namespace == "default" && b.chance(n > 0, 50) {
		g.Parent = b.s.CompositePodGroups[b.Source(n)].Name
	}
	if least := int32(1 + b.Source(2)); b.Source(2) > 0 {
		g.MinCount = &least
	} else {
		g.Basic = true
	}
	return g
}

// nest adds one of Profile.Nested, on a node or two; most groups beneath may go in part, too.
func (b *builder) nest(name string) {
	low, nodes, parent := Pick(b.Source, int32(0), 0, 10), []string{b.someNode(), b.someNode()}, ""
	composite := func(name string, mode disruption.Mode) {
		least := int32(1 + b.Source(3))
		b.s.CompositePodGroups = append(b.s.CompositePodGroups, cluster.CompositePodGroup{
			Namespace: "default", Name: name, Parent: parent, Mode: mode, Priority: &low, MinGroupCount: Pick(b.Source, &least, &least, nil),
		})
		parent = name
	}
	composite(name, disruption.SurplusFirst)
	for i := range 2 + b.Source(3) {
		if i > 0 && parent == name && b.Source(4) == 0 {
			composite(name+"-b", Pick(b.Source, disruption.SurplusFirst, b.mode()))
		}
		least := int32(1 + b.Source(2))
		g := cluster.PodGroup{
			Namespace: "default", Name: fmt.Sprintf("%s-%d", name, i), Parent: parent, Priority: &low,
			Mode: Pick(b.Source, disruption.SurplusFirst, b.mode()), MinCount: &least,
		}
		b.s.PodGroups = append(b.s.PodGroups, g)
		for range 1 + b.Source(3) {
			p := b.running(len(b.s.Pods))
			p.Namespace, p.Group, p.Node = g.Namespace, g.Name, Pick(b.Source, nodes...)
			b.s.Pods = append(b.s.Pods, p)
		}
	}
}
