package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// model compiles s, which is live.
func model(t *testing.T, s *cluster.Snapshot) *workload.Model {
	t.Helper()
	m, err := workload.New(s.QuotaObjects(), workload.Rules{})
	require.NoError(t, err)
	m.Open(s)
	return m
}

// plan is the plan for the workload of that name, which is pending.
func plan(t *testing.T, m *workload.Model, name string) *workload.Plan {
	t.Helper()
	w, err := m.Find(cluster.Preemptor{Kind: cluster.KindWorkload, Name: name})
	require.NoError(t, err)
	q, refused, err := m.QueueOf(w)
	require.NoError(t, err)
	require.Equal(t, workload.NotRefused, refused)
	return m.Plan(w, q, workload.Objective{}, true)
}

func gpus(n int64) []workload.Choice {
	return []workload.Choice{{Set: "main", Resource: "gpu", Flavor: "a100", Amount: n}}
}

func gpusHeld(n int64) []cluster.HeldAmount {
	return []cluster.HeldAmount{{Flavor: "a100", Resource: "gpu", Amount: n}}
}

func TestWhatIsHeldForOthersIsTaken(t *testing.T) {
	m := model(t, eight(job("old", "research", 1, 5), job("in", "", 9, 4), job("next", "", 9, 4)))
	p := plan(t, m, "in")
	require.False(t, p.Fits)
	require.Len(t, p.Victims, 1)
	require.Equal(t, workload.Lack{Column: 0, Missing: 1}, p.Victims[0].Lack)
	require.NotEmpty(t, p.Steps)

	m.Hold(&cluster.QuotaHold{Name: "in", ClusterQueue: "research", Amounts: gpusHeld(4), Workloads: []cluster.PodKey{{Name: "old"}}})
	require.NoError(t, m.Evict("", "old", false))
	p = plan(t, m, "next")
	require.True(t, p.Fits, "old leaves, four of eight are held for in")
	require.False(t, p.FitsNow, "old is still there")
	require.Empty(t, p.Victims)

	require.NoError(t, m.Evict("", "old", true))
	require.True(t, plan(t, m, "next").FitsNow)
	require.NoError(t, m.Set(&cluster.Workload{Name: "wide", Queue: "team", PodSets: job("", "", 0, 5).PodSets}))
	p = plan(t, m, "wide")
	require.False(t, p.Helps())
	require.Equal(t, []workload.Objection{{Kind: workload.Short, Amount: 1}}, p.Objections)
	require.Equal(t, []quota.ColumnAmount{{Amount: 4}}, p.Reserved)

	require.True(t, m.Release("", "in"))
	require.False(t, m.Release("", "in"))
	require.True(t, plan(t, m, "wide").FitsNow)
}

func TestFewerPodsWhereNotAllFit(t *testing.T) {
	in, least := job("in", "", 1, 7), int32(2)
	in.PodSets[0].MinCount = &least
	m := model(t, eight(job("old", "research", 1, 5), in))
	p := plan(t, m, "in")
	require.True(t, p.FitsNow)
	require.Equal(t, []int32{3}, p.Counts)
}

func TestACloneKeepsWhatItWas(t *testing.T) {
	m := model(t, eight(job("old", "research", 1, 5), job("in", "", 1, 4)))
	c := m.Clone()
	require.True(t, m.Remove("", "old"))
	require.False(t, m.Remove("", "old"))
	require.True(t, plan(t, m, "in").FitsNow)
	require.False(t, plan(t, c, "in").Helps())
	require.NotNil(t, c.Held("", "old"))

	require.NoError(t, m.Admit(m.Workload("", "in"), "research", gpus(4), nil))
	require.EqualValues(t, 4, m.Held("", "in").Usage[0].Amount)
	require.Nil(t, c.Held("", "in"))
}
