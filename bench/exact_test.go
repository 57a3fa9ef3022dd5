package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkSearch: a lone pod in a full cluster, by how hard the least disruption is looked
// for, by upstream's criteria or by the work that is lost.
func BenchmarkSearch(b *testing.B) {
	work := preemption.CostOptions{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{cluster.CPU: {Price: 1}}}}
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		for _, o := range []preemption.Options{
			{}, {Search: preemption.Improved}, {Search: preemption.Exact},
			{Cost: work, Objective: []preemption.CriterionName{preemption.CriterionOverruns, preemption.CriterionHighest, preemption.CriterionCost}},
			{Cost: work, Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionOverruns, preemption.CriterionHighest, preemption.CriterionCost}},
		} {
			criteria := "upstream"
			if len(o.Objective) > 0 {
				criteria = "work"
			}
			b.Run(fmt.Sprintf("criteria=%s/search=%s/nodes=%d/pods=%d", criteria, o.Search, s.nodes, s.pods), func(b *testing.B) {
				pl, err := preemption.NewPlanner(&snap, o)
				if err != nil {
					b.Fatal(err)
				}
				optimal, pods, i := 0, 0, uint64(0)
				for b.Loop() {
					r, err := pl.Preempt(gen.FleetPod(i))
					if err != nil || r.Verdict != preemption.Feasible {
						b.Fatal(r, err)
					}
					if r.Optimal {
						optimal++
					}
					for _, v := range r.Victims {
						pods += len(v.Pods)
					}
					i++
				}
				b.ReportMetric(float64(optimal)/float64(b.N), "optimal/op")
				b.ReportMetric(float64(pods)/float64(b.N), "victims/op")
			})
		}
	}
}
