package tell

import (
	"cmp"
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/ports"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/nearest"
)

// kindsOfChanges are the kinds of changes as relaxations have them.
var kindsOfChanges = [...]answer.RelaxationKind{
	nearest.Resource: answer.RelaxResource, nearest.Taint: answer.RelaxTaint, nearest.Cordon: answer.RelaxCordon, nearest.Selector: answer.RelaxSelector,
	nearest.NodeName: answer.RelaxNodeName, nearest.Port: answer.RelaxPort, nearest.Priority: answer.RelaxPriority, nearest.Budget: answer.RelaxBudget, nearest.Limit: answer.RelaxLimit,
	nearest.MinCount: answer.RelaxMinCount,
}

// relaxations is list in words.
func (q *Inquiry) relaxations(list []nearest.Change) []answer.Relaxation {
	words := make([]answer.Relaxation, len(list))
	for i, c := range list {
		r := answer.Relaxation{Kind: kindsOfChanges[c.Kind], Name: c.Name, Amount: c.Amount}
		if c.Node != cluster.NoNode {
			r.Node = q.Index.Node(c.Node).Name
		}
		if c.Kind == nearest.Budget || c.Kind == nearest.Limit {
			r.Name = q.BoundName(c.Bound)
		}
		words[i] = r
	}
	slices.SortStableFunc(words, func(a, b answer.Relaxation) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return words
}

// nearest tells what would have to change; nil if that is not known.
func (q *Inquiry) nearest(at string, list []nearest.Change, unproved bool) *answer.Nearest {
	if list == nil {
		return nil
	}
	return &answer.Nearest{Domain: at, Relaxations: q.relaxations(list), Unproved: unproved}
}

// nearest is what would have to change for a lone pod to get in.
func (s *podAnswer) nearest() *answer.Nearest {
	again := func(list []nearest.Change) (*nearest.Pod, func()) {
		c, p, err := s.relax(list)
		if err != nil {
			return nil, nil
		}
		q, err := Read(c, p, s.caller.silent())
		if err != nil {
			return nil, nil
		}
		search := q.SearchPod()
		return nearest.NewPod(q.Question, search.Search, nil, nil), search.Close
	}
	pod := nearest.NewPod(s.Question, s.Search, again, s.admits)
	at, list := pod.Nearest()
	if list == nil {
		return nil
	}
	return s.Inquiry.nearest(s.Index.Node(at).Name, list, pod.Unproved)
}

// admits reports whether the user's filter lets the pod onto node n once changes are made.
func (q *Inquiry) admits(n cluster.NodeID, list []nearest.Change) bool {
	pod, node := *q.Members[0].Pod, q.Index.Node(n)
	for _, c := range list {
		relaxPod(&pod, c)
		if c.Node == n {
			node = relaxedNode(node, c)
		}
	}
	return q.Filter(domain.FilterView(&pod), node)
}

// nearest is what would have to change for a gang to get in; whoever asks why not is not told.
func (s *gangAnswer) nearest() *answer.Nearest {
	if s.Cluster.Probe || s.caller.Plan || s.NoBounds || s.Each {
		return nil
	}
	asked := 0
	if n := s.wider(&asked); n != nil || !s.Trace {
		return n
	}
	at := ""
	list, unproved := nearest.Otherwise(s.Question, &asked, func(change nearest.Change) (in, proved bool) {
		again := s.otherwise(change, &asked)
		if again.in {
			at = again.at
		}
		return again.in, again.proved
	})
	return s.Inquiry.nearest(at, list, unproved)
}

// again is what a question with changes made comes to.
type again struct {
	at         string     // the domain where the gang gets in
	plan       *gang.Plan // how, if its victims are known
	in, proved bool       // whether it does, and if not whether that is proved
}

// otherwise asks the gang's question with a change of what it asks for, and tells whether it
// gets in, and where. How often that asks about a member on a node is added to asked.
func (s *gangAnswer) otherwise(change nearest.Change, asked *int) again {
	return s.asks(asked, func(q *Inquiry, settings *ask.Settings) {
		switch change.Kind {
		case nearest.Priority:
			q.Priority, settings.UniformMembers = int32(change.Amount), false // members rise with their group
		case nearest.MinCount:
			q.Tree.Min -= int(change.Amount)
		}
	})
}

// within asks it under limits that are wider, at whatever cost. Who would find another place is the same then.
func (s *gangAnswer) within(wider []nearest.Change, asked *int) again {
	return s.asks(asked, func(q *Inquiry, settings *ask.Settings) {
		q.Limits = slices.Clone(q.Limits)
		for _, c := range wider {
			for i := range q.Limits {
				if b := &q.Limits[i]; b.Of == c.Bound.Of && b.Window == c.Bound.Window {
					b.Left = checked.Add(b.Left, c.Amount)
				}
			}
		}
		q.Traits &^= q.Cluster.Ask.Traits()
		settings.Effort, settings.Ranking = ask.Greedy, s.Cluster.Settings.Unranked
		q.Traits |= settings.Traits()
		q.ShareFates(s.Question)
	})
}

// asks asks the gang's question as change makes it.
func (s *gangAnswer) asks(asked *int, change func(q *Inquiry, settings *ask.Settings)) again {
	q, err := newBriefAs(s.Cluster, Again(s.asked), s.caller.silent(), func(q *Inquiry) {
		settings := *q.Settings
		settings.Trace, settings.Candidates, settings.Effort, settings.Asked = false, false, ask.Greedy, asked
		q.Settings, q.Traits = &settings, q.Traits&^(ask.TraitTrace|ask.TraitCandidates)
		change(q, &settings)
	})
	if err != nil {
		return again{}
	}
	g := q.CountGang()
	g.Brief = true
	told := toldBy(g.Answer())
	g.Close() // not where a hook panics
	if p := g.Search.Best; told.in && p != nil && len(p.Victims) > 0 {
		told.plan = p
	}
	return told
}

// toldBy is what an answer tells.
func toldBy(r *answer.Result, err error) again {
	if err != nil {
		return again{}
	}
	if !r.Verdict.IsPlan() {
		return again{proved: r.Stats.Exact}
	}
	return again{at: r.Domain, in: true}
}

// wider tells which hard budgets and limits would have to be wider. How often that asks about
// a member on a node is added to asked.
func (s *gangAnswer) wider(asked *int) *answer.Nearest {
	if s.Hard == nil && s.Limits == nil {
		return nil
	}
	rounds, err := s.Levels()
	if err != nil {
		return nil
	}
	ofBudget := func(c nearest.Change) bool { return c.Kind == nearest.Budget }
	at := ""
	list, unproved := nearest.OfGang(s.Question, rounds, asked, func(list []nearest.Change) (*gang.Plan, bool, bool) {
		told := again{}
		if s.Queue() == "" && !slices.ContainsFunc(list, ofBudget) { // the cluster is as it is
			told = s.within(list, asked)
		} else if c, who, err := s.relax(list); err == nil {
			c.Ask.Asked = asked
			told = letsIn(c, who, s.caller.silent())
		}
		if told.in {
			at = told.at
		}
		return told.plan, told.in, told.proved
	})
	if list != nil && s.Steps > 0 { // who looks for any set finds one with fewer than who looks for the least
		told := again{}
		if c, who, err := s.relax(list); err == nil {
			told = letsIn(c, who, s.caller.silent())
		}
		if at = told.at; !told.in {
			return nil
		}
	}
	return s.Inquiry.nearest(at, list, unproved)
}

// letsIn answers a question with relaxations made.
func letsIn(c *live.Cluster, p cluster.Preemptor, a Caller) again {
	r, _, err := Answer(c, p, c.Quota, a)
	return toldBy(r, err)
}

// relax compiles the question with relaxations made. Its answer does not tell what
// would help.
func (q *Inquiry) relax(changes []nearest.Change) (*live.Cluster, cluster.Preemptor, error) {
	objects, p, o := q.Index.Objects(), Again(q.asked), *q.Cluster.Settings
	o.Ask.Trace, o.Ask.Candidates, o.Ask.Proof = false, false, false
	o.Ask.Effort, o.Ask.Ranking = ask.Greedy, o.Unranked // whether it gets in is asked, not at whose cost
	objects.Nodes, objects.Budgets = slices.Clone(objects.Nodes), slices.Clone(objects.Budgets)
	for _, c := range changes {
		switch {
		case c.Kind == nearest.Budget:
			of := q.Index.Budget(c.Bound.Budget)
			for i := range objects.Budgets {
				if b := &objects.Budgets[i]; b.Namespace == of.Namespace && b.Name == of.Name {
					b.Allowed = int32(min(checked.Add(int64(b.Allowed), c.Amount), math.MaxInt32))
				}
			}
		case c.Kind == nearest.Limit:
			limit := o.Limits.Of(c.Bound)
			*limit = checked.Add(*limit, c.Amount)
		case c.Node != cluster.NoNode:
			at := q.Index.Node(c.Node).Name
			i := slices.IndexFunc(objects.Nodes, func(n *cluster.Node) bool { return n.Name == at })
			objects.Nodes[i] = relaxedNode(objects.Nodes[i], c)
		}
	}
	p.Placement = nil
	if q.Tree != nil && q.Given != nil {
		p.Placement = map[string]string{}
		for _, a := range q.Given {
			pod := q.Members[a.Member].Pod
			p.Placement[words.Key(pod.Namespace, pod.Name)] = q.Index.Node(a.Node).Name
		}
	}
	if q.Tree == nil { // where it is given its place, it says so itself: its RequiredNode, which may be relaxed
		pod := *q.Members[0].Pod
		for _, c := range changes {
			relaxPod(&pod, c)
		}
		if q.asked.Inline != nil {
			p.Pods = []cluster.Pod{pod}
		}
		objects.Pods = slices.Clone(objects.Pods)
		for i, other := range objects.Pods {
			if q.asked.Inline == nil && other.Namespace == pod.Namespace && other.Name == pod.Name {
				objects.Pods[i] = &pod
			}
		}
	}
	c, err := live.New(&o, objects, q.Cluster.Quota)
	if err != nil {
		return nil, p, err
	}
	c.Probe = true
	c.Ask.Checks, c.Ask.MembersWait, c.Ask.OneByOne = q.Checks, q.MembersWait, q.OneByOne
	c.SetSpent(q.Cluster.Spent)
	return c, p, nil
}

// relaxPod makes a change that is about the preemptor.
func relaxPod(pod *cluster.Pod, c nearest.Change) {
	switch c.Kind {
	case nearest.Selector:
		pod.NodeSelector, pod.NodeAffinity = nil, nil
	case nearest.NodeName:
		pod.RequiredNode = ""
	case nearest.Port:
		pod.Ports = slices.DeleteFunc(slices.Clone(pod.Ports), func(p cluster.HostPort) bool { return ports.Name(p) == c.Name })
	case nearest.Priority:
		raised := int32(c.Amount)
		pod.Priority = &raised
	}
}

// relaxedNode is a copy of a node with a change made that is about it.
func relaxedNode(node *cluster.Node, c nearest.Change) *cluster.Node {
	n := *node
	switch c.Kind {
	case nearest.Resource:
		n.Allocatable = cluster.Resources{}
		for name, v := range node.Allocatable {
			n.Allocatable[name] = v
		}
		n.Allocatable[c.Name] = checked.Add(n.Allocatable[c.Name], c.Amount)
	case nearest.Taint:
		n.Taints = slices.DeleteFunc(slices.Clone(n.Taints), func(t cluster.Taint) bool { return t.String() == c.Name })
	case nearest.Cordon:
		n.Unschedulable = false
		n.Taints = slices.DeleteFunc(slices.Clone(n.Taints), func(t cluster.Taint) bool { return t.Key == cluster.TaintUnschedulable })
	}
	return &n
}
