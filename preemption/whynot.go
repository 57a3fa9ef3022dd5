package preemption

import (
	"context"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

// NodeTarget asks why the preemptor does not go to that node.
func NodeTarget(name string) Target { return Target{Node: name} }

// UnitTarget asks why that unit, namespace/name, is not a victim.
func UnitTarget(name string) Target { return Target{Unit: name} }

// WhyNot forces the branch of the decision that leads to target, and tells the
// first thing that speaks against it. For a workload a unit is another one that holds
// quota. Errors are those of [Planner.Preempt] and a [*cluster.FieldError] for a target
// that the snapshot does not have, for one that is not either a node or a unit, and for
// a node where a workload asks.
func (pl *Planner) WhyNot(p Preemptor, target Target) (*Why, error) {
	return pl.WhyNotContext(context.Background(), p, target)
}

// WhyNotContext is WhyNot that is stopped as [Planner.PreemptContext] is.
func (pl *Planner) WhyNotContext(ctx context.Context, p Preemptor, target Target) (why *Why, err error) {
	defer caughtAnswer(&why, &err)
	a := pl.options.asks(ctx, "WhyNot", &p)
	defer func() {
		if why != nil || err != nil {
			a.end(PhaseTell, "", 0, 0, err)
		}
	}()
	defer caught(&err)
	if (target.Node == "") == (target.Unit == "") {
		return nil, &cluster.FieldError{
			Kind: "Target", Field: "Unit", Value: words.Quoted(target.Unit), Want: "set where Node is not, and only there",
		}
	}
	if err := a.stopped(); err != nil {
		return nil, err
	}
	now, err := pl.hold()
	if err != nil {
		return nil, err
	}
	defer now.release()
	a.passed(PhaseCompile)
	c, quota := now.ready, now.quota
	if p.Kind == cluster.KindWorkload {
		quota, err := c.Queued.On(c.Index, quota)
		if err != nil {
			return nil, err
		}
		return whyNotWorkload(quota, p, target)
	}
	q, err := newQuestion(c, p, a)
	if err != nil {
		return nil, err
	}
	if queue := q.queue(); queue != "" {
		quota, err := c.Queued.On(c.Index, quota)
		if err != nil {
			return nil, err
		}
		return newQueueSearch(q, quota, queue).whyNot(target)
	}
	if q.Tree != nil {
		return q.searchGang().whyNot(target)
	}
	s := q.searchPod()
	why, err = s.whyNot(target)
	s.Close()
	return why, err
}

// whyNot answers about a node or a unit.
func (s *podAnswer) whyNot(target Target) (*Why, error) {
	n, u, err := s.find(target)
	if err != nil {
		return nil, err
	}
	s.Each = true
	if n != cluster.NoNode {
		return s.whyNotNode(s.tell(s.Run()), n), nil
	}
	return s.whyNotUnit(s.tell(s.Run()), u), nil
}

// searching is a search for a gang, or for quota and a place.
type searching interface {
	run() (*Result, error)
	whyNotNode(r *Result, n cluster.NodeID) *Why
	whyNotUnit(r *Result, u victims.UnitID) *Why
}

// whyNotOf lets s, the search for q's preemptor, answer about a node or a unit.
func (q *question) whyNotOf(s searching, target Target) (*Why, error) {
	n, u, err := q.find(target)
	if err != nil {
		return nil, err
	}
	r, err := s.run()
	if err != nil {
		return nil, err
	}
	if n != cluster.NoNode {
		return s.whyNotNode(r, n), nil
	}
	return s.whyNotUnit(r, u), nil
}

// find returns the node of target, or NoNode and its unit.
func (q *question) find(target Target) (cluster.NodeID, victims.UnitID, error) {
	if target.Node != "" {
		n := q.Index.NodeByName(target.Node)
		if n == cluster.NoNode {
			return n, 0, unknownTarget("Node", target.Node, "a node of the snapshot")
		}
		return n, 0, nil
	}
	u, ok := q.findUnit(target.Unit)
	if !ok {
		return cluster.NoNode, 0, unknownTarget("Unit", target.Unit, "a running pod or All group of the snapshot, as namespace/name")
	}
	return cluster.NoNode, u, nil
}

// whyNotAt tells why node n is not where answer r lets several members go, as far as that
// is no matter of the domain: it is, nobody was looked for, or it is not for a member. nil
// if it is a matter of the domain.
func (q *question) whyNotAt(r *Result, n cluster.NodeID, searched bool) *Why {
	name := q.Index.Node(n).Name
	if slices.ContainsFunc(r.Nominations, func(x Nomination) bool { return x.Node == name }) {
		return &Why{Chosen: true, Text: name + " is chosen: " + r.Message}
	}
	if !searched {
		return &Why{Text: otherwise(r)}
	}
	for _, m := range q.Members {
		if why := m.Static(q.Index.Node(n)); !why.OK() {
			reason := q.reason(n, m.Describe(q.Index, n, why))
			return &Why{Text: fmt.Sprintf("%s does not fit: %s", m.Pod.Name, reason), Reason: &reason}
		}
	}
	return nil
}

// disruptsMore tells by which criterion evictions here, of score mine, disrupt more than
// those there, of the answer; nil if by none.
func (q *question) disruptsMore(mine, best victims.Score, here, there string) *Why {
	b := q.criteria(best)
	for i, m := range q.criteria(mine) {
		if m.Value != b[i].Value {
			return &Why{Criterion: m.Name, Text: fmt.Sprintf("evictions %s help, but %s: %d against %d %s", here, m.Name, m.Value, b[i].Value, there)}
		}
	}
	return nil
}

// otherwise says of a node that is not in answer r, without victims, what is the case.
func otherwise(r *Result) string {
	if r.Verdict == Fits {
		return "it goes elsewhere: " + r.Message
	}
	return "nothing goes anywhere: " + r.Message
}

func unknownTarget(field, value, want string) error {
	return &cluster.FieldError{Kind: "Target", Name: value, Field: field, Value: words.Quoted(value), Want: want}
}

// findUnit returns the unit of that namespace/name.
func (q *question) findUnit(name string) (victims.UnitID, bool) {
	for p := range q.Index.Pods() {
		if u, ok := q.Units.UnitOf(p); ok && q.unitName(u) == name {
			return u, true
		}
	}
	for p := range q.Index.Pods() { // a pod of a unit of several
		if pod := q.Index.Pod(p); words.Key(pod.Namespace, pod.Name) == name {
			return q.Units.UnitOf(p)
		}
	}
	return 0, false
}

// whyNotNode tells why the answer r is not node n.
func (s *podAnswer) whyNotNode(r *Result, n cluster.NodeID) *Why {
	name := s.Index.Node(n).Name
	switch {
	case r.Domain == name:
		return &Why{Chosen: true, Text: name + " is chosen: " + r.Message}
	case r.Verdict == NotEligible || r.Verdict == Waiting:
		return &Why{Text: "nothing is evicted anywhere: " + r.Message}
	}
	const left = "it is not among the candidates that sampling left"
	if r.Verdict != Fits && s.Status[n].Check == ask.NotSampled { // where it fits, not all were looked at
		return &Why{Text: left}
	}
	s.Trial.Reset(n)
	why := s.Trial.Fits()
	switch {
	case r.Verdict == Fits && why.OK():
		return &Why{Text: fmt.Sprintf("it fits on %s too, but %s comes first", name, r.Domain)}
	case r.Verdict == Fits || why.Unresolvable:
		return s.fails(n, why, "as things are")
	}
	s.Unbounded = true
	c, why := s.Evaluate(n)
	if !why.OK() {
		return s.fails(n, why, "even with every potential victim gone")
	}
	if order := s.CompareScores(&c.Score, &s.Best.Score); s.Best.Node == cluster.NoNode || order < 0 || order == 0 && n < s.Best.Node {
		return &Why{Text: left}
	}
	if why := s.disruptsMore(c.Score, s.Best.Score, "on "+name, "on "+r.Domain); why != nil {
		return why
	}
	rank := "whose name comes first"
	if s.Search.Liking(&s.Best) != s.Search.Liking(&c) {
		rank = "which is preferred"
	}
	return &Why{Text: fmt.Sprintf("%s is as good as %s, %s", name, r.Domain, rank)}
}

func (s *podAnswer) fails(n cluster.NodeID, why domain.Reason, when string) *Why {
	reason := s.reason(n, why)
	text := fmt.Sprintf("it does not fit %s: %s", when, reason)
	if why.Check == ask.NoVictims {
		text = fmt.Sprintf("%s: %s", s.Index.Node(n).Name, s.rejection(why))
	}
	return &Why{Text: text, Reason: &reason}
}

// whyNotUnit tells why unit u is not among the victims of answer r.
func (s *podAnswer) whyNotUnit(r *Result, u victims.UnitID) *Why {
	name, unit := s.unitName(u), s.Units.Unit(u)
	if r.Verdict != Feasible && r.Verdict != Infeasible {
		return &Why{Text: "nobody is a victim: " + r.Message}
	}
	if !s.May(u, s.Claim) {
		return s.whyKept(u, s.Kept(u, s.Claim))
	}
	for _, v := range s.Best.Victims {
		if v == u {
			return &Why{Chosen: true, Text: name + " is a victim"}
		}
	}
	for _, p := range unit.Pods {
		n := s.Index.NodeOf(p)
		if n == cluster.NoNode {
			continue
		}
		if n == s.Best.Node {
			return &Why{Text: fmt.Sprintf("%s may stay: the preemptor fits on %s with it", name, s.Index.Node(n).Name)}
		}
		return s.whyNotNode(r, n)
	}
	return &Why{Text: name + " runs on a node that the snapshot does not have"}
}
