package tell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

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
	return whyNotHolder(m, w, q, objectiveOf(c, a), r), nil
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
