package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// waitingShapes is how many preemptors wait, each of another shape.
const waitingShapes = 10_000

// BenchmarkWake: a pod leaves a full cluster and comes back, while 10,000 preemptors wait, each
// of another shape, one in a hundred of them small enough for the room: those that may have
// it are asked again (way=wake), or all of them (way=ask).
func BenchmarkWake(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		full(&snap)
		asks := make([]preemption.Preemptor, waitingShapes)
		for i := range asks {
			lowest := int32(0)
			cpuMilli := 5_000_000 + int64(i)
			if i%100 == 0 {
				cpuMilli = 1 + int64(i/100)
			}
			snap.Pods = append(snap.Pods, preemption.Pod{
				Name: fmt.Sprint("waits-", i), Priority: &lowest, Requests: preemption.Resources{cluster.CPU: cpuMilli},
			})
			asks[i] = preemption.Preemptor{Kind: preemption.KindPod, Name: fmt.Sprint("waits-", i)}
		}
		for _, way := range []string{"wake", "ask"} {
			b.Run(fmt.Sprintf("way=%s/waiting=%d/nodes=%d/pods=%d", way, waitingShapes, s.nodes, s.pods), func(b *testing.B) {
				pl, err := preemption.NewPlanner(&snap, preemption.Options{})
				if err != nil {
					b.Fatal(err)
				}
				c := &changed{Planner: pl, b: b, snap: snap}
				c.snap.Pods = snap.Pods[:s.pods]
				ask := func(p preemption.Preemptor) bool {
					d, err := pl.Park(p)
					c.must(err)
					return d.Verdict != preemption.Infeasible
				}
				for _, p := range asks {
					ask(p)
				}
				woken, i := 0, 0
				b.ReportAllocs()
				for b.Loop() {
					pod := c.pod(i)
					c.must(c.Remove(refOf(pod)))
					list := asks
					if way == "wake" {
						list = pl.Wake()
					}
					for _, p := range list {
						ask(p)
					}
					c.must(c.SetPod(pod))
					if way == "wake" {
						for _, p := range list {
							ask(p) // who was not served waits again
						}
					}
					woken, i = woken+len(list), i+1
				}
				b.ReportMetric(float64(woken)/float64(b.N), "asked/op")
			})
		}
	}
}

// full lets each node offer just what its pods ask for.
func full(s *preemption.Snapshot) {
	used := map[string]int64{}
	for _, p := range s.Pods {
		used[p.Node] += p.Requests[cluster.CPU]
	}
	for i := range s.Nodes {
		s.Nodes[i].Allocatable[cluster.CPU] = used[s.Nodes[i].Name]
	}
}
