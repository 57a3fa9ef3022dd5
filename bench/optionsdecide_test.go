package bench_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkOptions decides about a pod of a shape that is known, under options that say who
// is kept, what evictions cost, or who comes first, or where pods are nominated to 200 nodes:
// again, or once a pod or the time has changed, which counts, too.
func BenchmarkOptions(b *testing.B) {
	work := disruption.Tariff{Work: map[string]disruption.Rate{cluster.CPU: {Price: 1}}}
	suits := func(*preemption.Pod, *cluster.Node) bool { return true }
	for _, c := range []struct {
		name string
		o    preemption.Options
	}{
		{"none", preemption.Options{}},
		{"nominated", preemption.Options{}},
		{"guaranteed", preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}}},
		{"criterion", preemption.Options{Cost: preemption.CostOptions{Tariff: work, Criterion: 1}}},
		{"importance", preemption.Options{Cost: preemption.CostOptions{Tariff: work, Importance: true}}},
		{"movable", preemption.Options{PreferMovable: true}},
		{"objective", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionPods, preemption.CriterionOverruns}}},
		{"limits", preemption.Options{Limits: preemption.Limits{Pods: 3}}},
		{"filter", preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}, Hooks: &preemption.Hooks{Filter: suits}}},
	} {
		for _, nodes := range []int{100, 5_000} {
			if testing.Short() && nodes > 100 {
				continue
			}
			for _, after := range []string{"nothing", "pod", "tick"} {
				b.Run(fmt.Sprintf("option=%s/after=%s/nodes=%d/pods=%d", c.name, after, nodes, 30*nodes), func(b *testing.B) {
					snap := gen.Fleet(nodes, 30, seed, gen.Uniform)
					pl, err := preemption.NewPlanner(&snap, c.o)
					l := &changed{pl, b, snap, snap.Time}
					l.must(err)
					for i := 0; i < min(nodes, 200) && c.name == "nominated"; i++ {
						p := gen.FleetPod(uint64(i)).Pods[0]
						p.Name, p.NominatedNode = fmt.Sprint("nominated-", i), l.node(i).Name
						l.must(pl.SetPod(p))
					}
					change := func(int) {}
					if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == after }); i >= 0 {
						change = func(turn int) { kinds[i].change(l, turn) }
					}
					p := gen.FleetPod(1)
					decide := func() {
						_, err := pl.Decide(p)
						l.must(err)
					}
					for i := range 30 { // the first questions look at all nodes
						change(i)
						decide()
					}
					b.ReportAllocs()
					for i := 30; b.Loop(); i++ {
						change(i)
						decide()
					}
				})
			}
		}
	}
}
