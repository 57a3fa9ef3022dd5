package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkOptions decides about a pod of a shape that was asked about before, under options
// that say who is kept, what evictions cost, or who comes first.
func BenchmarkOptions(b *testing.B) {
	work := disruption.Tariff{Work: map[string]disruption.Rate{cluster.CPU: {Price: 1}}}
	for _, c := range []struct {
		name string
		o    preemption.Options
	}{
		{"none", preemption.Options{}},
		{"guaranteed", preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}}},
		{"criterion", preemption.Options{Cost: preemption.CostOptions{Tariff: work, Criterion: 1}}},
		{"importance", preemption.Options{Cost: preemption.CostOptions{Tariff: work, Importance: true}}},
		{"movable", preemption.Options{PreferMovable: true}},
	} {
		for _, nodes := range []int{100, 5_000} {
			if testing.Short() && nodes > 100 {
				continue
			}
			b.Run(fmt.Sprintf("option=%s/nodes=%d/pods=%d", c.name, nodes, 30*nodes), func(b *testing.B) {
				snap := gen.Fleet(nodes, 30, seed, gen.Uniform)
				pl, err := preemption.NewPlanner(&snap, c.o)
				if err != nil {
					b.Fatal(err)
				}
				p := gen.FleetPod(1)
				for b.Loop() {
					if _, err := pl.Decide(p); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
