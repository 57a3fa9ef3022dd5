package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
)

// BenchmarkGangSearch: a gang of equal members in a full cluster, by how hard the least
// disruption is looked for. In the tied fleet all pods have one priority.
func BenchmarkGangSearch(b *testing.B) {
	shapes := []struct {
		members int
		cpu     int64
	}{{32, 8_000}, {512, 8_000}, {512, 16_000}, {512, 4_000}}
	if testing.Short() {
		shapes = shapes[:1]
	}
	for _, fleet := range []struct {
		name  string
		shape gen.Shape
	}{{"uniform", gen.Uniform}, {"tied", gen.Tied}} {
		snap := gen.Fleet(5_000, 30, seed, fleet.shape)
		for _, g := range shapes {
			for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
				b.Run(fmt.Sprintf("fleet=%s/members=%d/cpu=%d/search=%s", fleet.name, g.members, g.cpu, search), func(b *testing.B) {
					pl, err := preemption.NewPlanner(&snap, preemption.Options{Search: search})
					if err != nil {
						b.Fatal(err)
					}
					p := gang(g.members, g.cpu)
					optimal, pods := 0, 0
					for b.Loop() {
						r := mustPreempt(b, pl, p)
						if r.Optimal {
							optimal++
						}
						for _, v := range r.Victims {
							pods += len(v.Pods)
						}
					}
					b.ReportMetric(float64(optimal)/float64(b.N), "optimal/op")
					b.ReportMetric(float64(pods)/float64(b.N), "victims/op")
				})
			}
		}
	}
}
