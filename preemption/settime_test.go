package preemption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestTimeMovesForQueuesToo: a workload that has to wait may evict once the planner's
// time has moved on, as in a snapshot of that time.
func TestTimeMovesForQueuesToo(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	job := func(name string, priority int32) preemption.Workload {
		return preemption.Workload{
			Name: name, Queue: "team", Priority: priority, Created: start,
			PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: preemption.Resources{"cpu": 8}}},
		}
	}
	runs := job("runs", 0)
	runs.Admission = &cluster.Admission{ClusterQueue: "all"}
	runs.PodSets[0].Flavors = map[string]string{"cpu": "any"}
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time:            start,
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "any"}},
		ClusterQueues: []preemption.ClusterQueue{{
			Name: "all",
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "any", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 10}},
			}}}},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: "LowerPriority", WaitSeconds: 600},
		}},
		LocalQueues: []preemption.LocalQueue{{Name: "team", ClusterQueue: "all"}},
		Workloads:   []preemption.Workload{runs, job("waits", 5)},
	}, preemption.Options{})
	require.NoError(t, err)

	ask := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "waits"}
	for _, c := range []struct {
		passed time.Duration
		want   preemption.Verdict
	}{{0, preemption.NotEligible}, {599 * time.Second, preemption.NotEligible}, {600 * time.Second, preemption.Feasible}} {
		planner.SetTime(start.Add(c.passed))
		got, err := planner.Preempt(ask)
		require.NoError(t, err)
		require.Equal(t, c.want, got.Verdict, "after %s: %s", c.passed, got.Message)

		fresh, err := preemption.Preempt(ask, planner.Snapshot())
		require.NoError(t, err)
		require.Equal(t, fresh, got)
	}
}

// TestQuotaHeldSinceNobodyKnowsWhen counts as held since the time that it is, also when
// that has moved on: the newest goes first.
func TestQuotaHeldSinceNobodyKnowsWhen(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	job := func(name string, admission *cluster.Admission) preemption.Workload {
		w := preemption.Workload{
			Name: name, Queue: "team", Admission: admission,
			PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: preemption.Resources{"cpu": 1}}},
		}
		if admission != nil {
			w.PodSets[0].Flavors = map[string]string{"cpu": "any"}
		}
		return w
	}
	pending := job("pending", nil)
	pending.Priority = 1
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time:            start,
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "any"}},
		ClusterQueues: []preemption.ClusterQueue{{
			Name: "all",
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "any", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 2}},
			}}}},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
		}},
		LocalQueues: []preemption.LocalQueue{{Name: "team", ClusterQueue: "all"}},
		Workloads:   []preemption.Workload{job("unknown", &cluster.Admission{ClusterQueue: "all"}), pending},
	}, preemption.Options{})
	require.NoError(t, err)
	known := &cluster.Admission{ClusterQueue: "all", Reserved: start.Add(10 * time.Second)}
	require.NoError(t, planner.SetWorkload(job("known", known)))
	early := planner.Fork()
	planner.SetTime(start.Add(20 * time.Second))

	for _, c := range []struct {
		planner *preemption.Planner
		victim  string
	}{{early, "known"}, {planner, "unknown"}, {planner.Fork(), "unknown"}} {
		ask := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "pending"}
		got, err := c.planner.Preempt(ask)
		require.NoError(t, err)
		require.Equal(t, []string{c.victim}, names(got))
		fresh, err := preemption.Preempt(ask, c.planner.Snapshot())
		require.NoError(t, err)
		require.Equal(t, fresh, got)
	}
}

// TestTimeOfQuotaThatComesLater: without quota a clock's tick changes no model of it, and costs
// nothing; what comes later has the time that it is.
func TestTimeOfQuotaThatComesLater(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time: start, Workloads: []preemption.Workload{{Name: "early", Queue: "team", PodSets: []cluster.PodSet{{Name: "main", Count: 1}}}},
	}, preemption.Options{})
	require.NoError(t, err)
	now := start
	tick := func() {
		now = now.Add(time.Second)
		require.NoError(t, planner.SetTime(now))
	}
	tick()
	require.LessOrEqual(t, testing.AllocsPerRun(598, tick), 4.0)
	require.Equal(t, start.Add(600*time.Second), now)

	require.NoError(t, planner.SetResourceFlavor(preemption.ResourceFlavor{Name: "any"}))
	require.NoError(t, planner.SetClusterQueue(preemption.ClusterQueue{
		Name: "all",
		Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
			Flavor: "any", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 10}},
		}}}},
		Preemption: cluster.QueuePreemption{WithinClusterQueue: "LowerPriority", WaitSeconds: 600},
	}))
	require.NoError(t, planner.SetLocalQueue(preemption.LocalQueue{Name: "team", ClusterQueue: "all"}))
	job := func(name string, priority int32) preemption.Workload {
		return preemption.Workload{Name: name, Queue: "team", Priority: priority, Created: start, PodSets: []cluster.PodSet{{
			Name: "main", Count: 1, Requests: preemption.Resources{"cpu": 8},
		}}}
	}
	runs := job("runs", 0)
	runs.Admission, runs.PodSets[0].Flavors = &cluster.Admission{ClusterQueue: "all"}, map[string]string{"cpu": "any"}
	require.NoError(t, planner.SetWorkload(runs))
	require.NoError(t, planner.SetWorkload(job("waited", 5)))
	ask := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "waited"}
	got, err := planner.Preempt(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, got.Verdict, got.Message)
	fresh, err := preemption.Preempt(ask, planner.Snapshot())
	require.NoError(t, err)
	require.Equal(t, fresh, got)
}
