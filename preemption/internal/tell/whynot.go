package tell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/queued"
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
	if s.Best.Node == cluster.NoNode {
		return &answer.Why{Text: left}
	}
	liked := cmp.Compare(s.Search.Liking(&s.Best), s.Search.Liking(&c))
	if cmp.Or(s.CompareScores(&c.Score, &s.Best.Score), liked, cmp.Compare(n, s.Best.Node)) < 0 {
		return &answer.Why{Text: left}
	}
	if why := s.disruptsMore(c.Score, s.Best.Score, "on "+name, "on "+r.Domain); why != nil {
		return why
	}
	rank := "whose name comes first"
	if liked != 0 {
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

// whyNot answers about a node or a unit for a preemptor that needs quota and a place.
func (s *QueueSearch) whyNot(target answer.Target) (*answer.Why, error) {
	s.Search.Note = true
	return s.whyNotOf(s, target)
}

func (s *QueueSearch) whyNotNode(r *answer.Result, n cluster.NodeID) *answer.Why {
	if why := s.whyNotAt(r, n, r.Verdict == answer.Feasible || r.Verdict == answer.Infeasible); why != nil {
		return why
	}
	name := s.Index.Node(n).Name
	var ruled *queued.Try
	for i := range s.Search.Tries {
		t := &s.Search.Tries[i]
		if !slices.Contains(t.Domain.Nodes, n) {
			continue
		}
		if t.Plan != nil {
			return s.whyNotPlan(r, t, name)
		}
		ruled = t
	}
	if ruled != nil {
		return &answer.Why{Text: fmt.Sprintf("in %s with flavor %s preemption does not help: %s", ruled.Domain.Name, s.flavorNames(ruled.Offer), s.rejection(ruled.Rejection))}
	}
	if !s.Search.Quota {
		return &answer.Why{Text: "nothing goes anywhere: " + r.Message}
	}
	return &answer.Why{Text: fmt.Sprintf("%s was not tried: no flavor that the queue has enough quota of is for it, or an earlier one helps elsewhere", name)}
}

// whyNotPlan tells why the plan of t, whose domain has the node of that name, is not
// the answer.
func (s *QueueSearch) whyNotPlan(r *answer.Result, t *queued.Try, name string) *answer.Why {
	if t.Domain.Name == r.Domain {
		return &answer.Why{Text: fmt.Sprintf("the placement that disrupts least in %s does without %s", r.Domain, name)}
	}
	if why := s.disruptsMore(t.Plan.Score, s.Search.Best.Score, "in "+t.Domain.Name, "in "+r.Domain); why != nil {
		return why
	}
	if t.Plan.Level != s.Search.Best.Level {
		return &answer.Why{Criterion: "borrowing", Text: fmt.Sprintf("evictions in %s help, but it borrows from %d levels up, %d in %s",
			t.Domain.Name, t.Plan.Level, s.Search.Best.Level, r.Domain)}
	}
	rank := "which comes first"
	if t.Plan.Liking != s.Search.Best.Liking {
		rank = "which is preferred"
	}
	return &answer.Why{Text: fmt.Sprintf("%s is as good as %s, %s", t.Domain.Name, r.Domain, rank)}
}

func (s *QueueSearch) whyNotUnit(r *answer.Result, u victims.UnitID) *answer.Why {
	name := s.UnitName(u)
	switch {
	case r.Verdict != answer.Feasible && r.Verdict != answer.Infeasible:
		return &answer.Why{Text: "nobody is a victim: " + r.Message}
	case s.Search.Best != nil && slices.Contains(s.Search.Best.Units, u):
		return &answer.Why{Chosen: true, Text: name + " is a victim"}
	}
	held := s.reservationOf(u)
	switch {
	case held == nil && !s.May(u, s.Claim):
		return s.whyKept(u, s.Kept(u, s.Claim))
	case held != nil && slices.ContainsFunc(s.Model.Pods.Of[held], s.Search.Guards):
		return &answer.Why{Text: name + " may not go: a guard keeps it"}
	case held != nil:
		if text := s.quotaKeeps(held); text != "" {
			return &answer.Why{Text: name + " may not go: " + text}
		}
	}
	if r.Verdict == answer.Infeasible {
		return &answer.Why{Text: name + " may go, but that does not help: " + r.Message}
	}
	return &answer.Why{Text: fmt.Sprintf("%s may stay: the preemptor fits in %s with it", name, r.Domain)}
}

// reservationOf returns the quota that a pod of unit u holds; nil if none does.
func (s *QueueSearch) reservationOf(u victims.UnitID) *quota.Reservation {
	for _, p := range s.Units.Unit(u).Pods {
		if r := s.Model.Pods.Holds[p]; r != nil && s.Index.NodeOf(p) != cluster.NoNode {
			return r
		}
	}
	return nil
}

// quotaKeeps says what keeps r from going, for the flavors of the answer or else for
// the first that could be had; empty if nothing does.
func (s *QueueSearch) quotaKeeps(r *quota.Reservation) string {
	if len(s.Search.Offers) == 0 {
		return ""
	}
	o := &s.Search.Offers[0]
	if s.Search.Best != nil {
		o = s.Search.Best.Offer
	}
	qs := s.Search.Usage()
	defer s.Model.Keep(qs)
	return keptText(s.Model, s.Search.Workload, s.Search.Queue, qs.Keeps(s.Search.Ask(o), r), r)
}

// whyNotWorkload tells why a workload that holds quota is not a victim of p.
func whyNotWorkload(c *live.Cluster, m *workload.Model, p cluster.Preemptor, target answer.Target, a Caller) (*answer.Why, error) {
	if target.Unit == "" {
		return nil, unknownTarget("Node", target.Node, "empty: a workload asks for quota, not for a node")
	}
	m.Mu.RLock()
	defer m.Mu.RUnlock()
	w, err := m.Find(p)
	if err != nil {
		return nil, err
	}
	namespace, name, found := strings.Cut(target.Unit, "/")
	if !found {
		namespace, name = "", target.Unit
	}
	r := m.Held(namespace, name)
	if r == nil || words.Key(namespace, name) != target.Unit {
		return nil, unknownTarget("Unit", target.Unit, "a workload that holds quota, as namespace/name")
	}
	q, refused, err := m.QueueOf(w)
	if err != nil {
		return nil, err
	}
	if refused != workload.NotRefused {
		return &answer.Why{Text: "nobody is evicted: " + RefusalText(m, w, refused)}, nil
	}
	return whyNotHolder(m, w, q, Objective(c, a), r), nil
}

// whyNotHolder tells why r is not among the victims of workload w of queue q.
func whyNotHolder(m *workload.Model, w *cluster.Workload, q quota.HolderID, o workload.Objective, r *quota.Reservation) *answer.Why {
	p := m.Plan(w, q, o, true)
	name := words.Key(r.Workload.Namespace, r.Workload.Name)
	if slices.ContainsFunc(p.Victims, func(v workload.Victim) bool { return v.Reservation == r }) {
		return &answer.Why{Chosen: true, Text: name + " is a victim"}
	}
	if r := tellPlan(m, w, q, p); r.Verdict != answer.Feasible && !(r.Verdict == answer.Infeasible && p.Possible) {
		return &answer.Why{Text: "nobody is a victim: " + r.Message}
	}
	if text := keptText(m, w, q, m.Kept(w, q, p, r), r); text != "" {
		return &answer.Why{Text: name + " may not go: " + text}
	}
	var last *workload.Step
	for i := range p.Steps {
		if p.Steps[i].Reservation == r {
			last = &p.Steps[i]
		}
	}
	switch {
	case p.Least != nil && len(p.Victims) > 0:
		return &answer.Why{Text: name + " may stay: the preemptor fits once others have gone, and no less disruption was found"}
	case last != nil && last.Decision == quotasearch.Returned:
		return &answer.Why{Text: name + " may stay: the preemptor fits with it"}
	case last != nil:
		return &answer.Why{Text: name + " may go, but that does not help: even with all who may gone the preemptor does not fit"}
	case len(p.Victims) > 0:
		return &answer.Why{Text: name + " may stay: others go before it, and that is enough"}
	}
	return &answer.Why{Text: name + " may not go any more once others have: its queue, or a cohort around it, is back within its quota or share"}
}

// keptText says what keeps r from going, in words; empty if nothing does.
func keptText(m *workload.Model, w *cluster.Workload, q quota.HolderID, kept quotasearch.Kept, r *quota.Reservation) string {
	queue, own := m.Index.Name(r.Queue), &m.Index.Queue(q).Preemption
	policy := func(field string, p cluster.QueuePolicy) string {
		if p == "" {
			p = cluster.QueueNever
		}
		return fmt.Sprintf("%s of queue %s is %s, its priority is %d and the preemptor's %d", field, m.Index.Name(q), p, r.Priority, int64(w.Priority)+int64(w.Boost))
	}
	switch kept {
	case quotasearch.Unused:
		return "it uses nothing of what is short"
	case quotasearch.Gone:
		if m.Pods.Partial[r] {
			return "pods that go with it hold other quota, or none"
		}
		return "it leaves for another preemptor already"
	case quotasearch.Inactive:
		return "its queue " + queue + " is inactive: " + m.Index.Inactive(r.Queue)
	case quotasearch.Apart:
		return "its queue " + queue + " has no cohort in common with " + m.Index.Name(q)
	case quotasearch.OwnPolicy:
		return policy("withinClusterQueue", own.WithinClusterQueue)
	case quotasearch.OtherPolicy:
		return policy("reclaimWithinCohort", own.ReclaimWithinCohort)
	case quotasearch.Nominal:
		return "its queue " + queue + " does not borrow what is short"
	}
	return ""
}
