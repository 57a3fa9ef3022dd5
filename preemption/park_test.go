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
