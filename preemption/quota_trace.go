package preemption

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
)

// ActionFlavor is the action of a [Step] that chooses a flavor for a pod set of a
// workload, ActionAttempt of one that says how victims are looked for.
const (
	ActionFlavor  = "flavor"
	ActionAttempt = "attempt"
)

// trace tells how flavors were chosen, who was taken out for them, who came back and
// why not the others. The search is made once more, to be watched.
func (a *assigner) trace(out *assignment, list []reprieve.QuotaVictim) []DomainTrace {
	var steps []Step
	for _, why := range out.why {
		steps = append(steps, Step{Action: ActionReject, Text: why})
	}
	for _, as := range out.list {
		text := fmt.Sprintf("pod set %s takes %d %s of flavor %s", a.w.PodSets[as.set].Name, as.amount, as.resource,
			a.ix.FlavorName(a.ix.FlavorOf(as.column)))
		if as.mode != fitsNow {
			text += ", which others have to leave"
		}
		steps = append(steps, Step{Action: ActionFlavor, Text: text})
	}
	if out.possible && !out.fits && !a.patient {
		a.watch(out, func(step Step, _ *cluster.Reservation) { steps = append(steps, step) })
	}
	switch {
	case len(list) > 0:
		steps = append(steps, Step{Action: ActionChoose, Text: are(len(list), "workload") + " evicted"})
	case out.fits:
		steps = append(steps, Step{Action: ActionChoose, Text: "nobody has to go"})
	}
	return []DomainTrace{{Domain: a.ix.Name(a.queue), Steps: steps}}
}

// watch looks for the victims of an assignment again, and tells each decision.
func (a *assigner) watch(out *assignment, tell func(step Step, r *cluster.Reservation)) {
	request, contested := out.question()
	a.search.Attempt = func(borrow bool) {
		text := "its queue may borrow"
		if !borrow {
			text = "its queue must not borrow"
		}
		tell(Step{Action: ActionAttempt, Text: text}, nil)
	}
	a.search.Observe = func(r *cluster.Reservation, step reprieve.QuotaStep) { tell(a.step(r, step, request), r) }
	trials := a.search.Trials
	a.asked = false
	a.evict(request, contested)
	a.search.Attempt, a.search.Observe, a.search.Trials = nil, nil, trials
}

// step puts a decision about r into words.
func (a *assigner) step(r *cluster.Reservation, step reprieve.QuotaStep, request []cluster.ColumnAmount) Step {
	name := key(r.Workload.Namespace, r.Workload.Name)
	switch step {
	case reprieve.QuotaTaken:
		return Step{Action: ActionPotential, Unit: name, Text: fmt.Sprintf("%s of queue %s goes", name, a.ix.Name(r.Queue))}
	case reprieve.QuotaReturned:
		return Step{Action: ActionReturn, Unit: name, Text: name + " comes back"}
	}
	why := a.lack(request)
	return Step{Action: ActionKeepOut, Unit: name, Reason: &why, Text: fmt.Sprintf("%s stays out: %s", name, why)}
}
