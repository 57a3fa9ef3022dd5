package domain_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func TestPreferencesAreSharesOfWhatIsAsked(t *testing.T) {
	const huge = math.MaxInt64
	for name, c := range map[string]struct {
		free, offers cluster.Resources // of the node
		asks         cluster.Resources
		least, most  int64
	}{
		"a half is left":                  {cluster.Resources{"cpu": 4}, cluster.Resources{"cpu": 6}, cluster.Resources{"cpu": 1}, 500_000, -500_000},
		"nothing is left":                 {cluster.Resources{"cpu": 1}, cluster.Resources{"cpu": 6}, cluster.Resources{"cpu": 1}, 0, 0},
		"rounded down":                    {cluster.Resources{"cpu": 2}, cluster.Resources{"cpu": 3}, cluster.Resources{"cpu": 1}, 333_333, -333_333},
		"on average":                      {cluster.Resources{"cpu": 4, "memory": 2}, cluster.Resources{"cpu": 6, "memory": 2}, cluster.Resources{"cpu": 1, "memory": 1}, 500_000, -500_000},
		"what it does not ask for":        {cluster.Resources{"cpu": 4, "memory": 0}, cluster.Resources{"cpu": 6, "memory": 9}, cluster.Resources{"cpu": 1}, 500_000, -500_000},
		"it asks for nothing":             {cluster.Resources{"cpu": 4}, cluster.Resources{"cpu": 6}, nil, 0, 0},
		"overcommitted counts as full":    {cluster.Resources{"cpu": -4}, cluster.Resources{"cpu": 6}, cluster.Resources{"cpu": 1}, 0, 0},
		"nobody offers it":                {cluster.Resources{"cpu": 4}, cluster.Resources{"cpu": 6}, cluster.Resources{"gpu": 1}, 0, 0},
		"amounts as large as they can be": {cluster.Resources{"cpu": huge}, cluster.Resources{"cpu": huge}, cluster.Resources{"cpu": huge / 2}, 500_000, -500_000},
	} {
		t.Run(name, func(t *testing.T) {
			used := cluster.Resources{}
			for r, v := range c.offers {
				used[r] = v - c.free[r]
			}
			ix, err := cluster.NewIndex(&cluster.Snapshot{
				Nodes: []cluster.Node{{Name: "n", Allocatable: c.offers}},
				Pods:  []cluster.Pod{{Name: "runs", Node: "n", Requests: used}},
			})
			require.NoError(t, err)
			m, n := domain.NewMember(ix, &cluster.Pod{Requests: c.asks}, cluster.NoPod), ix.NodeByName("n")
			require.Equal(t, c.least, domain.LeastAllocated.Of(m, ix.Free(n), ix.Allocatable(n)))
			require.Equal(t, c.most, domain.MostAllocated.Of(m, ix.Free(n), ix.Allocatable(n)))
			require.Zero(t, domain.FirstByName.Of(m, ix.Free(n), ix.Allocatable(n)))
		})
	}
	require.True(t, domain.FirstByName.Valid() && domain.LeastAllocated.Valid() && domain.MostAllocated.Valid())
	require.False(t, domain.Preference("Best").Valid())
}

func ExamplePreference() {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 4000}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := domain.NewMember(ix, &cluster.Pod{Requests: cluster.Resources{cluster.CPU: 1000}}, cluster.NoPod)
	n := ix.NodeByName("n")
	fmt.Println(domain.LeastAllocated.Of(m, ix.Free(n), ix.Allocatable(n)), "millionths of it are left")
	// Output: 750000 millionths of it are left
}
