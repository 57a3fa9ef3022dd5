package preemption

import (
	"fmt"
	"math"
	"slices"

	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// least looks for relaxations of which no part helps, and none helps with less.
type least struct {
	// ask reports whether the preemptor gets in with a list of relaxations, and what of
	// them it needs then, at most what was given.
	ask func([]Relaxation) ([]Relaxation, bool)

	present int32 // the preemptor's priority
	left    int   // how often ask may be asked; 0: as often as it takes
	known   map[string]answer
}

type answer struct {
	need []Relaxation
	in   bool
}

// mostAsks is how often the whole question is asked again to find out what would help.
const mostAsks = 100

// find returns the least of list that does; ok is false if not even all of it does, or
// that can't be told within the asks that are left.
func (l *least) find(list []Relaxation) (need []Relaxation, ok bool) {
	if len(list) == 0 {
		return nil, false // it was refused as things are
	}
	if need, ok = l.in(list); !ok {
		return nil, false
	}
	for {
		before := textOf(need)
		need = l.lower(l.drop(need))
		if textOf(need) == before {
			return need, l.left >= 0
		}
	}
}

// mostParts is how many relaxations are looked at in every combination.
const mostParts = 4

// smallest is find for what need not help more the more there is of it: the fewest of
// list that help come first.
func (l *least) smallest(list []Relaxation) (need []Relaxation, ok bool) {
	for size := 1; size < len(list) && len(list) <= mostParts; size++ {
		for set := range uint(1) << len(list) {
			var part []Relaxation
			for i, r := range list {
				if set>>i&1 == 1 {
					part = append(part, r)
				}
			}
			if len(part) != size {
				continue
			}
			if _, in := l.in(part); in {
				return l.find(part)
			}
		}
	}
	return l.find(list)
}

// in is ask, about what was not asked before.
func (l *least) in(list []Relaxation) ([]Relaxation, bool) {
	if l.known == nil {
		l.known = map[string]answer{}
		if l.left == 0 {
			l.left = math.MaxInt
		}
	}
	name := textOf(list)
	a, ok := l.known[name]
	if !ok {
		if l.left--; l.left >= 0 {
			a.need, a.in = l.ask(list)
		}
		l.known[name] = a
	}
	return a.need, a.in
}

func textOf(list []Relaxation) string { return fmt.Sprint(list) }

// drop leaves out what is not needed.
func (l *least) drop(list []Relaxation) []Relaxation {
	for i := 0; i < len(list) && len(list) > 1; { // without the last one it is the question that was refused
		if fewer, in := l.in(slices.Delete(slices.Clone(list), i, i+1)); in && len(fewer) > 0 {
			list = fewer
		} else {
			i++
		}
	}
	return list
}

// lower makes each amount as small as it may be.
func (l *least) lower(list []Relaxation) []Relaxation {
	for i := 0; i < len(list); i++ {
		low := int64(0) // it does not do with so much
		if list[i].Kind == RelaxPriority {
			low = int64(l.present)
		}
		for try := list[i].Amount - 1; i < len(list) && try > low; {
			less := slices.Clone(list)
			less[i].Amount = try
			if need, in := l.in(less); in && len(need) == len(list) {
				list = need
			} else {
				low = try
			}
			try = low + (list[i].Amount-low)/2
		}
	}
	return list
}

// asking returns what asks q again with relaxations made; it notes at where the
// preemptor would go.
func (q *question) asking(at *string) func([]Relaxation) ([]Relaxation, bool) {
	return func(list []Relaxation) ([]Relaxation, bool) {
		c, p, err := q.relax(list)
		if err != nil {
			return nil, false
		}
		r, err := c.preempt(p)
		if err != nil || !r.in() {
			return nil, false
		}
		*at = r.Domain
		return list, true
	}
}

// in reports whether the preemptor gets in.
func (r *Result) in() bool { return r.Verdict == Feasible || r.Verdict == Fits }

// relax compiles the question with relaxations made. Its answer does not tell what
// would help.
func (q *question) relax(list []Relaxation) (*compiled, Preemptor, error) {
	objects, p, o := q.Index.Objects(), q.asked.preemptor(), q.c.options
	o.Explain, o.Candidates = false, false
	objects.Nodes, objects.Budgets = slices.Clone(objects.Nodes), slices.Clone(objects.Budgets)
	for _, r := range list {
		for i, node := range objects.Nodes {
			if node.Name == r.Node {
				objects.Nodes[i] = relaxedNode(node, r)
			}
		}
		for i := range objects.Budgets {
			if b := &objects.Budgets[i]; r.Kind == RelaxBudget && b.Namespace+"/"+b.Name == r.Name {
				b.Allowed = int32(min(ask.Raise(int64(b.Allowed), r.Amount), math.MaxInt32))
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
			*limit = ask.Add(*limit, r.Amount)
		}
	}
	return l
}
