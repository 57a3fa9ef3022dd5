package naive

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// groupUnitOf is the unit that a running pod belongs to when a group preempts.
// Before units there were pod groups of mode All and pods, and what a pod is worth
// was its own affair unless its group went as a whole.
func (g *Gang) groupUnitOf(p *cluster.Pod) Unit {
	if g.units() {
		return g.unitOf(p)
	}
	u := Unit{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name, Pods: []*cluster.Pod{p}, Priority: g.priorityOf(p)}
	if of, ok := g.podGroup(p.Namespace, p.Group); ok && of.mode == disruption.All {
		u.Kind, u.Name, u.Priority = cluster.KindPodGroup, of.name, g.groupPriority(of)
		u.Pods = g.leaf(of).running
	}
	if p.Group != "" {
		u.Rank = 1
	}
	slices.SortFunc(u.Pods, func(a, b *cluster.Pod) int {
		return cmp.Or(cmp.Compare(a.UID, b.UID), key(a).compare(key(b)))
	})
	for i, p := range u.Pods {
		if s := g.start(p); i == 0 || s.Before(u.Start) {
			u.Start = s
		}
	}
	return u
}

// level is what a unit is eligible by: its priority, or under the early text of the
// KEP the preemption priority of its root group or pod.
func (g *Gang) level(u Unit) int32 {
	if g.rules.Rules != KEP5710Alpha {
		return u.Priority
	}
	first := u.Pods[0]
	chain := g.chain(first)
	if len(chain) == 0 {
		if first.PreemptionPriority != nil {
			return *first.PreemptionPriority
		}
		return u.Priority
	}
	root := chain[len(chain)-1]
	for _, pg := range g.snapshot.PodGroups {
		if root.kind == cluster.KindPodGroup && pg.Namespace == root.namespace && pg.Name == root.name && pg.PreemptionPriority != nil {
			return *pg.PreemptionPriority
		}
	}
	for _, c := range g.snapshot.CompositePodGroups {
		if root.kind == cluster.KindCompositePodGroup && c.Namespace == root.namespace && c.Name == root.name && c.PreemptionPriority != nil {
			return *c.PreemptionPriority
		}
	}
	return u.Priority
}

// keepFirst is negative if a is worth keeping more than b when a group preempts.
func (g *Gang) keepFirst(a, b Unit) int {
	return cmp.Or(
		cmp.Compare(b.Priority, a.Priority),
		cmp.Compare(b.Rank, a.Rank),
		cmp.Compare(len(b.Pods), len(a.Pods)),
		a.Start.Compare(b.Start),
		cmp.Compare(a.Pods[0].UID, b.Pods[0].UID),
		key(a.Pods[0]).compare(key(b.Pods[0])),
	)
}

// split parts sorted units into those that violate a budget and the others.
func (g *Gang) split(units []Unit) (violating, clean []Unit) {
	if g.units() {
		return g.partition(units)
	}
	budgets := slices.Clone(g.snapshot.Budgets)
	slices.SortFunc(budgets, func(a, b disruption.Budget) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	left := map[string]int64{}
	for _, b := range budgets {
		left[b.Namespace+"/"+b.Name] = int64(b.Allowed)
	}
	violates := func(p *cluster.Pod) bool {
		for _, b := range budgets {
			if id := b.Namespace + "/" + b.Name; g.charges(b, p) {
				if left[id]--; left[id] < 0 {
					return true // later budgets keep theirs
				}
			}
		}
		return false
	}
	for _, u := range units {
		u.Violations = 0
		if slices.ContainsFunc(u.Pods, violates) { // its later pods are not looked at
			u.Violations = 1
			violating = append(violating, u)
		} else {
			clean = append(clean, u)
		}
	}
	return violating, clean
}

// broken says whether a unit is all that is left of gangs below their minCount.
func (g *Gang) broken(u Unit) bool {
	for _, p := range u.Pods {
		of, ok := g.podGroup(p.Namespace, p.Group)
		if !ok {
			return false
		}
		if n := g.leaf(of); len(n.running) >= n.least {
			return false
		}
	}
	return true
}
