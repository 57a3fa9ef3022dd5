package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkGang is a question for a gang of equal pods, one for every ten nodes: of
// pods that take a node each, or of which several share one.
func BenchmarkGang(b *testing.B) {
	for _, g := range []struct {
		name     string
		cpuMilli int64
	}{{"whole-node", 64_000}, {"quarter-node", 16_000}} {
		for _, rules := range []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136} {
			for _, s := range sizes() {
				b.Run(fmt.Sprintf("case=%s/rules=%s/%s", g.name, rules, s), func(b *testing.B) {
					snap := gen.Fleet(s.nodes, s.pods/s.nodes, seed, gen.Uniform)
					members := s.nodes / 10
					p := gang(members, g.cpuMilli)
					planner, err := preemption.NewPlanner(&snap, preemption.Options{Rules: rules})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportAllocs()
					numVictims := 0
					for b.Loop() {
						r := mustPreempt(b, planner, p)
						if r.Verdict != preemption.Feasible || len(r.Nominations) != members {
							b.Fatalf("%s, %d of %d members with a place", r.Verdict, len(r.Nominations), members)
						}
						numVictims += len(r.Victims)
					}
					b.ReportMetric(float64(numVictims)/float64(b.N), "victims/op")
					b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(members), "ns/member")
				})
			}
		}
	}
}

// gang is a group of equal pods above every pod of a fleet.
func gang(members int, cpuMilli int64) preemption.Preemptor {
	priority, least := int32(1000), int32(members)
	p := preemption.Preemptor{
		Kind:  cluster.KindPodGroup,
		Group: &preemption.PodGroup{Namespace: "default", Name: "gang", Priority: &priority, MinCount: &least},
	}
	for i := range members {
		p.Pods = append(p.Pods, preemption.Pod{
			Namespace: "default", Name: fmt.Sprintf("gang-%05d", i), Group: "gang", Priority: &priority,
			Requests: preemption.Resources{cluster.CPU: cpuMilli},
		})
	}
	return p
}
