package preemption_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// curious is a constraint that looks at the planner while a question is prepared.
type curious struct{ look func() }

func (c curious) Name() domain.Check { return "curious" }

func (c curious) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	c.look()
	return nil, nil
}

// TestParkCallsNoHookUnderTheLock: a hook may ask the planner, and change it.
func TestParkCallsNoHookUnderTheLock(t *testing.T) {
	var pl *preemption.Planner
	looks := 0
	hooks := &preemption.Hooks{Constraints: []domain.Constraint{curious{func() {
		if looks++; pl != nil {
			pl.Snapshot()
		}
	}}}}
	snap := three(8, 8)
	snap.Pods = append(snap.Pods, preemption.Pod{Name: "waits", Requests: cpus(2)})
	pl, err := preemption.NewPlanner(snap, preemption.Options{Hooks: hooks})
	require.NoError(t, err)
	d, err := pl.Park(preemption.Preemptor{Kind: preemption.KindPod, Name: "waits"})
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, d.Verdict)
	require.Positive(t, looks)
	require.Empty(t, pl.Wake())
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "n1-0"}))
	require.Len(t, pl.Wake(), 1, "any change may matter to a hook")
	require.True(t, pl.WakeAt().IsZero())
}

// TestABrokenGangWakesWhoCouldNotAffordIt: what is left of it costs nothing, on nodes where
// nothing else has changed.
func TestABrokenGangWakesWhoCouldNotAffordIt(t *testing.T) {
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes:     []preemption.Node{{Name: "n1", Allocatable: cpus(1)}, {Name: "n2", Allocatable: cpus(1)}},
		PodGroups: []preemption.PodGroup{{Name: "g", MinCount: prio(2), Priority: prio(0), Mode: preemption.Single}},
		Pods: []preemption.Pod{
			{Name: "a", Node: "n1", Group: "g", Priority: prio(0), Requests: cpus(1)},
			{Name: "b", Node: "n2", Group: "g", Priority: prio(0), Requests: cpus(1)},
			{Name: "waits", RequiredNode: "n1", Priority: prio(9), Requests: cpus(1)},
		},
	}, preemption.Options{
		BrokenGroupsFree: true, Limits: preemption.Limits{Cost: 5}, Cost: preemption.CostOptions{Tariff: disruption.Tariff{Pods: 10}},
	})
	require.NoError(t, err)
	ask := preemption.Preemptor{Kind: preemption.KindPod, Name: "waits"}
	d, err := pl.Park(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, d.Verdict)
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "b"}))
	d, err = pl.Decide(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, d.Verdict)
	require.Equal(t, []preemption.Preemptor{ask}, pl.Wake())
}

// TestWakeAtIsWhenSomebodyHasWaited: and then he is returned.
func TestWakeAtIsWhenSomebodyHasWaited(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	snap := three(8)
	snap.Time = noon
	snap.Pods = append(snap.Pods, preemption.Pod{Name: "waits", Created: noon, Priority: prio(9), Requests: cpus(2)})
	pl, err := preemption.NewPlanner(snap, preemption.Options{WaitSeconds: 60})
	require.NoError(t, err)
	ask := preemption.Preemptor{Kind: preemption.KindPod, Name: "waits"}
	d, err := pl.Park(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.NotEligible, d.Verdict)
	require.Equal(t, noon.Add(time.Minute), pl.WakeAt())
	require.NoError(t, pl.SetTime(noon.Add(59*time.Second)))
	require.Empty(t, pl.Wake())
	require.NoError(t, pl.SetTime(pl.WakeAt()))
	require.Equal(t, []preemption.Preemptor{ask}, pl.Wake())
	d, err = pl.Decide(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, d.Verdict)
}

// TestWakeAtIsWhenAGuardEnds: who might be evicted then wakes the one who waits for that.
func TestWakeAtIsWhenAGuardEnds(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	snap := &preemption.Snapshot{Time: noon, Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(2)}, {Name: "n2", Allocatable: cpus(2)}}}
	for i := range 2 {
		snap.Pods = append(snap.Pods, preemption.Pod{
			Name: fmt.Sprint("p", i), Node: fmt.Sprint("n", i+1), Priority: prio(1), Requests: cpus(2), Started: noon.Add(time.Duration(-10*i) * time.Second),
		})
	}
	pl, err := preemption.NewPlanner(snap, preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}})
	require.NoError(t, err)
	ask := preemption.Preemptor{Pods: []preemption.Pod{{Name: "asks", Priority: prio(9), Requests: cpus(2)}}}
	d, err := pl.Park(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, d.Verdict)
	at := pl.WakeAt()
	require.Equal(t, noon.Add(50*time.Second), at)
	require.NoError(t, pl.SetTime(at.Add(-time.Nanosecond)))
	pl.Wake() // perhaps in vain: it is the last second
	d, err = pl.Park(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, d.Verdict)
	require.Equal(t, at, pl.WakeAt())
	require.NoError(t, pl.SetTime(at))
	require.Len(t, pl.Wake(), 1)
	d, err = pl.Decide(ask)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, d.Verdict)
}

