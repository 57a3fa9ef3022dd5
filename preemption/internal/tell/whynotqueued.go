package tell

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/queued"
	"github.com/preempt-go/preempt/victims"
)

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
	return &answer.Why{Text: fmt.Sprintf("%s is as good as %s, which comes first", t.Domain.Name, r.Domain)}
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
