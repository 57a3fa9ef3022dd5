package check_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/check"
)

// TestACheckCanBeStopped by its context.
func TestACheckCanBeStopped(t *testing.T) {
	m := check.Model{Nodes: nodes(1), Workloads: []check.Workload{pod("x", 100, 1), pod("y", 100, 1)}}
	whole, err := m.Check()
	require.NoError(t, err)
	require.Equal(t, 3, whole.States)

	over, stop := context.WithCancel(context.Background())
	stop()
	_, err = m.CheckContext(over)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "stopped after 0 situations")

	m.MaxStates = 1 << 20
	same, err := m.CheckContext(context.Background())
	require.NoError(t, err)
	require.Equal(t, whole, same)
}
