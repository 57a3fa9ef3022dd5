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

// TestDecideAgainAllocatesNothing: a shape that was asked about before, by name. A
// pod given inline costs the check of what it says.
func TestDecideAgainAllocatesNothing(t *testing.T) {
	snap := gen.Fleet(100, 30, 1, gen.Uniform)
	p := gen.FleetPod(1)
	snap.Pods = append(snap.Pods, p.Pods[0])
	pl, err := preemption.NewPlanner(&snap, preemption.Options{})
	require.NoError(t, err)
	named := preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Pods[0].Namespace, Name: p.Pods[0].Name}
	p.Pods[0].Name = "another"
	for _, c := range []struct {
		p    preemption.Preemptor
		most float64
	}{{named, 0}, {p, 1}} {
		decidesAlike(t, pl, c.p)
		require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
			if d, err := pl.Decide(c.p); err != nil || d.Verdict != preemption.Feasible {
				t.Fatal(d, err)
			}
		}), c.most)
	}
}
