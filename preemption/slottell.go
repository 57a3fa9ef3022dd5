package preemption

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// settleAll puts the victims of the plans that are told in order.
func (f *slotSearch) settleAll() {
	for i := range f.found {
		f.settle(&f.found[i])
	}
	if f.best != nil {
		f.settle(f.best)
	}
}

// settle makes the losses of p its victims, most important first.
func (f *slotSearch) settle(p *plan) {
	if !p.counted || p.victims != nil {
		return
	}
	if !p.sorted {
		f.tools.sorter.Sort(f.units, p.losses)
	}
	p.sorted = true
	p.victims, p.charged = make([]victims.UnitID, len(p.losses)), make([]int32, len(p.losses))
	for i, loss := range p.losses {
		p.victims[i], p.charged[i] = loss.Unit, loss.Mark&1
	}
}

// residue is what is left on a node where members go and victims leave.
type residue struct {
	node    cluster.NodeID
	free    []int64
	members bool
}

// telling spells out the victims of a plan, each with the check that its return
// fails, which is a matter of its node.
type telling struct {
	*slotSearch
	left  []residue
	frees []int64 // of which left has parts
	list  []Victim
	pods  []VictimPod
	names []string // of budgets, of which victims have parts
}

func (f *slotSearch) tell(p *plan) []Victim {
	t := &telling{slotSearch: f, list: make([]Victim, len(p.victims)), pods: make([]VictimPod, len(p.victims))}
	f.counted += len(p.victims)
	f.tools.at = grown(f.tools.at, f.ix.NumNodes())
	t.settleNodes(p)
	at := make([]int32, len(p.losses)) // by number of the loss: which victim it is
	covers := 0
	for i, loss := range p.losses {
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
		for _, i := range at[len(at)*i/parts : len(at)*(i+1)/parts] { // node by node, as their pods lie in memory
			part.victim(p, i)
		}
	})
	for _, r := range t.left {
		f.tools.at[r.node] = 0
	}
	return t.list
}

// settleNodes finds what is left on every node of p.
func (t *telling) settleNodes(p *plan) {
	request := t.member.Request()
	for _, a := range p.places {
		r := t.on(a.Node)
		r.members = true
		take(r.free, request, 1)
	}
	for _, u := range p.victims {
		pod := t.units.Unit(u).Pods[0]
		take(t.on(t.ix.NodeOf(pod)).free, t.ix.Request(pod), -1)
	}
}

// on returns what is left on node n.
func (t *telling) on(n cluster.NodeID) *residue {
	at := &t.tools.at[n]
	if *at == 0 {
		from := len(t.frees)
		t.frees = append(t.frees, t.ix.Free(n)...)
		r := residue{node: n, free: t.frees[from:len(t.frees):len(t.frees)]}
		if held := t.heldOn(n); held != nil {
			take(r.free, held, 1)
		}
		t.left = append(t.left, r)
		*at = int32(len(t.left))
	}
	return &t.left[*at-1]
}

// victim spells out the i-th victim of p.
func (t *telling) victim(p *plan, i int32) {
	u := p.victims[i]
	unit, v := t.units.Unit(u), &t.list[i]
	id := unit.Pods[0]
	pod, r := t.ix.Pod(id), t.on(t.ix.NodeOf(id))
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
	if r.members {
		v.Reason.Node = pod.Node
		t.misses(&v.Reason, r.free, t.ix.Request(id))
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

// misses says which resource members lack if a pod comes back to what is free.
func (t *telling) misses(why *Reason, free, request []int64) {
	for r, v := range t.member.Request() {
		if left := free[r] - request[r]; v > 0 && left < 0 {
			why.Check, why.Resource = domain.CheckResource, t.ix.Resource(cluster.ResourceID(r))
			why.Missing = -max(left, -math.MaxInt64)
			return
		}
	}
}
