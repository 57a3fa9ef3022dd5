package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
)

// telling spells out the victims of a plan, each with the check that its return
// fails, which is a matter of its node.
type telling struct {
	*slotSearch
	list  []Victim
	pods  []VictimPod
	names []string // of budgets, of which victims have parts
}

func (f *slotSearch) tell(p *plan) []Victim {
	t := &telling{slotSearch: f, list: make([]Victim, len(p.victims)), pods: make([]VictimPod, len(p.victims))}
	f.counted += len(p.victims)
	losses := p.losses.list
	at := make([]int32, len(losses)) // by number of the loss: which victim it is
	covers := 0
	for i, loss := range losses {
		at[loss.Mark>>1] = int32(i)
		covers += len(f.budgets.Of(f.units.Unit(loss.Unit).Pods[0]))
	}
	if covers > 0 {
		for b := range cluster.BudgetID(f.ix.NumBudgets()) {
			f.budgetName(b) // known from now on, to whoever asks
		}
	}
	const parts = 16
	f.share(parts, len(at) >= parallelVictims, func(_ *slotTools, i int) {
		part := *t
		part.names = make([]string, 0, covers/parts)
		first, end := len(at)*i/parts, len(at)*(i+1)/parts
		for loss, i := range at[first:end] { // node by node, as their pods lie in memory
			part.victim(p, i, p.losses.short[first+loss])
		}
	})
	return t.list
}

// victim spells out the i-th victim of p.
func (t *telling) victim(p *plan, i int32, why columns.Shortage) {
	u := p.victims[i]
	unit, v := t.units.Unit(u), &t.list[i]
	id := unit.Pods[0]
	pod := t.ix.Pod(id)
	v.Priority, v.Violates = unit.Priority, p.charged[i] > 0
	if unit.Group == cluster.NoGroup {
		v.Kind, v.Namespace, v.Name = cluster.KindPod, pod.Namespace, pod.Name
	} else {
		g := t.ix.Group(unit.Group)
		v.Kind, v.Namespace, v.Name, v.Mode = g.Kind, g.Namespace, g.Name, g.Mode
	}
	v.Pods = t.pods[i : i+1 : i+1]
	at := &v.Pods[0]
	at.Namespace, at.Name, at.Node = pod.Namespace, pod.Name, pod.Node
	at.Priority, at.Started = unit.Priority, pod.Started
	if !why.Alone {
		v.Reason.Node = pod.Node
		if why.Resource != domain.NoResource {
			v.Reason.Check, v.Reason.Resource, v.Reason.Missing = domain.CheckResource, t.ix.Resource(why.Resource), why.Missing
		}
	}
	if ids := t.budgetNamesOf(id); len(ids) > 0 {
		v.Budgets = ids
	}
}

// budgetNamesOf names the budgets that cover a pod, in order.
func (t *telling) budgetNamesOf(p cluster.PodID) []string {
	from := len(t.names)
	for _, b := range t.budgets.Of(p) {
		t.names = append(t.names, t.budgetName(b))
	}
	names := t.names[from:len(t.names):len(t.names)]
	slices.Sort(names)
	return slices.Compact(names)
}
