package preemption

import (
	"cmp"
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/nearest"
)

// kindsOfChanges are the kinds of changes as relaxations have them.
var kindsOfChanges = [...]RelaxationKind{
	nearest.Resource: RelaxResource, nearest.Taint: RelaxTaint, nearest.Cordon: RelaxCordon, nearest.Selector: RelaxSelector,
	nearest.NodeName: RelaxNodeName, nearest.Port: RelaxPort, nearest.Priority: RelaxPriority, nearest.Budget: RelaxBudget, nearest.Limit: RelaxLimit,
}

// relaxations is list in words.
func (q *question) relaxations(list []nearest.Change) []Relaxation {
	words := make([]Relaxation, len(list))
	for i, c := range list {
		r := Relaxation{Kind: kindsOfChanges[c.Kind], Name: c.Name, Amount: c.Amount}
		if c.Node != cluster.NoNode {
			r.Node = q.Index.Node(c.Node).Name
		}
		if c.Kind == nearest.Budget || c.Kind == nearest.Limit {
			r.Name = q.boundName(c.Bound)
		}
		words[i] = r
	}
	slices.SortStableFunc(words, func(a, b Relaxation) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return words
}

// nearest tells what would have to change; nil if that is not known.
func (q *question) nearest(at string, list []nearest.Change) *Nearest {
	if list == nil {
		return nil
	}
	return &Nearest{at, q.relaxations(list)}
}

// nearest is what would have to change for a lone pod to get in.
func (s *podAnswer) nearest() *Nearest {
	again := func(list []nearest.Change) (*nearest.Pod, func()) {
		c, p, err := s.relax(list)
		if err != nil {
			return nil, nil
		}
		q, err := c.newQuestion(p)
		if err != nil {
			return nil, nil
		}
		search := q.searchPod()
		return nearest.NewPod(q.Question, search.Search, nil), search.Close
	}
	at, list := nearest.NewPod(s.Question, s.Search, again).Nearest()
	if list == nil {
		return nil
	}
	return s.question.nearest(s.Index.Node(at).Name, list)
}

// nearest is what would have to change for a gang to get in: it knows hard budgets and
// limits.
func (s *gangAnswer) nearest() *Nearest {
	if s.Hard == nil && s.Limits == nil || s.c.probe || s.NoBounds {
		return nil
	}
	rounds, err := s.levels()
	if err != nil {
		return nil
	}
	at := ""
	list := nearest.OfGang(s.Question, rounds, func(list []nearest.Change) bool {
		c, p, err := s.relax(list)
		if err != nil {
			return false
		}
		r, err := c.preempt(p)
		if err != nil || r.Verdict != Feasible && r.Verdict != Fits {
			return false
		}
		at = r.Domain
		return true
	})
	return s.question.nearest(at, list)
}

// relax compiles the question with relaxations made. Its answer does not tell what
// would help.
func (q *question) relax(changes []nearest.Change) (*compiled, Preemptor, error) {
	objects, p, o := q.Index.Objects(), q.asked.preemptor(), q.c.options
	o.Explain, o.Candidates = false, false
	list := q.relaxations(changes)
	objects.Nodes, objects.Budgets = slices.Clone(objects.Nodes), slices.Clone(objects.Budgets)
	for _, r := range list {
		for i, node := range objects.Nodes {
			if node.Name == r.Node {
				objects.Nodes[i] = relaxedNode(node, r)
			}
		}
		for i := range objects.Budgets {
			if b := &objects.Budgets[i]; r.Kind == RelaxBudget && b.Namespace+"/"+b.Name == r.Name {
				b.Allowed = int32(min(checked.Add(int64(b.Allowed), r.Amount), math.MaxInt32))
			}
		}
		o.Limits = o.Limits.raised(r)
	}
	p.Placement = nil
	if q.Tree != nil && q.Given != nil {
		p.Placement = map[string]string{}
		for _, a := range q.Given {
			pod := q.Members[a.Member].Pod
			p.Placement[key(pod.Namespace, pod.Name)] = q.Index.Node(a.Node).Name
		}
	}
	if q.Tree == nil { // where it is given its place, it says so itself: its RequiredNode, which may be relaxed
		pod := *q.Members[0].Pod
		for _, r := range list {
			relaxPod(&pod, r)
		}
		if q.asked.Inline != nil {
			p.Pods = []Pod{pod}
		}
		objects.Pods = slices.Clone(objects.Pods)
		for i, other := range objects.Pods {
			if q.asked.Inline == nil && other.Namespace == pod.Namespace && other.Name == pod.Name {
				objects.Pods[i] = &pod
			}
		}
	}
	c, err := o.compile(objects, q.c.quota)
	if err != nil {
		return nil, p, err
	}
	c.rules, c.probe, c.spent = q.c.rules, true, q.c.spent
	c.settings.Checks, c.settings.MembersWait = q.Checks, q.MembersWait
	c.limits = o.limits(c.ix, c.spent)
	return c, p, nil
}

// raised is l with a limit raised as r says, if it is about one.
func (l Limits) raised(r Relaxation) Limits {
	if r.Kind != RelaxLimit {
		return l
	}
	for name, limit := range map[string]*int64{
		"victims": &l.Victims, "victims in the window": &l.Window.Victims,
		"pods": &l.Pods, "pods in the window": &l.Window.Pods,
		"cost": &l.Cost, "cost in the window": &l.Window.Cost,
	} {
		if name == r.Name {
			*limit = checked.Add(*limit, r.Amount)
		}
	}
	return l
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
		n.Allocatable[r.Name] = checked.Add(n.Allocatable[r.Name], r.Amount)
	case RelaxTaint:
		n.Taints = slices.DeleteFunc(slices.Clone(n.Taints), func(t cluster.Taint) bool { return t.String() == r.Name })
	case RelaxCordon:
		n.Unschedulable = false
		n.Taints = slices.DeleteFunc(slices.Clone(n.Taints), func(t cluster.Taint) bool { return t.Key == cluster.TaintUnschedulable })
	}
	return &n
}
