package bench_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
)

// counter is an observer that counts.
type counter struct{ told int }

func (*counter) Now() time.Time                      { return time.Now() }
func (c *counter) Answered(_ preemption.Observation) { c.told++ }

// BenchmarkAsking: a question with an observer, with a context that may end, and with
// neither: one that is decided at once, and one of which each node is tried.
func BenchmarkAsking(b *testing.B) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		ask := gen.FleetPod(1)
		for _, wants := range []string{"neither", "context", "observer"} {
			for _, way := range []string{"decided", "tried"} {
				b.Run(fmt.Sprintf("wants=%s/way=%s/nodes=%d/pods=%d", wants, way, s.nodes, s.pods), func(b *testing.B) {
					o := preemption.Options{LowestLevel: way == "tried"}
					ctx := ctx
					if wants != "context" {
						ctx = context.Background()
					}
					if wants == "observer" {
						o.Hooks = &preemption.Hooks{Observer: &counter{}}
					}
					pl, err := preemption.NewPlanner(&snap, o)
					if err != nil {
						b.Fatal(err)
					}
					decide := func() {
						if d, err := pl.DecideContext(ctx, ask); err != nil || d.Verdict != preemption.Feasible {
							b.Fatal(d, err)
						}
					}
					for range 3 { // until the shape is known
						decide()
					}
					b.ReportAllocs()
					for b.Loop() {
						decide()
					}
				})
			}
		}
	}
}
