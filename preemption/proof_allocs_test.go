//go:build !race

// The race detector empties pools at random.

package preemption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
)

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
