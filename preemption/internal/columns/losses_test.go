package columns

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// TestLossesAreThoseOfTheUnits: found out, then remembered.
func TestLossesAreThoseOfTheUnits(t *testing.T) {
	high := int32(7)
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n"}},
		PodGroups: []cluster.PodGroup{{Name: "w", Mode: disruption.All, Priority: &high}},
		Pods: []cluster.Pod{
			{Name: "a", Node: "n"}, {Name: "w0", Node: "n", Group: "w", Priority: &high}, {Name: "w1", Node: "n", Group: "w", Priority: &high},
		},
	})
	require.NoError(t, err)
	us := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	require.Equal(t, 2, us.Len())
	losses := NewLosses(us)
	losses.Forget()
	pods := int64(0)
	for range 2 {
		for u := range victims.UnitID(us.Len()) {
			require.Equal(t, us.Loss(u), *losses.Of(u))
			pods += losses.Of(u).Price.Pods
		}
	}
	require.Equal(t, int64(6), pods)
}
