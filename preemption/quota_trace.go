package preemption

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/reprieve"
)

// ActionFlavor is the action of a [Step] that chooses a flavor for a pod set of a
// workload, ActionAttempt of one that says how victims are looked for.
const (
	ActionFlavor  = "flavor"
	ActionAttempt = "attempt"
)

// tracePlan tells how flavors were chosen for workload w of queue q, who was taken out for
// them, who came back and why not the others.
func tracePlan(m *workload.Model, w *Workload, q cluster.QuotaID, p *workload.Plan) []DomainTrace {
	var steps []Step
	for _, o := range p.Objections {
		steps = append(steps, Step{Action: ActionReject, Text: objection(m, o)})
	}
	for _, t := range p.Taken {
		text := fmt.Sprintf("pod set %s takes %d %s of flavor %s", w.PodSets[t.Set].Name, t.Amount, t.Resource, flavorOf(m, t.Column))
		if t.Contested {
			text += ", which others have to leave"
		}
		steps = append(steps, Step{Action: ActionFlavor, Text: text})
	}
	for _, s := range p.Steps {
		steps = append(steps, quotaStep(m, s))
	}
	switch {
	case len(p.Victims) > 0:
		steps = append(steps, Step{Action: ActionChoose, Text: are(len(p.Victims), "workload") + " evicted"})
	case p.Fits:
		steps = append(steps, Step{Action: ActionChoose, Text: "nobody has to go"})
	}
	return []DomainTrace{{Domain: m.Index.Name(q), Steps: steps}}
}

// quotaStep puts a decision into words.
func quotaStep(m *workload.Model, s workload.Step) Step {
	r := s.Reservation
	if r == nil {
		if s.Borrow {
			return Step{Action: ActionAttempt, Text: "its queue may borrow"}
		}
		return Step{Action: ActionAttempt, Text: "its queue must not borrow"}
	}
	name := key(r.Workload.Namespace, r.Workload.Name)
	switch s.Decision {
	case reprieve.QuotaTaken:
		return Step{Action: ActionPotential, Unit: name, Text: fmt.Sprintf("%s of queue %s goes", name, m.Index.Name(r.Queue))}
	case reprieve.QuotaReturned:
		return Step{Action: ActionReturn, Unit: name, Text: name + " comes back"}
	}
	why := lacking(m, s.Lack)
	return Step{Action: ActionKeepOut, Unit: name, Reason: &why, Text: fmt.Sprintf("%s stays out: %s", name, why)}
}
