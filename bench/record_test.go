package bench_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/record"
)

// BenchmarkRecord: a pod leaves and comes back, and a pod of a shape that was seen asks
// whom it has to evict; with a journal that nobody reads, and without.
func BenchmarkRecord(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		ask := gen.FleetPod(1)
		for _, recorded := range []bool{false, true} {
			b.Run(fmt.Sprintf("recorded=%t/nodes=%d/pods=%d", recorded, s.nodes, s.pods), func(b *testing.B) {
				var pl interface {
					Remove(pod preemption.PodRef) error
					SetPod(p preemption.Pod) error
					Decide(p preemption.Preemptor) (preemption.Decision, error)
				}
				pl, err := preemption.NewPlanner(&snap, preemption.Options{})
				if recorded {
					pl, err = record.New(io.Discard, &snap, preemption.Options{})
				}
				if err != nil {
					b.Fatal(err)
				}
				i := 0
				b.ReportAllocs()
				for b.Loop() {
					pod := snap.Pods[i%len(snap.Pods)]
					i++
					if err := pl.Remove(refOf(pod)); err != nil {
						b.Fatal(err)
					}
					if err := pl.SetPod(pod); err != nil {
						b.Fatal(err)
					}
					if d, err := pl.Decide(ask); err != nil || d.Verdict != preemption.Feasible {
						b.Fatal(d, err)
					}
				}
			})
		}
	}
}
