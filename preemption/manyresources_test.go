package preemption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestMoreResourcesThanLanes: with more resources than 16 bits number, the one that is
// short is still told.
func TestMoreResourcesThanLanes(t *testing.T) {
	offers := preemption.Resources{}
	for i := range 40_000 {
		offers[fmt.Sprintf("r%05d", i)] = 10
	}
	s := &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n", Allocatable: offers}},
		Pods:  []preemption.Pod{{Name: "low", Node: "n", Priority: prio(1), Requests: preemption.Resources{"r39990": 8}}},
	}
	ask := func(amount int64) *preemption.Result {
		p := preemption.Pod{Name: "p", Priority: prio(10), Requests: preemption.Resources{"r39990": amount}}
		r, err := preemption.Preempt(preemption.Preemptor{Pods: []preemption.Pod{p}}, s)
		require.NoError(t, err)
		return r
	}
	require.Equal(t, preemption.Feasible, ask(10).Verdict)
	require.Equal(t, []preemption.Rejection{{Reason: "not enough r39990", Domains: 1}}, ask(11).Rejected)
}
