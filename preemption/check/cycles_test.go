package check_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// guards are what may break a cycle.
var guards = map[string]func(*preemption.Options){
	"nothing":    func(*preemption.Options) {},
	"guaranteed": func(o *preemption.Options) { o.Guards.GuaranteedSeconds = 60 },
	"cool-down":  func(o *preemption.Options) { o.Guards.Cooldown = victims.Cooldown{Evictions: 1, Seconds: 120} },
	"wait":       func(o *preemption.Options) { o.WaitSeconds = 60 },
	"window":     func(o *preemption.Options) { o.Limits.Window = preemption.Window{Seconds: 120, Victims: 1} },
	"no cascade": func(o *preemption.Options) { o.NoCascade = true },
	"strict":     func(o *preemption.Options) { o.Strict = true },
}

// unlike is a gang of priority 10 whose pod has priority 1.
func unlike() check.Workload {
	load, high, least := pod("gang-0", 1, 1), int32(10), int32(1)
	load.Group = &preemption.PodGroup{Name: "gang", Priority: &high, MinCount: &least}
	return load
}

// TestWhatBreaksACycle: every cycle that is known, and which guards break it. What
// only delays evictions makes a cycle longer.
func TestWhatBreaksACycle(t *testing.T) {
	for name, c := range map[string]struct {
		workloads []check.Workload
		policy    preemption.Options
		cycle     []check.EventKind // without guards
		breaks    []string
	}{
		"preemption priority below the priority": {
			workloads: []check.Workload{pod("x", 100, 1), pod("y", 100, 1)},
			policy:    preemption.Options{Hooks: &preemption.Hooks{Eligible: lowAsVictims{}}},
			cycle:     []check.EventKind{check.Evict, check.Place, check.Evict, check.Place},
			breaks:    []string{"no cascade"},
		},
		"equal priority after a minute": {
			workloads: []check.Workload{pod("x", 1, 1), pod("y", 1, 1)},
			policy:    preemption.Options{Guards: preemption.Guards{EqualAfterSeconds: 60}},
			cycle:     []check.EventKind{check.Evict, check.Place, check.Wait, check.Evict, check.Place, check.Wait},
			breaks:    []string{"no cascade"},
		},
		"a pod below its group, under v1.36": {
			workloads: []check.Workload{unlike(), pod("web", 5, 1)},
			policy:    preemption.Options{Rules: preemption.Kubernetes136},
			cycle:     []check.EventKind{check.Evict, check.Place},
			breaks:    []string{"strict"},
		},
	} {
		for guard, set := range guards {
			t.Run(name+", "+guard, func(t *testing.T) {
				o := c.policy
				set(&o)
				m := check.Model{Nodes: nodes(1), Workloads: c.workloads, Policy: o, MaxStates: 3000}
				r, err := m.Check()
				if guard == "strict" && err != nil {
					require.Contains(t, c.breaks, guard)
					var fe *cluster.FieldError
					require.ErrorAs(t, err, &fe)
					return
				}
				require.NoError(t, err)
				if slices.Contains(c.breaks, guard) {
					require.Equal(t, check.NoCycle, r.Verdict, "%s", r)
					return
				}
				require.Equal(t, check.Cycles, r.Verdict, "%s", r)
				require.Equal(t, check.Evict, r.Cycle[0].Kind)
				if guard == "nothing" {
					var kinds []check.EventKind
					for _, e := range r.Cycle {
						kinds = append(kinds, e.Kind)
					}
					require.Equal(t, c.cycle, kinds, "%s", r)
				}
			})
		}
	}
}

// TestLaterRulesBreakTheCycleOfUnlikePods: from v1.37 on a pod counts as its group
// does, and a group with unlike pods may not preempt.
func TestLaterRulesBreakTheCycleOfUnlikePods(t *testing.T) {
	for _, rules := range []preemption.Rules{preemption.Kubernetes137, preemption.KEP5710Alpha} {
		m := check.Model{Nodes: nodes(1), Workloads: []check.Workload{unlike(), pod("web", 5, 1)}, Policy: preemption.Options{Rules: rules}}
		r, err := m.Check()
		require.NoError(t, err)
		require.Equal(t, check.NoCycle, r.Verdict, "%s: %s", rules, r)
	}
}

// TestPreemptionPriorityBelowThePriorityIsRefused: what makes the KEP's cycle is no
// question that the built-in rules answer.
func TestPreemptionPriorityBelowThePriorityIsRefused(t *testing.T) {
	low, x := int32(0), pod("x", 100, 1)
	x.Pods[0].PreemptionPriority = &low
	for _, rules := range []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136, preemption.KEP5710Alpha} {
		m := check.Model{Nodes: nodes(1), Workloads: []check.Workload{x, pod("y", 100, 1)}, Policy: preemption.Options{Rules: rules}}
		_, err := m.Check()
		var fe *cluster.FieldError
		require.ErrorAs(t, err, &fe)
		require.Equal(t, "PreemptionPriority", fe.Field)
	}
}
