package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// dear prices every eviction the same, whatever the tariff says.
type dear int64

func (d dear) Price(*cluster.Index, cluster.GroupID, []cluster.PodID) int64 { return int64(d) }

// TestAPriceOfTheUsersOwnMayForbid: nobody says that an eviction would do whose price,
// which the options do not tell, goes beyond a limit.
func TestAPriceOfTheUsersOwnMayForbid(t *testing.T) {
	low, high := int32(0), int32(9)
	s := &preemption.Snapshot{Nodes: nodes(2), Pods: []preemption.Pod{
		{Name: "on", Node: "n1", Priority: &low, Requests: preemption.Resources{cluster.CPU: 2}},
	}}
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1}}}}
	o := preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Pods: 1}}, Limits: preemption.Limits{Cost: 1}}
	for price, want := range map[dear]preemption.Verdict{1: preemption.Feasible, 2: preemption.Infeasible} {
		o.Hooks = &preemption.Hooks{Cost: price}
		r, err := o.Preempt(p, s)
		require.NoError(t, err)
		require.Equal(t, want, r.Verdict)
		require.Empty(t, check.Verify(s, o, p, r))
	}
}
