package preemption

import (
	"cmp"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// nearestBounded is nearest where hard budgets and limits bound the victims. A node
// on which the preemptor would fit without these comes first, with those of them
// that stand in its way; else what nearest finds, and then what still does.
func (s *podSearch) nearestBounded() *Nearest {
	if n, list := s.nearestBounds(); n != cluster.NoNode {
		return &Nearest{Domain: s.ix.Node(n).Name, Relaxations: list}
	}
	if s.askedAgain {
		return nil // only bounds count there
	}
	near := s.nearest()
	if near == nil || len(near.Relaxations) == 0 {
		return nil // nothing to ask again about
	}
	r, err := s.askRelaxed(near.Relaxations)
	switch {
	case err != nil:
		return nil
	case r.Verdict == Feasible || r.Verdict == Fits:
		return near
	case r.Nearest == nil || slices.ContainsFunc(r.Nearest.Relaxations, func(x Relaxation) bool { return !x.bounds() }):
		return nil
	}
	return &Nearest{Domain: r.Nearest.Domain, Relaxations: sortedRelaxations(append(near.Relaxations, r.Nearest.Relaxations...))}
}

// bounds reports whether r is about what bounds the victims.
func (r Relaxation) bounds() bool { return r.Kind == RelaxBudget || r.Kind == RelaxLimit }

func sortedRelaxations(list []Relaxation) []Relaxation {
	slices.SortFunc(list, func(a, b Relaxation) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// nearestBounds returns the node on which fewest bounds would have to be wider, by
// the least in sum among equals, then the first by name; NoNode if it fits nowhere
// even without bounds. All of the relaxations let the preemptor in, no part of them
// does.
func (s *podSearch) nearestBounds() (cluster.NodeID, []Relaxation) {
	stats := s.stats // what is tried here is no part of the search
	defer func() { s.stats = stats }()
	best, list := cluster.NoNode, []Relaxation(nil)
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
		if best == cluster.NoNode || cmp.Or(cmp.Compare(len(over), len(list)), cmp.Compare(total(over), total(list))) < 0 {
			best, list = n, over
		}
	}
	if best == cluster.NoNode {
		return best, nil
	}
	return best, s.leastBounds(list, func() ([]victims.UnitID, victims.Parts) {
		s.trial.Reset(best)
		out, why := s.choose(s.evictable(best))
		if !why.OK() {
			return nil, nil
		}
		return slices.Clone(out.Victims), maps.Clone(s.runner.Parts())
	})
}

func total(list []Relaxation) int64 {
	sum := int64(0)
	for _, r := range list {
		sum = add(sum, r.Amount)
	}
	return sum
}

// leastBounds leaves out of list what is not needed. search looks for victims with
// q.relaxed, and returns nil if there are none.
func (q *question) leastBounds(list []Relaxation, search func() ([]victims.UnitID, victims.Parts)) []Relaxation {
	defer func() { q.relaxed = nil }()
	for i := 0; i < len(list) && len(list) > 1; { // without the last one it is the question that was refused
		q.relaxed = slices.Delete(slices.Clone(list), i, i+1)
		if out, _ := search(); out != nil {
			list = q.relaxed
		} else {
			i++
		}
	}
	q.relaxed = list
	if out, parts := search(); out != nil {
		q.relaxed = nil
		list = q.overruns(out, parts) // perhaps by less
	}
	return sortedRelaxations(list)
}

// askRelaxed asks the question again with some relaxations made.
func (s *podSearch) askRelaxed(list []Relaxation) (*Result, error) {
	objects, p := s.ix.Objects(), s.asked.preemptor()
	p.Placement = nil // the pod says the same: its RequiredNode, which may be relaxed
	objects.Nodes = slices.Clone(objects.Nodes)
	pod := *s.member.Pod
	for _, r := range list {
		relaxPod(&pod, r)
		for i, node := range objects.Nodes {
			if node.Name == r.Node {
				objects.Nodes[i] = relaxedNode(node, r)
			}
		}
	}
	if s.asked.Inline != nil {
		p.Pods = []Pod{pod}
	} else {
		objects.Pods = slices.Clone(objects.Pods)
		for i, other := range objects.Pods {
			if other.Namespace == pod.Namespace && other.Name == pod.Name {
				objects.Pods[i] = &pod
			}
		}
	}
	o := s.options
	o.Explain, o.Candidates = false, false
	c, err := o.compile(objects, s.quota)
	if err != nil {
		return nil, err
	}
	c.rules, c.askedAgain = s.rules, true
	return c.preempt(p)
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

// nearestBounded is what would have to be wider for the plan that disrupts least
// without bounds.
func (s *gangSearch) nearestBounded() *Nearest {
	if s.hard == nil && s.limits == nil || s.probing {
		return nil
	}
	again := func() *plan {
		search := newGangSearch(s.question)
		if _, err := search.run(); err != nil {
			return nil
		}
		return search.best
	}
	s.probing, s.loose = true, true
	best := again()
	s.loose = false
	defer func() { s.probing = false }()
	if best == nil {
		return nil
	}
	list := s.leastBounds(s.overruns(best.victims, best.parts), func() ([]victims.UnitID, victims.Parts) {
		if p := again(); p != nil {
			return p.victims, p.parts
		}
		return nil, nil
	})
	if len(list) == 0 {
		return nil
	}
	return &Nearest{Domain: best.domain.Name, Relaxations: list}
}
