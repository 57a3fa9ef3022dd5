package preemption

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/queued"
	"github.com/preempt-go/preempt/victims"
)

// whyNot answers about a node or a unit for a preemptor that needs quota and a place.
func (s *queueSearch) whyNot(target Target) (*Why, error) {
	s.search.Note = true
	return s.whyNotOf(s, target)
}

func (s *queueSearch) whyNotNode(r *Result, n cluster.NodeID) *Why {
	if why := s.whyNotAt(r, n, r.Verdict == Feasible || r.Verdict == Infeasible); why != nil {
		return why
	}
	name := s.Index.Node(n).Name
	var ruled *queued.Try
	for i := range s.search.Tries {
		t := &s.search.Tries[i]
		if !slices.Contains(t.Domain.Nodes, n) {
			continue
		}
		if t.Plan != nil {
			return s.whyNotPlan(r, t, name)
		}
		ruled = t
	}
	if ruled != nil {
		return &Why{Text: fmt.Sprintf("in %s with flavor %s preemption does not help: %s", ruled.Domain.Name, s.flavorNames(ruled.Offer), s.rejection(ruled.Rejection))}
	}
	if !s.search.Quota {
		return &Why{Text: "nothing goes anywhere: " + r.Message}
	}
	return &Why{Text: fmt.Sprintf("%s was not tried: no flavor that the queue has enough quota of is for it, or an earlier one helps elsewhere", name)}
}

// whyNotPlan tells why the plan of t, whose domain has the node of that name, is not
// the answer.
func (s *queueSearch) whyNotPlan(r *Result, t *queued.Try, name string) *Why {
	if t.Domain.Name == r.Domain {
		return &Why{Text: fmt.Sprintf("the placement that disrupts least in %s does without %s", r.Domain, name)}
	}
	if why := s.disruptsMore(t.Plan.Score, s.search.Best.Score, "in "+t.Domain.Name, "in "+r.Domain); why != nil {
		return why
	}
	if t.Plan.Level != s.search.Best.Level {
		return &Why{Criterion: "borrowing", Text: fmt.Sprintf("evictions in %s help, but it borrows from %d levels up, %d in %s",
			t.Domain.Name, t.Plan.Level, s.search.Best.Level, r.Domain)}
	}
	return &Why{Text: fmt.Sprintf("%s is as good as %s, which comes first", t.Domain.Name, r.Domain)}
}

func (s *queueSearch) whyNotUnit(r *Result, u victims.UnitID) *Why {
	name := s.unitName(u)
	switch {
	case r.Verdict != Feasible && r.Verdict != Infeasible:
		return &Why{Text: "nobody is a victim: " + r.Message}
	case s.search.Best != nil && slices.Contains(s.search.Best.Units, u):
		return &Why{Chosen: true, Text: name + " is a victim"}
	}
	held := s.reservationOf(u)
	switch {
	case held == nil && !s.May(u, s.Claim):
		return s.whyKept(u, s.Kept(u, s.Claim))
	case held != nil && slices.ContainsFunc(s.model.Pods.Of[held], s.search.Guards):
		return &Why{Text: name + " may not go: a guard keeps it"}
	case held != nil:
		if text := s.quotaKeeps(held); text != "" {
			return &Why{Text: name + " may not go: " + text}
		}
	}
	if r.Verdict == Infeasible {
		return &Why{Text: name + " may go, but that does not help: " + r.Message}
	}
	return &Why{Text: fmt.Sprintf("%s may stay: the preemptor fits in %s with it", name, r.Domain)}
}

// reservationOf returns the quota that a pod of unit u holds; nil if none does.
func (s *queueSearch) reservationOf(u victims.UnitID) *cluster.Reservation {
	for _, p := range s.Units.Unit(u).Pods {
		if r := s.model.Pods.Holds[p]; r != nil && s.Index.NodeOf(p) != cluster.NoNode {
			return r
		}
	}
	return nil
}

// quotaKeeps says what keeps r from going, for the flavors of the answer or else for
// the first that could be had; empty if nothing does.
func (s *queueSearch) quotaKeeps(r *cluster.Reservation) string {
	if len(s.search.Offers) == 0 {
		return ""
	}
	o := &s.search.Offers[0]
	if s.search.Best != nil {
		o = s.search.Best.Offer
	}
	qs := s.search.Usage()
	defer s.model.Keep(qs)
	return keptText(s.model, s.search.Workload, s.search.Queue, qs.Keeps(s.search.Ask(o), r), r)
}
