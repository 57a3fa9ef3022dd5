//go:build !race

// The race detector empties pools at random.

package preemption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestDecideAgainAllocatesNothing: a shape that was asked about before, by name or
// inline.
func TestDecideAgainAllocatesNothing(t *testing.T) {
	snap := gen.Fleet(100, 30, 1, gen.Uniform)
	p := gen.FleetPod(1)
	snap.Pods = append(snap.Pods, p.Pods[0])
	pl, err := preemption.NewPlanner(&snap, preemption.Options{})
	require.NoError(t, err)
	named := preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Pods[0].Namespace, Name: p.Pods[0].Name}
	p.Pods[0].Name = "another"
	for _, p := range []preemption.Preemptor{named, p} {
		decidesAlike(t, pl, p)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if d, err := pl.Decide(p); err != nil || d.Verdict != preemption.Feasible {
				t.Fatal(d, err)
			}
		}))
	}
}
