//go:build !race

// The race detector empties pools at random.

package preemption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// remembered are options under which what was found on each node is remembered.
var remembered = map[string]preemption.Options{
	"guaranteed":   {Guards: preemption.Guards{GuaranteedSeconds: 60}},
	"equals":       {Guards: preemption.Guards{EqualAfterSeconds: 60}},
	"criterion":    {Cost: preemption.CostOptions{Tariff: disruption.Tariff{Pods: 1}, Criterion: 1}},
	"importance":   {Cost: preemption.CostOptions{Tariff: disruption.Tariff{Pods: 1}, Importance: true}},
	"objective":    {Objective: []preemption.CriterionName{victims.CriterionPods, victims.CriterionOverruns}},
	"movable":      {PreferMovable: true},
	"apart":        {PreemptionPriority: preemption.PreemptionPriority{Apart: true}},
	"lowest level": {LowestLevel: true},
	"hard budgets": {HardBudgets: preemption.HardBudgets{All: true}},
	"limits":       {Limits: preemption.Limits{Pods: 3}},
	"filter":       {Guards: preemption.Guards{GuaranteedSeconds: 60}, Hooks: &preemption.Hooks{Filter: func(*preemption.Pod, *preemption.Node) bool { return true }}},
	"colocation":   {Hooks: &preemption.Hooks{Constraints: []domain.Constraint{crowded{}.rule()}}},
	"exact":        {Search: preemption.Exact, Limits: preemption.Limits{Pods: 3}},
	"all told":     {Guards: preemption.Guards{GuaranteedSeconds: 60}, Candidates: true, Explain: true, Prefer: preemption.LeastAllocated},
}

// crowded is a rule about pods of one template: at most three of them share a node.
type crowded struct{}

func (crowded) rule() domain.Colocation {
	return domain.Colocation{Check: "crowded", Monotone: true, Allows: func(p *preemption.Pod, _ *preemption.Node, others []*preemption.Pod) bool {
		alike := 0
		for _, o := range others {
			if o.Labels["app"] == p.Labels["app"] {
				alike++
			}
		}
		return alike < 3
	}}
}

// TestDecideAgainUnderOptionsAllocatesNothing: it is a lookup of what was remembered, and
// what another road comes to.
func TestDecideAgainUnderOptionsAllocatesNothing(t *testing.T) {
	for name, o := range remembered {
		t.Run(name, func(t *testing.T) {
			snap := gen.Fleet(100, 30, 1, gen.Uniform)
			pl, err := preemption.NewPlanner(&snap, o)
			require.NoError(t, err)
			p := gen.FleetPod(1)
			p.Pods[0].Ports = []cluster.HostPort{{Port: 80}}
			decidesAlike(t, pl, p)
			require.Zero(t, testing.AllocsPerRun(100, func() {
				if d, err := pl.Decide(p); err != nil || d.Verdict != preemption.Feasible {
					t.Fatal(d, err)
				}
			}))
		})
	}
}

// TestDecideAgainAllocatesNothing: a shape that was asked about before, by name or
// inline.
func TestDecideAgainAllocatesNothing(t *testing.T) {
	snap := gen.Fleet(100, 30, 1, gen.Uniform)
	p := gen.FleetPod(1)
	snap.Pods = append(snap.Pods, p.Pods[0])
	pl, err := preemption.NewPlanner(&snap, preemption.Options{})
	require.NoError(t, err)
	named := preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Pods[0].Namespace, Name: p.Pods[0].Name}
	p.Pods[0].Name = "another"
	for _, p := range []preemption.Preemptor{named, p} {
		decidesAlike(t, pl, p)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if d, err := pl.Decide(p); err != nil || d.Verdict != preemption.Feasible {
				t.Fatal(d, err)
			}
		}))
	}
}

// TestWhoAsksForNoProofPaysForNone: an answer that is told again takes no more memory in 400 nodes than in 50,
// whether evictions help or not, as it did before there were proofs; a proof is looked for in every node.
func TestWhoAsksForNoProofPaysForNone(t *testing.T) {
	preemption.Answered(nil) // who looks over the answers allocates
	defer preemption.Answered(verified)
	for _, of := range []struct {
		verdict preemption.Verdict
		times   int64 // as large as a pod of the fleet
		most    float64
	}{{preemption.Feasible, 1, 26}, {preemption.Infeasible, 40, 38}} {
		for _, nodes := range []int{50, 400} {
			allocs := func(o preemption.Options) float64 {
				snap := gen.Fleet(nodes, 30, 1, gen.Uniform)
				p := gen.FleetPod(1)
				for name := range p.Pods[0].Requests {
					p.Pods[0].Requests[name] *= of.times
				}
				pl, err := preemption.NewPlanner(&snap, o)
				require.NoError(t, err)
				require.NoError(t, pl.Tune(1, 512, 0))
				return testing.AllocsPerRun(20, func() {
					if r, err := pl.Preempt(p); err != nil || r.Verdict != of.verdict || o.Proof != (r.Proof != nil) {
						t.Fatal(r, err)
					}
				})
			}
			require.LessOrEqual(t, allocs(preemption.Options{}), of.most, "%s in %d nodes", of.verdict, nodes)
			require.Greater(t, allocs(preemption.Options{Proof: true}), of.most, "%s in %d nodes", of.verdict, nodes)
		}
	}
}

// TestAQuotaVictimCostsNoAllocation: with ten times the victims a few buffers more are
// read, and nothing is allocated for each.
func TestAQuotaVictimCostsNoAllocation(t *testing.T) {
	preemption.Answered(nil) // who looks over the answers allocates
	defer preemption.Answered(verified)
	for _, l := range []quotaLayout{
		{name: "classical-own", own: true}, {name: "classical-reclaim"},
		{name: "fair-own", own: true, fair: true}, {name: "fair-nominal", fair: true}, {name: "fair-borrowing", fair: true, weight: 20},
	} {
		allocs := func(victims int64) float64 {
			l.victims = victims
			s, o := quotaFleet(l, 2000)
			pl, err := preemption.NewPlanner(s, o)
			require.NoError(t, err)
			return testing.AllocsPerRun(20, func() {
				r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in"})
				require.NoError(t, err)
				require.Len(t, r.Victims, int(victims))
			})
		}
		require.Less(t, allocs(500)-allocs(50), 60.0, l.name)
	}
}
