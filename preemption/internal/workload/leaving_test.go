package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

func TestLeaving(t *testing.T) {
	m := model(t, eight(job("low", "research", 1, 4), job("equal", "research", 5, 2), job("going", "research", 1, 2), job("other", "", 9, 2), job("in", "", 5, 4)))
	m.Hold(&cluster.QuotaHold{Name: "other", ClusterQueue: "research", Amounts: gpusHeld(2), Workloads: []cluster.PodKey{{Name: "going"}}})
	require.NoError(t, m.Evict("", "going", false))
	w, q := m.Workload("", "in"), m.Index.QueueByName("research")
	s := m.Search(w, q)
	defer m.Keep(s)
	request, contested := s.Request(q, gpus(4))
	require.False(t, s.Usage.Fits(q, request, true))
	l := s.Leaving(w, q, contested)
	require.Equal(t, workload.Spared, l.Add(m.Held("", "equal")))
	require.Equal(t, workload.Going, l.Add(m.Held("", "going")))
	require.Equal(t, workload.Leaves, l.Add(m.Held("", "low")))
	require.Equal(t, workload.Twice, l.Add(m.Held("", "low")))
	require.Nil(t, l.Settle())
	require.True(t, s.Usage.Fits(q, request, true))
}
