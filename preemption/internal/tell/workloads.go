package tell

import (
	"fmt"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// preemptWorkload answers for a workload, and warns of what does not reach it.
func preemptWorkload(c *live.Cluster, m *workload.Model, p cluster.Preemptor, a Caller) (*answer.Result, error) {
	m.Mu.RLock()
	defer m.Mu.RUnlock()
	w, err := m.Find(p)
	if err != nil {
		return nil, err
	}
	q, refused, err := m.QueueOf(w)
	if err != nil {
		return nil, err
	}
	var r *answer.Result
	if refused != workload.NotRefused {
		r = &answer.Result{Verdict: answer.NotEligible, Message: RefusalText(m, w, refused), Warnings: live.Few(m.Warnings())}
	} else {
		o := Objective(c, a)
		o.Prove = c.Ask.Proof && !c.Ask.Hooks
		plan := m.Plan(w, q, o, c.Ask.Trace)
		r = tellPlan(m, w, q, plan)
		if c.Ask.Trace {
			r.Trace = tracePlan(m, w, q, plan)
		}
	}
	r.Preemptor = AskedByWorkload(p)
	var ws []cluster.Warning
	for _, option := range c.Settings.Unheeded {
		ws = append(ws, cluster.Warning{
			Kind: cluster.KindWorkload, Namespace: r.Preemptor.Namespace, Name: r.Preemptor.Name, Field: "Options", Value: option,
			Text: "about pods: it does not bound what a workload evicts",
		})
	}
	for _, criterion := range c.Settings.Uncounted {
		ws = append(ws, cluster.Warning{
			Kind: cluster.KindWorkload, Namespace: r.Preemptor.Namespace, Name: r.Preemptor.Name, Field: "Options.Objective", Value: criterion,
			Text: "about nodes and budgets: it is 0 of what a workload evicts",
		})
	}
	if c.Settings.Strict && len(ws) > 0 {
		return nil, live.AsErrors(ws)
	}
	if len(ws) > 0 {
		r.Warnings = append(r.Warnings, ws...)
	}
	return r, nil
}

// Objective is what the options say of the least disruption.
func Objective(c *live.Cluster, a Caller) workload.Objective {
	o := &c.Ask
	return workload.Objective{Ranking: o.Ranking, Compare: o.Compare, Effort: o.Effort, Steps: o.NumSteps(), Cost: c.Settings.Worth.Cost, Poll: a.Poll}
}

// leastOf tells of a plan with victims how much they disrupt, and how far that is from the least, with the proof.
func leastOf(m *workload.Model, r *answer.Result, l *workload.Least) {
	names, values := l.Ranking.Criteria(), l.Ranking.Values(l.Score)
	for i, c := range names {
		r.Score = append(r.Score, answer.Criterion{Name: string(c), Value: values[i]})
	}
	r.Cost = l.Score.Cost
	r.Optimal = l.Optimal
	for i, v := range l.Known() {
		r.Bound = append(r.Bound, answer.Criterion{Name: string(names[i]), Value: v})
	}
	if l.Shown != nil {
		r.Proof = tellShown(m, l.Shown, r.Score)
	}
}

// tracePlan tells how flavors were chosen for workload w of queue q, who was taken out for
// them, who came back and why not the others.
func tracePlan(m *workload.Model, w *cluster.Workload, q quota.HolderID, p *workload.Plan) []answer.DomainTrace {
	var steps []answer.Step
	for _, o := range p.Objections {
		steps = append(steps, answer.Step{Action: answer.ActionReject, Text: Objection(m, o)})
	}
	for _, t := range p.Taken {
		text := fmt.Sprintf("pod set %s takes %d %s of flavor %s", w.PodSets[t.Set].Name, t.Amount, t.Resource, FlavorOf(m, t.Column))
		if t.Contested {
			text += ", which others have to leave"
		}
		steps = append(steps, answer.Step{Action: answer.ActionFlavor, Text: text})
	}
	for _, s := range p.Steps {
		steps = append(steps, quotaStep(m, s))
	}
	switch {
	case len(p.Victims) > 0 && p.Least != nil && p.Least.Instead:
		steps = append(steps, answer.Step{Action: answer.ActionChoose, Text: are(len(p.Victims), "workload") + " evicted instead, whose going disrupts less"})
	case len(p.Victims) > 0:
		steps = append(steps, answer.Step{Action: answer.ActionChoose, Text: are(len(p.Victims), "workload") + " evicted"})
	case p.Fits:
		steps = append(steps, answer.Step{Action: answer.ActionChoose, Text: "nobody has to go"})
	}
	return []answer.DomainTrace{{Domain: m.Index.Name(q), Steps: steps}}
}

// quotaStep puts a decision into words.
func quotaStep(m *workload.Model, s workload.Step) answer.Step {
	r := s.Reservation
	if r == nil {
		if s.Borrow {
			return answer.Step{Action: answer.ActionAttempt, Text: "its queue may borrow"}
		}
		return answer.Step{Action: answer.ActionAttempt, Text: "its queue must not borrow"}
	}
	name := words.Key(r.Workload.Namespace, r.Workload.Name)
	switch s.Decision {
	case quotasearch.Taken:
		return answer.Step{Action: answer.ActionPotential, Unit: name, Text: fmt.Sprintf("%s of queue %s goes", name, m.Index.Name(r.Queue))}
	case quotasearch.Returned:
		return answer.Step{Action: answer.ActionReturn, Unit: name, Text: name + " comes back"}
	}
	why := lacking(m, s.Lack)
	return answer.Step{Action: answer.ActionKeepOut, Unit: name, Reason: &why, Text: fmt.Sprintf("%s stays out: %s", name, why)}
}
