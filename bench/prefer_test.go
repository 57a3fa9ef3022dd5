package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkPrefer: a decision about a pod that fits on many nodes, of a shape that was seen,
// while the cluster changes: a pod leaves and comes back before each. With none it goes to
// the first node by name.
func BenchmarkPrefer(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		for i := range snap.Nodes {
			snap.Nodes[i].Allocatable[cluster.CPU] *= 2
		}
		ask := gen.FleetPod(1)
		for _, prefer := range []preemption.Preference{"", preemption.LeastAllocated, preemption.MostAllocated} {
			for _, changes := range []bool{false, true} {
				b.Run(fmt.Sprintf("prefer=%s/changes=%t/nodes=%d/pods=%d", prefer, changes, s.nodes, s.pods), func(b *testing.B) {
					pl, err := preemption.NewPlanner(&snap, preemption.Options{Prefer: prefer})
					if err != nil {
						b.Fatal(err)
					}
					c := &changed{Planner: pl, b: b, snap: snap}
					i := 0
					b.ReportAllocs()
					for b.Loop() {
						if changes {
							pod := c.pod(i)
							c.must(c.Remove(refOf(pod)))
							c.must(c.SetPod(pod))
							i++
						}
						d, err := pl.Decide(ask)
						if err != nil || d.Verdict != preemption.Fits {
							b.Fatal(d, err)
						}
					}
				})
			}
		}
	}
}
