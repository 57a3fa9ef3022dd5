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
