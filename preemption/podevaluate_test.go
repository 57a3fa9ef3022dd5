package preemption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestInfeasibleIsProvedOnlyIfItIs: with everybody gone nobody is left whom web has
// affinity to, although the eviction of batch alone would do. Where nobody is whom it
// has affinity to, no eviction helps.
func TestInfeasibleIsProvedOnlyIfItIs(t *testing.T) {
	low, high := int32(10), int32(1000)
	cpu := func(milli int64) preemption.Resources { return preemption.Resources{cluster.CPU: milli} }
	for app, exact := range map[string]bool{"db": false, "other": true} {
		s := preemption.Snapshot{
			Nodes: []cluster.Node{{Name: "n1", Labels: map[string]string{"zone": "a"}, Allocatable: cpu(2000)}},
			Pods: []preemption.Pod{
				{Name: "db", Node: "n1", Labels: map[string]string{"app": "db"}, Priority: &low, Requests: cpu(1000)},
				{Name: "batch", Node: "n1", Priority: &low, Requests: cpu(1000)},
				{Name: "web", Priority: &high, Requests: cpu(1000), Affinity: []cluster.AffinityTerm{{
					TopologyKey: "zone", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": app}},
				}}},
			},
		}
		r, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}, &s)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, r.Verdict)
		require.Equal(t, exact, r.Stats.Exact, app)
	}
}
