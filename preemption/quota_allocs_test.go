//go:build !race

// The race detector empties pools at random.

package preemption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestAQuotaVictimCostsNoAllocation: with ten times the victims a few buffers more are
// read, and nothing is allocated for each.
func TestAQuotaVictimCostsNoAllocation(t *testing.T) {
	preemption.Answered(nil) // who looks over the answers allocates
	defer preemption.Answered(verified)
	for _, l := range []quotaLayout{
		{name: "classical-own", own: true}, {name: "classical-reclaim"},
		{name: "fair-own", own: true, fair: true}, {name: "fair-nominal", fair: true}, {name: "fair-borrowing", fair: true, weight: 20},
	} {
		allocs := func(victims int64) float64 {
			l.victims = victims
			s, o := quotaFleet(l, 2000)
			pl, err := preemption.NewPlanner(s, o)
			require.NoError(t, err)
			return testing.AllocsPerRun(20, func() {
				r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in"})
				require.NoError(t, err)
				require.Len(t, r.Victims, int(victims))
			})
		}
		require.Less(t, allocs(500)-allocs(50), 60.0, l.name)
	}
}
