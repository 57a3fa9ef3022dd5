package tell

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/preemption/internal/gang"
)

// parallelVictims is from how many victims on goroutines pay: below a tenth of a
// millisecond there is nothing to share.
const parallelVictims = 4000

// telling spells out the victims of a plan that was counted, each with the check that its
// return fails, which is a matter of its node.
type telling struct {
	*Inquiry
	list  []answer.Victim
	pods  []answer.VictimPod
	names []string // of budgets, of which victims have parts
}

func (s *gangAnswer) tellCounted(p *gang.Plan) []answer.Victim {
	t := &telling{Inquiry: s.Inquiry, list: make([]answer.Victim, len(p.Victims)), pods: make([]answer.VictimPod, len(p.Victims))}
	s.Count(len(p.Victims))
	at := p.Counted.ByNode()
	covers := 0
	for _, u := range p.Victims {
		covers += len(s.Budgets.Of(s.Units.Unit(u).Pods[0]))
	}
	if covers > 0 {
		for b := range cluster.BudgetID(s.Index.NumBudgets()) {
			s.budgetName(b) // known from now on, to whoever asks
		}
	}
	const parts = 16
	workers := min(cmp.Or(s.Goroutines, runtime.GOMAXPROCS(0)), parts)
	if len(at) < parallelVictims {
		workers = 1
	}
	ranges.Take(parts, workers, func(_, i int) {
		part := *t
		part.names = make([]string, 0, covers/parts)
		first, end := len(at)*i/parts, len(at)*(i+1)/parts
		for loss, i := range at[first:end] {
			part.victim(p, i, p.Counted.Short(first+loss))
		}
	})
	return t.list
}

// victim spells out the i-th victim of p.
func (t *telling) victim(p *gang.Plan, i int32, why columns.Shortage) {
	u := p.Victims[i]
	unit, v := t.Units.Unit(u), &t.list[i]
	id := unit.Pods[0]
	pod := t.Index.Pod(id)
	v.Priority, v.Violates = unit.Priority, p.Charged[i] > 0
	if unit.Group == cluster.NoGroup {
		v.Kind, v.Namespace, v.Name = cluster.KindPod, pod.Namespace, pod.Name
	} else {
		g := t.Index.Group(unit.Group)
		v.Kind, v.Namespace, v.Name, v.Mode = g.Kind, g.Namespace, g.Name, g.Mode
	}
	v.Pods = t.pods[i : i+1 : i+1]
	at := &v.Pods[0]
	at.Namespace, at.Name, at.Node = pod.Namespace, pod.Name, pod.Node
	at.Priority, at.Started = unit.Priority, pod.Started
	if !why.Alone {
		v.Reason.Node = pod.Node
		if why.Resource != domain.NoResource {
			v.Reason.Check, v.Reason.Resource, v.Reason.Missing = domain.CheckResource, t.Index.Resource(why.Resource), why.Missing
		}
	}
	if ids := t.budgetNamesOf(id); len(ids) > 0 {
		v.Budgets = ids
	}
}

// budgetNamesOf names the budgets that cover a pod, in order.
func (t *telling) budgetNamesOf(p cluster.PodID) []string {
	from := len(t.names)
	for _, b := range t.Budgets.Of(p) {
		t.names = append(t.names, t.budgetName(b))
	}
	names := t.names[from:len(t.names):len(t.names)]
	slices.Sort(names)
	return slices.Compact(names)
}
