package workload_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// TestALiveModelWarnsAsItDid: of objects and of workloads, of these as long as they are there.
func TestALiveModelWarnsAsItDid(t *testing.T) {
	odd := job("odd", "research", 1, 1)
	odd.PodSets[0].Flavors["gpu"] = "unknown"
	s := eight(odd, job("lost", "gone", 1, 1), job("many", "research", 1, 9))
	s.Cohorts = []cluster.Cohort{{Name: "round", Parent: "round"}}
	m, err := workload.New(s.QuotaObjects(), workload.Rules{})
	require.NoError(t, err)
	about := func(m *workload.Model) (names []string) {
		for _, w := range m.Warnings() {
			names = append(names, w.Name)
		}
		return names
	}
	before := m.Warnings()
	require.ElementsMatch(t, []string{"round", "lost", "odd", "research"}, about(m))
	m.Open(s)
	require.Equal(t, before, m.Warnings())
	require.True(t, m.Remove("", "odd"))
	require.ElementsMatch(t, []string{"round", "lost", "research"}, about(m))
	require.True(t, m.Remove("", "many"))
	require.ElementsMatch(t, []string{"round", "lost"}, about(m))
	require.True(t, m.Remove("", "lost"))
	require.Equal(t, []string{"round"}, about(m))
	require.NoError(t, m.Set(&odd))
	require.ElementsMatch(t, []string{"round", "odd"}, about(m))
	r, err := m.Rebuilt(s, m.Index.Now(), func(*workload.Objects) error { return nil })
	require.NoError(t, err)
	require.Equal(t, m.Warnings(), r.Warnings())
}

// TestAllTogetherUseWhatCanBeCounted: whoever comes, goes, is replaced, or holds quota since
// another time.
func TestAllTogetherUseWhatCanBeCounted(t *testing.T) {
	holds := func(name string, amount int64) *cluster.Workload {
		w := job(name, "research", 1, 1)
		w.PodSets[0].Usage = cluster.Resources{"gpu": amount}
		return &w
	}
	const most = cluster.MaxUsage
	m := model(t, eight(*holds("first", most-10)))
	exactly := func(n int64) {
		t.Helper()
		require.ErrorContains(t, m.Set(holds("probe", n+1)), "so little that all workloads together use at most 2^62-1")
		require.NoError(t, m.Set(holds("probe", n)))
		require.True(t, m.Remove("", "probe"))
	}
	exactly(10)
	require.NoError(t, m.Set(holds("second", 4)))
	exactly(6)
	require.Error(t, m.Set(holds("second", 11)))
	exactly(6)
	require.NoError(t, m.Set(holds("second", 10)), "in place of the four")
	exactly(0)
	m.SetTime(cluster.Nanos(time.Unix(1, 0)))
	m.SetTime(cluster.Nanos(time.Unix(2, 0)))
	exactly(0)
	require.EqualValues(t, 2e9, m.Held("", "second").Reserved)
	require.NoError(t, m.Evict("", "second", true))
	exactly(10)
	require.True(t, m.Remove("", "first"))
	require.NoError(t, m.Set(holds("third", 1)))
	exactly(most - 1)
	require.False(t, m.Idle(), "second is pending")
}

// TestWhoDoesNotSaySinceWhenHoldsSinceNow: and is the first to go among equals, with the clock.
func TestWhoDoesNotSaySinceWhenHoldsSinceNow(t *testing.T) {
	dated := job("dated", "research", 1, 4)
	dated.Admission.Reserved = time.Unix(10, 0).UTC()
	s := eight(dated, job("undated", "research", 1, 4), job("in", "", 9, 4))
	s.Time = time.Unix(5, 0).UTC()
	m := model(t, s)
	gone := func() string {
		t.Helper()
		p := plan(t, m, "in")
		require.Len(t, p.Victims, 1)
		return p.Victims[0].Workload.Name
	}
	require.Equal(t, "dated", gone(), "it holds its quota for the shorter time")
	m.SetTime(cluster.Nanos(time.Unix(20, 0)))
	require.Equal(t, "undated", gone())
	m.SetTime(cluster.Nanos(time.Unix(7, 0)))
	require.Equal(t, "dated", gone())
	require.EqualValues(t, 10e9, m.Held("", "dated").Reserved)
}

// TestAdmittedPodsHoldWhatTheAnswerSays: as many as it counts, in its flavors, and what was kept for
// them is free.
func TestAdmittedPodsHoldWhatTheAnswerSays(t *testing.T) {
	in, least := job("in", "", 1, 7), int32(2)
	in.PodSets[0].MinCount = &least
	m := model(t, eight(in, job("old", "research", 1, 5)))
	m.Hold(&cluster.QuotaHold{Name: "in", ClusterQueue: "research", Amounts: gpusHeld(3)})
	require.NoError(t, m.Admit(m.Workload("", "in"), "research", gpus(3), []int32{3}))
	set := m.Workload("", "in").PodSets[0]
	require.EqualValues(t, 3, set.Count)
	require.Nil(t, set.MinCount)
	require.Equal(t, map[string]string{"gpu": "a100"}, set.Flavors)
	require.Equal(t, cluster.Resources{"gpu": 3}, set.Usage)
	require.False(t, m.Release("", "in"))
	require.EqualValues(t, 3, m.Held("", "in").Usage[0].Amount)

	require.NoError(t, m.Evict("", "in", false))
	require.True(t, m.Held("", "in").Evicted)
	require.NoError(t, m.Evict("", "in", true))
	require.Nil(t, m.Held("", "in"))
	require.False(t, m.Workload("", "in").Evicted)
	require.NoError(t, m.Evict("", "in", true), "it has left")
	require.NoError(t, m.Evict("", "unknown", true))
}
