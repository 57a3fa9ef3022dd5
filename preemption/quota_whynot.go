package preemption

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
)

// whyNotWorkload tells why a workload that holds quota is not a victim of p.
func (m *quotaModel) whyNotWorkload(p Preemptor, target Target) (*Why, error) {
	if target.Unit == "" {
		return nil, unknownTarget("Node", target.Node, "empty: a workload asks for quota, not for a node")
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	w, err := m.findWorkload(p)
	if err != nil {
		return nil, err
	}
	r := m.reservation(target.Unit)
	if r == nil {
		return nil, unknownTarget("Unit", target.Unit, "a workload that holds quota, as namespace/name")
	}
	q, refused, err := m.queueOf(w)
	if err != nil {
		return nil, err
	}
	if refused != "" {
		return &Why{Text: "nobody is evicted: " + refused}, nil
	}
	a := m.assigner(w, q)
	defer m.keep(a.quotaSearch)
	out, list := a.decide()
	return a.whyNot(out, list, r), nil
}

// reservation returns what the workload of that namespace/name holds, nil if nothing.
func (m *quotaModel) reservation(name string) *cluster.Reservation {
	is := func(r *cluster.Reservation) bool { return key(r.Workload.Namespace, r.Workload.Name) == name }
	if m.live == nil {
		if i := slices.IndexFunc(m.ix.Reservations(), is); i >= 0 {
			return m.ix.Reservations()[i]
		}
		return nil
	}
	var found *cluster.Reservation
	m.live.jobs.Ascend(func(j *quotaJob) bool {
		if j.r != nil && is(j.r) {
			found = j.r
		}
		return found == nil
	})
	return found
}

// whyNot tells why r is not among list.
func (a *assigner) whyNot(out *assignment, list []reprieve.QuotaVictim, r *cluster.Reservation) *Why {
	name := key(r.Workload.Namespace, r.Workload.Name)
	if slices.ContainsFunc(list, func(v reprieve.QuotaVictim) bool { return v.Reservation == r }) {
		return &Why{Chosen: true, Text: name + " is a victim"}
	}
	if answer := a.result(out, list, a.full()); answer.Verdict != Feasible && !(answer.Verdict == Infeasible && out.possible) {
		return &Why{Text: "nobody is a victim: " + answer.Message}
	}
	question := a.question(out.question())
	if text := a.keptText(a.search.Keeps(&question, r), r, &question); text != "" {
		return &Why{Text: name + " may not go: " + text}
	}
	var last *Step
	a.watch(out, func(step Step, at *cluster.Reservation) {
		if at == r {
			last = &step
		}
	})
	switch {
	case last != nil && last.Action == ActionReturn:
		return &Why{Text: name + " may stay: the preemptor fits with it"}
	case last != nil:
		return &Why{Text: name + " may go, but that does not help: even with all who may gone the preemptor does not fit"}
	case len(list) > 0:
		return &Why{Text: name + " may stay: others go before it, and that is enough"}
	}
	return &Why{Text: name + " may not go any more once others have: its queue, or a cohort around it, is back within its quota or share"}
}

// keptText says what keeps r from going, in words; empty if nothing does.
func (a *assigner) keptText(kept reprieve.QuotaKept, r *cluster.Reservation, q *reprieve.QuotaQuestion) string {
	queue, own := a.ix.Name(r.Queue), &a.ix.Queue(a.queue).Preemption
	policy := func(field string, p cluster.QueuePolicy) string {
		if p == "" {
			p = cluster.QueueNever
		}
		return fmt.Sprintf("%s of queue %s is %s, its priority is %d and the preemptor's %d", field, a.ix.Name(a.queue), p, r.Priority, q.Priority)
	}
	switch kept {
	case reprieve.QuotaUnused:
		return "it uses nothing of what is short"
	case reprieve.QuotaGone:
		return "it leaves for another preemptor already"
	case reprieve.QuotaInactive:
		return "its queue " + queue + " is inactive: " + a.ix.Inactive(r.Queue)
	case reprieve.QuotaApart:
		return "its queue " + queue + " has no cohort in common with " + a.ix.Name(a.queue)
	case reprieve.QuotaOwnPolicy:
		return policy("withinClusterQueue", own.WithinClusterQueue)
	case reprieve.QuotaOtherPolicy:
		return policy("reclaimWithinCohort", own.ReclaimWithinCohort)
	case reprieve.QuotaNominal:
		return "its queue " + queue + " does not borrow what is short"
	}
	return ""
}