// TestTimeWakesWhoWaitsForIt: be it that its equals have run long enough, that it was evicted long
// enough ago, or that others were.
func TestTimeWakesWhoWaitsForIt(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	runs := preemption.Pod{Name: "runs", Node: "n1", Priority: prio(9), Started: noon, Requests: cpus(1)}
	waits := preemption.Pod{Name: "waits", Priority: prio(9), Requests: cpus(1)}
	for change, o := range map[string]preemption.Options{
		"equals": {Guards: preemption.Guards{EqualAfterSeconds: 60}}, "evicted": {Guards: preemption.Guards{EqualAfterSeconds: 60}},
		"window": {Limits: preemption.Limits{Window: preemption.Window{Seconds: 60, Pods: 1}}},
	} {
		runs, waits, before := runs, waits, []cluster.Disruption(nil)
		switch change {
		case "evicted":
			runs.Started, waits.Evictions = noon.Add(-time.Hour), []time.Time{noon}
		case "window":
			runs.Priority, before = prio(1), []cluster.Disruption{{Time: noon, Pods: 1}}
		}
		pl, err := preemption.NewPlanner(&preemption.Snapshot{
			Time: noon, Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(1)}}, Pods: []preemption.Pod{runs, waits}, Disruptions: before,
		}, o)
		require.NoError(t, err)
		ask := preemption.Preemptor{Kind: preemption.KindPod, Name: "waits"}
		d, err := pl.Park(ask)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, d.Verdict)
		require.NoError(t, pl.SetTime(noon.Add(time.Minute)))
		d, err = pl.Decide(ask)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, d.Verdict)
		require.Equal(t, []preemption.Preemptor{ask}, pl.Wake(), change)
	}
}

// TestWakeAtIsATime: a guard that ends after all times ends never.
func TestWakeAtIsATime(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	last := time.Unix(math.MaxInt64-62_135_596_800, 0) // whose seconds since the year 1 are an int64
	for _, c := range []struct {
		seconds int64
		want    time.Time
	}{
		{math.MaxInt64 - 62_135_596_800 - noon.Unix(), last.UTC()},
		{math.MaxInt64 - 62_135_596_800 - noon.Unix() + 1, time.Time{}},
		{math.MaxInt64 - noon.Unix(), time.Time{}},
		{math.MaxInt64, time.Time{}},
	} {
		pl, err := preemption.NewPlanner(&preemption.Snapshot{
			Time: noon, Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(2)}},
			Pods: []preemption.Pod{{Name: "p", Node: "n1", Priority: prio(1), Requests: cpus(2), Started: noon}},
		}, preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: c.seconds}})
		require.NoError(t, err)
		_, err = pl.Park(preemption.Preemptor{Pods: []preemption.Pod{{Name: "asks", Priority: prio(9), Requests: cpus(2)}}})
		require.NoError(t, err)
		require.Equal(t, c.want, pl.WakeAt(), "%d", c.seconds)
	}
}

// TestNothingIsAnotherBeforeWakeAt: the verdict on whoever is parked is the same as long as WakeAt has not come.
func TestNothingIsAnotherBeforeWakeAt(t *testing.T) {
	t.Parallel()
	asked, due, other := 0, 0, 0
	for seed := range seeds(4_000) {
		o := preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: int64(seed%5) * 3_600}}
		if seed%2 == 0 {
			o = seededOptions(seed)
			o.Limits.Window = preemption.Window{}
		}
		question := gen.Random(seed, gen.Profile{MaxNodes: 4, MaxPods: 12, Guards: true, Groups: seed%2 == 0})
		pl, err := preemption.NewPlanner(&question.Snapshot, o)
		if err != nil || question.Snapshot.Time.IsZero() {
			continue
		}
		before, err := pl.Park(question.Preemptor)
		if err != nil || before.Verdict != preemption.Infeasible && before.Verdict != preemption.NotEligible {
			continue
		}
		asked++
		for range 8 { // guards end one after the other
			pl.Wake()
			_, err = pl.Park(question.Preemptor)
			require.NoError(t, err)
			from := pl.Snapshot().Time
			at, until := pl.WakeAt(), from.Add(1_000*time.Hour)
			if !at.IsZero() {
				due++
				require.True(t, at.After(from), "seed %d", seed)
				until = at.Add(-time.Nanosecond)
			}
			for part := range 3 { // on the way, and right before
				require.NoError(t, pl.SetTime(until.Add(-until.Sub(from)*time.Duration(2-part)/3)))
				now, err := pl.Decide(question.Preemptor)
				require.NoError(t, err)
				require.Equal(t, before.Verdict, now.Verdict, "seed %d: at %v, before %v", seed, pl.Snapshot().Time, at)
			}
			if at.IsZero() {
				break
			}
			require.NoError(t, pl.SetTime(at))
			now, err := pl.Decide(question.Preemptor)
			require.NoError(t, err)
			if now.Verdict != before.Verdict {
				require.Len(t, pl.Wake(), 1, "seed %d", seed)
				other++
				break
			}
		}
	}
	t.Logf("%d were asked, %d times time might have changed the verdict, %d times it did", asked, due, other)
	require.Greater(t, due, asked/2)
	require.Greater(t, other, 0)
}

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

// TestWhoIsKeptOffFromAfarIsWoken: whom somebody on another node keeps off, which itself is too small.
func TestWhoIsKeptOffFromAfarIsWoken(t *testing.T) {
	zone, app := map[string]string{"zone": "a"}, map[string]string{"app": "x"}
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Labels: zone, Allocatable: cpus(1)}, {Name: "n2", Labels: zone, Allocatable: cpus(4)}},
		Pods: []preemption.Pod{{Name: "x", Node: "n1", Labels: app, Priority: prio(9)}, {
			Name: "waits", Requests: cpus(2),
			AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: app}}},
		}},
	}, preemption.Options{})
	require.NoError(t, err)
	d, err := pl.Park(preemption.Preemptor{Kind: preemption.KindPod, Name: "waits"})
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, d.Verdict)
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "x"}))
	require.Len(t, pl.Wake(), 1)
}
