package tell

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/victims"
)

// WhyNot answers about target, with the quota as it is in m.
func WhyNot(c *live.Cluster, p cluster.Preemptor, m *workload.Model, target answer.Target, a Caller) (why *answer.Why, err error) {
	if p.Kind == cluster.KindWorkload {
		quota, err := c.Queued.On(c.Index, m)
		if err != nil {
			return nil, err
		}
		return whyNotWorkload(c, quota, p, target, a)
	}
	q, err := Read(c, p, a)
	if err != nil {
		return nil, err
	}
	if queue := q.Queue(); queue != "" {
		quota, err := c.Queued.On(c.Index, m)
		if err != nil {
			return nil, err
		}
		return NewQueueSearch(q, quota, queue).whyNot(target)
	}
	if q.Tree != nil {
		return q.SearchGang().whyNot(target)
	}
	s := q.SearchPod()
	why, err = s.whyNot(target)
	s.Close()
	return why, err
}

// whyNot answers about a node or a unit.
func (s *podAnswer) whyNot(target answer.Target) (*answer.Why, error) {
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
	Answer() (*answer.Result, error)
	whyNotNode(r *answer.Result, n cluster.NodeID) *answer.Why
	whyNotUnit(r *answer.Result, u victims.UnitID) *answer.Why
}

// whyNotOf lets s, the search for q's preemptor, answer about a node or a unit.
func (q *Inquiry) whyNotOf(s searching, target answer.Target) (*answer.Why, error) {
	n, u, err := q.find(target)
	if err != nil {
		return nil, err
	}
	r, err := s.Answer()
	if err != nil {
		return nil, err
	}
	if n != cluster.NoNode {
		return s.whyNotNode(r, n), nil
	}
	return s.whyNotUnit(r, u), nil
}

// find returns the node of target, or NoNode and its unit.
func (q *Inquiry) find(target answer.Target) (cluster.NodeID, victims.UnitID, error) {
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
func (q *Inquiry) whyNotAt(r *answer.Result, n cluster.NodeID, searched bool) *answer.Why {
	name := q.Index.Node(n).Name
	if slices.ContainsFunc(r.Nominations, func(x answer.Nomination) bool { return x.Node == name }) {
		return &answer.Why{Chosen: true, Text: name + " is chosen: " + r.Message}
	}
	if !searched {
		return &answer.Why{Text: otherwise(r)}
	}
	for _, m := range q.Members {
		if why := m.Static(q.Index.Node(n)); !why.OK() {
			reason := q.Reason(n, m.Describe(q.Index, n, why))
			return &answer.Why{Text: fmt.Sprintf("%s does not fit: %s", m.Pod.Name, reason), Reason: &reason}
		}
	}
	return nil
}

// disruptsMore tells by which criterion evictions here, of score mine, disrupt more than
// those there, of the answer; nil if by none.
func (q *Inquiry) disruptsMore(mine, best victims.Score, here, there string) *answer.Why {
	b := q.criteria(best)
	for i, m := range q.criteria(mine) {
		if m.Value != b[i].Value {
			return &answer.Why{Criterion: m.Name, Text: fmt.Sprintf("evictions %s help, but %s: %d against %d %s", here, m.Name, m.Value, b[i].Value, there)}
		}
	}
	return nil
}

// otherwise says of a node that is not in answer r, without victims, what is the case.
func otherwise(r *answer.Result) string {
	if r.Verdict == answer.Fits {
		return "it goes elsewhere: " + r.Message
	}
	return "nothing goes anywhere: " + r.Message
}

func unknownTarget(field, value, want string) error {
	return &cluster.FieldError{Kind: "Target", Name: value, Field: field, Value: words.Quoted(value), Want: want}
}

// findUnit returns the unit of that namespace/name.
func (q *Inquiry) findUnit(name string) (victims.UnitID, bool) {
	for p := range q.Index.Pods() {
		if u, ok := q.Units.UnitOf(p); ok && q.UnitName(u) == name {
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
func (s *podAnswer) whyNotNode(r *answer.Result, n cluster.NodeID) *answer.Why {
	name := s.Index.Node(n).Name
	switch {
	case r.Domain == name:
		return &answer.Why{Chosen: true, Text: name + " is chosen: " + r.Message}
	case r.Verdict == answer.NotEligible || r.Verdict == answer.Waiting:
		return &answer.Why{Text: "nothing is evicted anywhere: " + r.Message}
	}
	const left = "it is not among the candidates that sampling left"
	if r.Verdict != answer.Fits && s.Status[n].Check == ask.NotSampled { // where it fits, not all were looked at
		return &answer.Why{Text: left}
	}
	s.Trial.Reset(n)
	why := s.Trial.Fits()
	switch {
	case r.Verdict == answer.Fits && why.OK():
		return &answer.Why{Text: fmt.Sprintf("it fits on %s too, but %s comes first", name, r.Domain)}
	case r.Verdict == answer.Fits || why.Unresolvable:
		return s.fails(n, why, "as things are")
	}
	s.Unbounded = true
	c, why := s.Evaluate(n)
	if !why.OK() {
		return s.fails(n, why, "even with every potential victim gone")
	}
	if order := s.CompareScores(&c.Score, &s.Best.Score); s.Best.Node == cluster.NoNode || order < 0 || order == 0 && n < s.Best.Node {
		return &answer.Why{Text: left}
	}
	if why := s.disruptsMore(c.Score, s.Best.Score, "on "+name, "on "+r.Domain); why != nil {
		return why
	}
	rank := "whose name comes first"
	if s.Search.Liking(&s.Best) != s.Search.Liking(&c) {
		rank = "which is preferred"
	}
	return &answer.Why{Text: fmt.Sprintf("%s is as good as %s, %s", name, r.Domain, rank)}
}

func (s *podAnswer) fails(n cluster.NodeID, why domain.Reason, when string) *answer.Why {
	reason := s.Reason(n, why)
	text := fmt.Sprintf("it does not fit %s: %s", when, reason)
	if why.Check == ask.NoVictims {
		text = fmt.Sprintf("%s: %s", s.Index.Node(n).Name, s.rejection(why))
	}
	return &answer.Why{Text: text, Reason: &reason}
}

// whyNotUnit tells why unit u is not among the victims of answer r.
func (s *podAnswer) whyNotUnit(r *answer.Result, u victims.UnitID) *answer.Why {
	name, unit := s.UnitName(u), s.Units.Unit(u)
	if r.Verdict != answer.Feasible && r.Verdict != answer.Infeasible {
		return &answer.Why{Text: "nobody is a victim: " + r.Message}
	}
	if !s.May(u, s.Claim) {
		return s.whyKept(u, s.Kept(u, s.Claim))
	}
	for _, v := range s.Best.Victims {
		if v == u {
			return &answer.Why{Chosen: true, Text: name + " is a victim"}
		}
	}
	for _, p := range unit.Pods {
		n := s.Index.NodeOf(p)
		if n == cluster.NoNode {
			continue
		}
		if n == s.Best.Node {
			return &answer.Why{Text: fmt.Sprintf("%s may stay: the preemptor fits on %s with it", name, s.Index.Node(n).Name)}
		}
		return s.whyNotNode(r, n)
	}
	return &answer.Why{Text: name + " runs on a node that the snapshot does not have"}
}
