package onepod_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// TestEachTryIsALookMore: whoever waits may go away between two nodes that are tried one by one, also where
// little is tried.
func TestEachTryIsALookMore(t *testing.T) {
	const nodes = 40
	s := &cluster.Snapshot{}
	low, high := int32(1), int32(9)
	for i := range nodes {
		node := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: cluster.Resources{cluster.CPU: 4}})
		s.Pods = append(s.Pods, cluster.Pod{Name: "low" + node, Node: node, Priority: &low, Requests: cluster.Resources{cluster.CPU: 1}})
		s.Pods = append(s.Pods, cluster.Pod{Name: "high" + node, Node: node, Priority: &high, Requests: cluster.Resources{cluster.CPU: 3}})
	}
	w := newWorld(t, s)
	pod := &cluster.Pod{Name: "in", Priority: &high, Requests: cluster.Resources{cluster.CPU: 2}}
	require.Equal(t, ask.Infeasible, w.plainly(w.question(&ask.Settings{}, nil, pod)).verdict)
	require.GreaterOrEqual(t, w.polls.Load(), int64(2*nodes), "each is looked at, and tried")
}
