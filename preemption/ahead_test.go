package preemption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestWhatHasHappenedAheadOfTheTime: clocks differ, and a planner's stands still between two
// changes. What lies ahead counts as now, and is told as long as it does.
func TestWhatHasHappenedAheadOfTheTime(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	o := preemption.Options{Limits: preemption.Limits{Window: preemption.Window{Seconds: 60, Pods: 2}}}
	o.Guards.Cooldown.Evictions, o.Guards.Cooldown.Seconds = 1, 60
	s := &preemption.Snapshot{Time: noon, Nodes: []preemption.Node{{Name: "n", Allocatable: preemption.Resources{cluster.CPU: 2}}}, PodGroups: []preemption.PodGroup{{Name: "g"}}}
	pl, err := preemption.NewPlanner(s, o)
	require.NoError(t, err)
	pod := func(name string) preemption.Pod {
		return preemption.Pod{Name: name, Node: "n", Priority: prio(0), Requests: preemption.Resources{cluster.CPU: 1}}
	}
	saved, evicted := pod("saved"), pod("evicted")
	saved.Cost, evicted.Evictions = &cluster.Cost{Checkpoint: at(20)}, []time.Time{at(-5), at(10)}
	require.NoError(t, pl.SetPod(saved))
	require.NoError(t, pl.SetPod(evicted))
	require.NoError(t, pl.SetPodGroup(preemption.PodGroup{Name: "g", Cost: &cluster.Cost{Checkpoint: at(30)}}))

	ask := preemption.Preemptor{Pods: []preemption.Pod{{Name: "high", Priority: prio(9), Requests: preemption.Resources{cluster.CPU: 1}}}}
	fields := func() (list []string) {
		r, err := pl.Preempt(ask)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
		require.Equal(t, "saved", r.Victims[0].Name, "the other one cools down")
		for _, w := range r.Warnings {
			list = append(list, w.Name+" "+w.Field+" "+w.Value)
		}
		return list
	}
	group, checkpoint, eviction := "g Cost.Checkpoint 2026-01-02T12:00:30Z", "saved Cost.Checkpoint 2026-01-02T12:00:20Z", "evicted Evictions[1] 2026-01-02T12:00:10Z"
	require.Equal(t, []string{eviction, checkpoint, group}, fields())
	require.NoError(t, pl.SetTime(at(10)))
	require.Equal(t, []string{checkpoint, group}, fields())
	require.NoError(t, pl.SetTime(at(29)))
	require.Equal(t, []string{group}, fields())
	require.NoError(t, pl.SetTime(at(5)), "backwards")
	require.Equal(t, []string{eviction, checkpoint, group}, fields())
	require.NoError(t, pl.SetTime(time.Time{}))
	require.NoError(t, pl.SetTime(at(40)))
	require.Empty(t, fields())

	r, err := pl.Preempt(ask)
	require.NoError(t, err)
	require.NoError(t, pl.Evict(r)) // notes for the window that a pod has been evicted
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "high"}))
	require.NoError(t, pl.SetPod(saved))
	require.NoError(t, pl.SetTime(at(35)))
	require.Equal(t, []string{" Disruptions[0].Time 2026-01-02T12:00:40Z"}, fields())
	ask.Pods[0].Requests[cluster.CPU] = 2
	o.Guards = preemption.Guards{}
	snapshot := pl.Snapshot()
	r, err = o.Preempt(ask, snapshot)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict, "what was evicted then counts for the window")

	o.Strict = true
	_, err = preemption.NewPlanner(snapshot, o)
	require.EqualError(t, err, `cluster: Snapshot: Disruptions[0].Time: 2026-01-02T12:00:40Z is not accepted under Strict (after the snapshot's time: no time has passed since)`)
}
