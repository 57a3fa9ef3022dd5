package proving

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Quota is a question in which workloads leave their quota to another one.
type Quota struct {
	Criteria []victims.Criterion
	Attempts []Attempt
	Poll     func() // nil: nobody asks
}

// Attempt is one of the ways to let workloads go.
type Attempt struct {
	Tenants []Tenant
	Rows    []QuotaRow
}

// Tenant is a workload that may go.
type Tenant struct {
	Has     []int64 // by criterion: what it adds to one that is a sum, not below zero; of the others nothing is read
	Highest int64   // of victims with it, the highest priority is at least this; the least int64 if it counts for nothing
	Started int64   // of those among whom it has the highest priority, the earliest start; likewise
}

// QuotaRow says that so much has to become free, and how much of it each of the tenants frees.
type QuotaRow struct {
	Need  int64
	Frees []int64
}

// ProveQuota shows that in no attempt tenants have less than bound who free what has to become free, or than as much of it
// as it can. An attempt is as a node is to a pod: its rows are resources, and its tenants' positions pods. O(attempts), each as a
// cover.Relax for a criterion, and at most casesInAll of these more.
func ProveQuota(of *Quota, bound []int64) Proof {
	p := &prover{poll: of.Poll, criteria: of.Criteria, known: len(bound), bound: slices.Clone(bound), left: casesInAll}
	if p.poll == nil {
		p.poll = func() {}
	}
	if p.overruns = slices.Index(p.criteria[:p.known], victims.CriterionOverruns); p.overruns < 0 {
		p.overruns = len(p.criteria)
	}
	var proof Proof
	for i := range of.Attempts {
		proof.Nodes = append(proof.Nodes, Nodes{Steps: p.node(of.Attempts[i].ground(p.known))})
	}
	proof.Bound = p.bound
	for i := range proof.Nodes {
		n := &proof.Nodes[i]
		n.Steps = slices.DeleteFunc(n.Steps, func(s Step) bool { return s.Criterion >= len(p.bound) })
	}
	return proof
}

// ground is that of an attempt, of whose tenants so many criteria are known.
func (a *Attempt) ground(known int) *ground {
	g := &ground{width: len(a.Tenants), has: make([]int64, known*len(a.Tenants)), excess: make([]int64, len(a.Tenants))}
	for i, t := range a.Tenants {
		g.items = append(g.items, item{pod: [1]cluster.PodID{cluster.PodID(i)}, single: true, highest: t.Highest, started: t.Started})
		for k, v := range t.Has[:known] {
			g.has[k*g.width+i] = v
		}
	}
	for r := range a.Rows {
		g.rows = append(g.rows, row{r, a.Rows[r].Need, a.Rows[r].Frees})
	}
	return g
}
