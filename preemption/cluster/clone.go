package cluster

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
)

// Clone returns a copy of p that shares nothing with it.
func (p *Preemptor) Clone() Preemptor {
	c := *p
	c.Pods = cloneEach(p.Pods, (*Pod).clone)
	c.Group = cloned(p.Group, (*PodGroup).clone)
	c.Workload = cloned(p.Workload, (*Workload).clone)
	c.Placement = maps.Clone(p.Placement)
	return c
}

// cloned is a copy of what v points to, of which deepen makes every part its own.
func cloned[T any](v *T, deepen func(v *T)) *T {
	if v == nil {
		return nil
	}
	c := *v
	if deepen != nil {
		deepen(&c)
	}
	return &c
}

// cloneEach is cloned for the elements of a list.
func cloneEach[T any](list []T, deepen func(v *T)) []T {
	c := slices.Clone(list)
	for i := range c {
		deepen(&c[i])
	}
	return c
}

// The methods of this name let a copy have every part for its own.

func (p *Pod) clone() {
	p.Labels, p.Annotations = maps.Clone(p.Labels), maps.Clone(p.Annotations)
	p.Requests, p.Ports = maps.Clone(p.Requests), slices.Clone(p.Ports)
	p.Tolerations, p.NodeSelector = slices.Clone(p.Tolerations), maps.Clone(p.NodeSelector)
	p.NodeAffinity = cloned(p.NodeAffinity, (*NodeAffinity).clone)
	p.Priority, p.PreemptionPriority = cloned(p.Priority, nil), cloned(p.PreemptionPriority, nil)
	p.Owner = cloned(p.Owner, nil)
	p.Guard, p.Cost = cloned(p.Guard, (*Guard).clone), cloned(p.Cost, (*Cost).clone)
	p.Evictions = slices.Clone(p.Evictions)
	p.Affinity, p.AntiAffinity = cloneEach(p.Affinity, (*AffinityTerm).clone), cloneEach(p.AntiAffinity, (*AffinityTerm).clone)
	p.Spread = cloneEach(p.Spread, (*Spread).clone)
	p.Tokens = slices.Clone(p.Tokens)
	p.Devices = cloneEach(p.Devices, func(r *DeviceRequest) { r.Assigned = slices.Clone(r.Assigned) })
}

func (g *PodGroup) clone() {
	g.Labels = maps.Clone(g.Labels)
	g.MinCount = cloned(g.MinCount, nil)
	g.Priority, g.PreemptionPriority = cloned(g.Priority, nil), cloned(g.PreemptionPriority, nil)
	g.Topology = slices.Clone(g.Topology)
	g.Guard, g.Cost = cloned(g.Guard, (*Guard).clone), cloned(g.Cost, (*Cost).clone)
	g.Evictions = slices.Clone(g.Evictions)
}

func (w *Workload) clone() {
	w.PodSets = cloneEach(w.PodSets, (*PodSet).clone)
	w.Admission = cloned(w.Admission, nil)
}

func (s *PodSet) clone() {
	s.MinCount = cloned(s.MinCount, nil)
	s.Requests, s.Usage = maps.Clone(s.Requests), maps.Clone(s.Usage)
	s.Tolerations, s.NodeSelector = slices.Clone(s.Tolerations), maps.Clone(s.NodeSelector)
	s.NodeAffinity = cloned(s.NodeAffinity, (*NodeAffinity).clone)
	s.Flavors = maps.Clone(s.Flavors)
}

func (a *NodeAffinity) clone() {
	a.Terms = cloneEach(a.Terms, func(t *NodeTerm) {
		t.Labels, t.Fields = cloneEach(t.Labels, (*NodeRequirement).clone), cloneEach(t.Fields, (*NodeRequirement).clone)
	})
}

func (r *NodeRequirement) clone() { r.Values = slices.Clone(r.Values) }

func (g *Guard) clone() {
	g.GuaranteedSeconds, g.WaitSeconds = cloned(g.GuaranteedSeconds, nil), cloned(g.WaitSeconds, nil)
	g.Milestones = slices.Clone(g.Milestones)
}

func (c *Cost) clone() { c.Milestones = slices.Clone(c.Milestones) }

func (t *AffinityTerm) clone() {
	t.Selector, t.NamespaceSelector = cloned(t.Selector, cloneSelector), cloned(t.NamespaceSelector, cloneSelector)
	t.Namespaces = slices.Clone(t.Namespaces)
	t.MatchLabelKeys, t.MismatchLabelKeys = slices.Clone(t.MatchLabelKeys), slices.Clone(t.MismatchLabelKeys)
}

func (s *Spread) clone() {
	s.Selector = cloned(s.Selector, cloneSelector)
	s.MatchLabelKeys = slices.Clone(s.MatchLabelKeys)
}

func cloneSelector(s *disruption.Selector) {
	s.MatchLabels = maps.Clone(s.MatchLabels)
	s.MatchExpressions = cloneEach(s.MatchExpressions, func(r *disruption.Requirement) { r.Values = slices.Clone(r.Values) })
}
