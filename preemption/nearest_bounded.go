package preemption

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/reprieve"
)

// nearestBounded is nearest where hard budgets and limits bound the victims. A node
// on which the preemptor would fit without these comes first, with those of them
// that stand in its way; else what nearest finds, and then what still does.
func (s *podAnswer) nearestBounded() *Nearest {
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
	again := q.searchPod()
	defer again.Close()
	if v := again.Run().Verdict; v == ask.Feasible || v == ask.Fits {
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
func (s *podAnswer) nearestBounds() *Nearest {
	stats := s.Stats // what is tried here is no part of the search
	s.Probing, s.Decided = true, s.Runner.Decided
	defer func() { s.Stats, s.Probing, s.Relaxed = stats, false, nil }()
	var nodes []cluster.NodeID
	var list []ask.Excess
	for n := range cluster.NodeID(s.Index.NumNodes()) {
		if s.Status[n].Unresolvable {
			continue
		}
		s.Trial.Reset(n)
		out, why := s.Reprieve(s.Evictable(n))
		if !why.OK() || len(out.Victims) == 0 {
			continue
		}
		over := s.Overruns(out.Victims, s.Runner.Parts())
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
		s.Relaxed = s.excessOf(list)
		defer func() { s.Relaxed = nil }()
		for _, n := range append([]cluster.NodeID{at}, nodes...) { // where it went last is where it will go
			s.Trial.Reset(n)
			potential := s.Evictable(n)
			out, proof, _ := s.Runner.RunWithin(s.Trial, potential, s.Within(potential, s.Runner))
			if (proof == reprieve.Found || proof == reprieve.FoundSome) && len(out.Victims) > 0 {
				at, s.Relaxed = n, nil
				return s.relaxationsOf(s.Overruns(out.Victims, s.Runner.Parts())), true
			}
		}
		return nil, false
	}}
	need, ok := l.find(s.relaxationsOf(list))
	if !ok {
		return nil
	}
	return &Nearest{s.Index.Node(at).Name, sortedRelaxations(need)}
}

func total(list []ask.Excess) int64 {
	sum := int64(0)
	for _, r := range list {
		sum = ask.Add(sum, r.Amount)
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
		n.Allocatable[r.Name] = ask.Add(n.Allocatable[r.Name], r.Amount)
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
func (s *gangAnswer) nearestBounded() *Nearest {
	if s.Hard == nil && s.Limits == nil || s.c.probe || s.Loose {
		return nil
	}
	rounds, err := s.levels()
	if err != nil {
		return nil
	}
	s.Loose = true
	search := gang.New(s.Question)
	search.Run(rounds)
	s.Loose = false
	if search.Best == nil {
		return nil
	}
	at := ""
	l := least{left: mostAsks, ask: s.asking(&at)}
	list, ok := l.find(s.relaxationsOf(s.Overruns(search.Best.Victims, search.Best.Parts)))
	if !ok {
		list, ok = l.find(s.relaxationsOf(s.Overruns(search.Potential(&search.Best.Domain), nil)))
	}
	if !ok {
		return nil
	}
	return &Nearest{at, sortedRelaxations(list)}
}
