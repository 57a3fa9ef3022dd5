package preemption

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// nearestBounded is nearest where hard budgets and limits bound the victims. A node
// on which the preemptor would fit without these comes first, with those of them
// that stand in its way; else what nearest finds, and then what still does.
func (s *podSearch) nearestBounded() *Nearest {
	if near := s.nearestBounds(); near != nil {
		return near
	}
	near := s.nearest()
	if near == nil || len(near.Relaxations) == 0 {
		return nil // nothing to ask again about
	}
	c, p, err := s.relax(near.Relaxations)
	if err != nil {
		return nil
	}
	q, err := c.newQuestion(p)
	if err != nil {
		return nil
	}
	defer q.putBack()
	again := newPodSearch(q)
	if again.run().in() {
		return near
	}
	more := again.nearestBounds()
	if more == nil {
		return nil
	}
	return &Nearest{more.Domain, sortedRelaxations(append(near.Relaxations, more.Relaxations...))}
}

func sortedRelaxations(list []Relaxation) []Relaxation {
	slices.SortFunc(list, func(a, b Relaxation) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// nearestBounds tells which bounds would have to be wider, and where: it begins with
// what the victims of giving back go beyond, where these are fewest bounds, by the
// least in sum among equals. nil if the preemptor fits nowhere even without bounds.
func (s *podSearch) nearestBounds() *Nearest {
	stats := s.stats // what is tried here is no part of the search
	s.probing, s.decided = true, s.runner.Decided
	defer func() { s.stats, s.probing, s.relaxed = stats, false, nil }()
	var nodes []cluster.NodeID
	var list []Relaxation
	for n := range cluster.NodeID(s.ix.NumNodes()) {
		if s.status[n].Unresolvable {
			continue
		}
		s.trial.Reset(n)
		out, why := s.reprieve(s.evictable(n))
		if !why.OK() || len(out.Victims) == 0 {
			continue
		}
		over := s.overruns(out.Victims, s.runner.Parts())
		if nodes == nil || cmp.Or(cmp.Compare(len(over), len(list)), cmp.Compare(total(over), total(list))) < 0 {
			list = over
		}
		nodes = append(nodes, n)
	}
	if nodes == nil {
		return nil
	}
	at := nodes[0]
	l := least{ask: func(list []Relaxation) ([]Relaxation, bool) {
		s.relaxed = list
		defer func() { s.relaxed = nil }()
		for _, n := range append([]cluster.NodeID{at}, nodes...) { // where it went last is where it will go
			s.trial.Reset(n)
			potential := s.evictable(n)
			out, proof, _ := s.runner.RunWithin(s.trial, potential, s.within(potential, s.runner))
			if (proof == reprieve.Found || proof == reprieve.FoundSome) && len(out.Victims) > 0 {
				at, s.relaxed = n, nil
				return s.overruns(out.Victims, s.runner.Parts()), true
			}
		}
		return nil, false
	}}
	list, ok := l.find(list)
	if !ok {
		return nil
	}
	return &Nearest{s.ix.Node(at).Name, sortedRelaxations(list)}
}

func total(list []Relaxation) int64 {
	sum := int64(0)
	for _, r := range list {
		sum = add(sum, r.Amount)
	}
	return sum
}

// relaxPod makes a relaxation that is about the preemptor.
func relaxPod(pod *Pod, r Relaxation) {
	switch r.Kind {
	case RelaxSelector:
		pod.NodeSelector, pod.NodeAffinity = nil, nil
	case RelaxNodeName:
		pod.RequiredNode = ""
	case RelaxPort:
		pod.Ports = slices.DeleteFunc(slices.Clone(pod.Ports), func(p cluster.HostPort) bool { return domain.PortName(p) == r.Name })
	case RelaxPriority:
		raised := int32(r.Amount)
		pod.Priority = &raised
	}
}

// relaxedNode is a copy of a node with a relaxation made that is about it.
func relaxedNode(node *cluster.Node, r Relaxation) *cluster.Node {
	n := *node
	switch r.Kind {
	case RelaxResource:
		n.Allocatable = cluster.Resources{}
		for name, v := range node.Allocatable {
			n.Allocatable[name] = v
		}
		n.Allocatable[r.Name] = add(n.Allocatable[r.Name], r.Amount)
	case RelaxTaint:
		n.Taints = slices.DeleteFunc(slices.Clone(n.Taints), func(t cluster.Taint) bool { return t.String() == r.Name })
	case RelaxCordon:
		n.Unschedulable = false
		n.Taints = slices.DeleteFunc(slices.Clone(n.Taints), func(t cluster.Taint) bool { return t.Key == cluster.TaintUnschedulable })
	}
	return &n
}

// nearestBounded tells which bounds would have to be wider, and where: it begins with
// what the plan that disrupts least without bounds goes beyond, else with what evicting
// everybody there would.
func (s *gangSearch) nearestBounded() *Nearest {
	if s.hard == nil && s.limits == nil || s.probe || s.loose {
		return nil
	}
	s.loose = true
	search := newGangSearch(s.question)
	_, err := search.run()
	s.loose = false
	if err != nil || search.best == nil {
		return nil
	}
	at := ""
	l := least{left: mostAsks, ask: s.asking(&at)}
	list, ok := l.find(s.overruns(search.best.victims, search.best.parts))
	if !ok {
		search.lists++
		var everybody []victims.UnitID
		for _, n := range search.best.domain.Nodes {
			everybody = search.addFrom(everybody, n)
		}
		list, ok = l.find(s.overruns(everybody, nil))
	}
	if !ok {
		return nil
	}
	return &Nearest{at, sortedRelaxations(list)}
}
