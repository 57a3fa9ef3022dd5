package preemption_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
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

// theEnd is the last second that a snapshot can be saved with.
var theEnd = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// TestTheEndsOfTimeAndCost: nothing wraps where times, seconds and prices are as large
// as there are.
func TestTheEndsOfTimeAndCost(t *testing.T) {
	begin := time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC) // the zero time is unknown
	forever, low, high := int64(math.MaxInt64), int32(1), int32(10)
	pod := func(name, node string, p *int32) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: p, Requests: preemption.Resources{"cpu": 1}}
	}
	for name, c := range map[string]struct {
		change func(s *preemption.Snapshot, o *preemption.Options)
		kept   victims.KeptRule
		cost   int64
	}{
		"guaranteed to the end": {kept: victims.KeptRunning, change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Started, o.Guards.GuaranteedSeconds = theEnd, theEnd, forever
		}},
		"guaranteed, and long ago": {change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Started, o.Guards.GuaranteedSeconds = theEnd, begin, 315_000_000_000
		}},
		"a toleration to the end": {kept: victims.KeptToleration, change: func(s *preemption.Snapshot, _ *preemption.Options) {
			s.Time, s.Pods[0].Scheduled, s.Pods[0].Class = theEnd, theEnd.Add(-time.Hour), "tolerant"
			s.PriorityClasses = []priority.Class{{Name: "tolerant", Value: 1, Annotations: map[string]string{
				priority.MinimumPreemptableAnnotation: "2147483647", priority.TolerationSecondsAnnotation: "9223372036854775807",
			}}}
		}},
		"cooling down for ever": {kept: victims.KeptCooldown, change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Evictions = theEnd, []time.Time{begin}
			o.Guards.Cooldown = victims.Cooldown{Evictions: 1, Seconds: forever}
		}},
		"work of all time": {cost: math.MaxInt64, change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Started = theEnd, begin
			o.Cost = preemption.CostOptions{Criterion: 1, Tariff: disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Price: math.MaxInt64}}}}
		}},
		"all prices at once": {cost: math.MaxInt64, change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Started = theEnd, begin
			s.Pods[0].Cost = &cluster.Cost{
				Fixed: forever, RestartSeconds: forever, Milestones: []cluster.Milestone{{Seconds: forever, Value: forever}},
			}
			o.Cost = preemption.CostOptions{Objective: true, Tariff: disruption.Tariff{Fixed: forever, Milestones: forever, Restart: forever, Pods: forever}}
		}},
		"a curve over all seconds": {change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Started = theEnd, theEnd
			s.Pods[0].Guard = &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: forever, Value: math.MaxInt32}}}
			o.PreemptionPriority.Apart = true
		}},
		"limits and a window without end": {cost: math.MaxInt64, change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Cost = theEnd, &cluster.Cost{Fixed: forever}
			s.Disruptions = []cluster.Disruption{{Time: theEnd, Victims: forever - 1, Pods: forever - 1}}
			o.Cost.Tariff = disruption.Tariff{Fixed: 1}
			o.Limits = preemption.Limits{Victims: forever, Pods: forever, Cost: forever, Window: preemption.Window{Seconds: forever, Victims: forever, Pods: forever, Cost: forever}}
		}},
		"equals, never": {change: func(s *preemption.Snapshot, o *preemption.Options) {
			s.Time, s.Pods[0].Started, s.Pods[0].RanSeconds, o.Guards.EqualAfterSeconds = theEnd, theEnd, forever, forever
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := preemption.Snapshot{
				Nodes: []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 1}}},
				Pods:  []preemption.Pod{pod("v", "n1", &low), pod("p", "", &high)},
			}
			o := preemption.Options{Candidates: true}
			c.change(&s, &o)
			r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "p"}, &s)
			require.NoError(t, err)
			if c.kept != "" {
				require.Equal(t, preemption.Infeasible, r.Verdict)
				require.Equal(t, c.kept, r.Kept[0].Rule)
				return
			}
			require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
			require.Equal(t, c.cost, r.Cost)
		})
	}
}
