package check_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// lowAsVictims is an Eligible in which every unit has a priority of 0 as a victim,
// below its priority: what KEP-5710 forbids, and why.
type lowAsVictims struct{}

func (lowAsVictims) Kept(_ *victims.Units, _ victims.UnitID, p victims.Claim) victims.Kept {
	if p.Priority > 0 {
		return victims.Kept{}
	}
	return victims.Kept{Rule: victims.KeptPriority}
}

func nodes(cpus ...int64) (list []cluster.Node) {
	for i, cpu := range cpus {
		list = append(list, cluster.Node{Name: fmt.Sprintf("n%d", i+1), Allocatable: preemption.Resources{cluster.CPU: cpu}})
	}
	return list
}

func pod(name string, priority int32, cpu int64) check.Workload {
	return check.Workload{Pods: []preemption.Pod{{Name: name, Priority: &priority, Requests: preemption.Resources{cluster.CPU: cpu}}}}
}

// Two workloads of high priority whose priority as victims is low evict each other
// in turn, for ever. That is why KEP-5710 forbids it.
func Example() {
	m := check.Model{
		Nodes:     nodes(1),
		Workloads: []check.Workload{pod("x", 100, 1), pod("y", 100, 1)},
		Policy:    preemption.Options{Hooks: &preemption.Hooks{Eligible: lowAsVictims{}}},
	}
	report, err := m.Check()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report)

	m.Policy = preemption.Options{}
	report, err = m.Check()
	fmt.Println(report, err)
	// Output:
	// a cycle of 4 events:
	//   y evicts x
	//   y starts on n1
	//   x evicts y
	//   x starts on n1
	// no cycle in 3 situations, all that can be reached <nil>
}

// builtin are the built-in combinations of rules that are checked for cycles.
func builtin() map[string]preemption.Options {
	tariff := disruption.Tariff{Pods: 1, Work: map[string]disruption.Rate{cluster.CPU: {Price: 1}}}
	list := map[string]preemption.Options{}
	for _, rules := range []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136, preemption.KEP5710Alpha} {
		for name, o := range map[string]preemption.Options{
			"alone":           {},
			"guaranteed":      {Guards: preemption.Guards{GuaranteedSeconds: 60}},
			"cool-down":       {Guards: preemption.Guards{Cooldown: victims.Cooldown{Evictions: 1, Seconds: 120}}},
			"wait":            {WaitSeconds: 60},
			"no cascade":      {NoCascade: true},
			"cost":            {Cost: preemption.CostOptions{Tariff: tariff, Importance: true}, PreferMovable: true},
			"objective":       {Cost: preemption.CostOptions{Tariff: tariff, Objective: true}},
			"limits":          {Limits: preemption.Limits{Victims: 1, Window: preemption.Window{Seconds: 60, Pods: 1}}},
			"hard budgets":    {HardBudgets: preemption.HardBudgets{All: true}},
			"apart":           {PreemptionPriority: preemption.PreemptionPriority{Apart: true}},
			"all that fit":    {Members: preemption.AllThatFit},
			"lowest":          {LowestLevel: true},
			"guards together": {Guards: preemption.Guards{GuaranteedSeconds: 60, Cooldown: victims.Cooldown{Evictions: 2, Seconds: 120}}, WaitSeconds: 60},
		} {
			o.Rules = rules
			list[string(rules)+", "+name] = o
		}
	}
	return list
}

// randomModel is a small model: pods and gangs of few priorities and sizes, tolerant
// classes, preemption priorities that climb.
func randomModel(r *rand.Rand, o preemption.Options) check.Model {
	m := check.Model{Nodes: nodes([]int64{int64(1 + r.IntN(2)), int64(1 + r.IntN(2)), int64(1 + r.IntN(2))}[:1+r.IntN(3)]...), Policy: o, MaxStates: 1000}
	if r.IntN(3) == 0 {
		m.Classes = []priority.Class{{Name: "tolerant", Value: 1, Annotations: map[string]string{
			priority.MinimumPreemptableAnnotation: "3", priority.TolerationSecondsAnnotation: "60",
		}}}
	}
	if r.IntN(2) == 0 {
		m.Budgets = []disruption.Budget{{Name: "b", Allowed: int32(r.IntN(2)), Selector: &disruption.Selector{}}}
	}
	for w := range 2 + r.IntN(3) {
		prio := int32(1 + r.IntN(3))
		load := pod(fmt.Sprintf("w%d", w), prio, int64(1+r.IntN(2)))
		p := &load.Pods[0]
		switch r.IntN(5) {
		case 0:
			if len(m.Classes) > 0 {
				p.Class, p.Priority = "tolerant", nil
			}
		case 1:
			higher := prio + 1
			p.PreemptionPriority = &higher
		case 2:
			p.Guard = &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: 60, Value: int64(prio) + 2}, {Seconds: 120, Value: int64(prio)}}}
		case 3:
			least := int32(2)
			other := *p
			other.Name += "-2"
			load.Pods = append(load.Pods, other)
			load.Group = &preemption.PodGroup{
				Name: p.Name, Priority: &prio, MinCount: &least,
				Mode: []disruption.Mode{disruption.Single, disruption.All, disruption.SurplusFirst}[r.IntN(3)],
			}
		}
		m.Workloads = append(m.Workloads, load)
	}
	return m
}

// TestBuiltinRulesHaveNoCycle: on random small models of every built-in combination,
// others for each, no situation comes back with an eviction in between.
func TestBuiltinRulesHaveNoCycle(t *testing.T) {
	const models = 10 // with -long; else two at least, and until somebody was evicted
	all := builtin()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			states, evictions, complete := 0, 0, 0
			made := 0
			for ; made < models && (*long || made < 2 || evictions == 0 || complete == 0); made++ {
				report := hasNoCycle(t, all[name], uint64(i*models+made))
				states += report.States
				evictions += report.Evictions
				if report.Complete {
					complete++
				}
			}
			t.Logf("%d models, %d complete: %d situations, %d evictions, no cycle", made, complete, states, evictions)
			require.Positive(t, evictions)
			require.Positive(t, complete)
		})
	}
}

func hasNoCycle(t *testing.T, o preemption.Options, seed uint64) *check.Report {
	m := randomModel(rand.New(rand.NewPCG(seed, 8)), o)
	if !o.Cost.Tariff.Free() {
		m.StepSeconds = 60
	}
	report, err := m.Check()
	require.NoError(t, err, "seed %d", seed)
	require.Nil(t, report.Cycle, "seed %d: %s", seed, report)
	return report
}

// FuzzBuiltinRulesHaveNoCycle looks at more of them.
func FuzzBuiltinRulesHaveNoCycle(f *testing.F) {
	all := builtin()
	names := slices.Sorted(maps.Keys(all))
	f.Add(uint16(0), uint64(1))
	f.Fuzz(func(t *testing.T, name uint16, seed uint64) {
		hasNoCycle(t, all[names[int(name)%len(names)]], seed)
	})
}

// silent is a policy that does not answer.
type silent struct{}

func (silent) Preempt(preemption.Preemptor, *preemption.Snapshot) (*preemption.Result, error) {
	return nil, nil
}

func TestModelsOutOfBounds(t *testing.T) {
	four := []check.Workload{pod("a", 1, 1), pod("b", 1, 1), pod("c", 1, 1), pod("d", 1, 1)}
	for want, m := range map[string]check.Model{
		`cluster: Model: Nodes: 4 is not at most 3`:                                                                     {Nodes: nodes(1, 1, 1, 1)},
		`cluster: Model: Workloads: 5 is not at most 4`:                                                                 {Workloads: append(four, pod("e", 1, 1))},
		`cluster: Model: Workloads[0].Pods: 0 is not one pod, or a Group given`:                                         {Workloads: []check.Workload{{}}},
		`cluster: Model: Workloads[0].Pods: 0 is not >= 1`:                                                              {Workloads: []check.Workload{{Group: &preemption.PodGroup{Name: "g"}}}},
		`cluster: Model: Pods: 9 is not at most 8`:                                                                      {Workloads: []check.Workload{{Group: &preemption.PodGroup{Name: "g"}, Pods: make([]preemption.Pod, 9)}}},
		`cluster: Model: StepSeconds: -1 is not >= 0 and at most 3153600000`:                                            {StepSeconds: -1},
		`cluster: Model: HorizonSeconds: 9223372036854775807 is not >= 0 and at most 3153600000`:                        {HorizonSeconds: math.MaxInt64},
		`cluster: Model: StepSeconds: 0 is not >= 1 where HorizonSeconds is, and no rule says by how much time goes by`: {HorizonSeconds: 60},
		`cluster: Pod "a": Requests[cpu]: -1 is not >= 0`:                                                               {Workloads: []check.Workload{pod("a", 1, -1)}},
		`cluster: Node "n1": Allocatable[cpu]: -1 is not >= 0`:                                                          {Nodes: nodes(-1)},
	} {
		_, err := m.Check()
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, cluster.ErrInvalid)
	}
	_, err := (*check.Model)(nil).Check()
	require.EqualError(t, err, "cluster: Model: Model: nil is not a model")
	_, err = (&check.Model{Nodes: nodes(1, 1, 1, 1), StepSeconds: -1}).Check()
	require.ErrorContains(t, err, "Nodes: 4")
	require.ErrorContains(t, err, "StepSeconds: -1")
	_, err = (&check.Model{Nodes: nodes(1), Workloads: four[:1], Policy: silent{}}).Check()
	require.ErrorContains(t, err, "neither a result nor an error")
	bad := check.Model{Nodes: nodes(1), Workloads: four[:1], Policy: preemption.Options{Rules: "Kubernetes1"}}
	_, err = bad.Check()
	var oe *preemption.OptionError
	require.ErrorAs(t, err, &oe)
}

// TestGuaranteedForEver: seconds that never pass make no steps.
func TestGuaranteedForEver(t *testing.T) {
	x, forever := pod("x", 1, 1), int64(math.MaxInt64)
	x.Pods[0].Guard = &cluster.Guard{GuaranteedSeconds: &forever}
	m := check.Model{Nodes: nodes(1), Workloads: []check.Workload{x, pod("y", 2, 1)}}
	r, err := m.Check()
	require.NoError(t, err)
	require.Equal(t, check.NoCycle, r.Verdict)
	require.Equal(t, 3, r.States, "nobody runs, x does, y does")
	require.Zero(t, r.Evictions)
}

// TestProgress: a long check says how far it is.
func TestProgress(t *testing.T) {
	m := check.Model{Nodes: nodes(1, 1), Policy: preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}}, StepSeconds: 10, MaxStates: 2500}
	for i := range int32(4) {
		m.Workloads = append(m.Workloads, pod(fmt.Sprint(i), i, 1))
	}
	var seen []int
	m.Progress = func(n, ahead int) {
		seen = append(seen, n)
		require.Positive(t, ahead)
	}
	r, err := m.Check()
	require.NoError(t, err)
	require.Equal(t, []int{1000, 2000}, seen)
	require.Equal(t, check.NotExhausted, r.Verdict)
}

// TestAModelThatIsTooLargeSaysSo: what was not looked at is not called complete.
func TestAModelThatIsTooLargeSaysSo(t *testing.T) {
	m := check.Model{Nodes: nodes(1), Workloads: []check.Workload{pod("x", 1, 1), pod("y", 2, 1)}, MaxStates: 2}
	r, err := m.Check()
	require.NoError(t, err)
	require.False(t, r.Complete)
	require.Equal(t, "not exhausted: no cycle in 2 situations, but there are more", r.String())
	require.Equal(t, check.NotExhausted, r.Verdict)
}

// TestACheckCanBeStopped by its context.
func TestACheckCanBeStopped(t *testing.T) {
	m := check.Model{Nodes: nodes(1), Workloads: []check.Workload{pod("x", 100, 1), pod("y", 100, 1)}}
	whole, err := m.Check()
	require.NoError(t, err)
	require.Equal(t, 3, whole.States)

	over, stop := context.WithCancel(context.Background())
	stop()
	_, err = m.CheckContext(over)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "stopped after 0 situations")

	m.MaxStates = 1 << 20
	same, err := m.CheckContext(context.Background())
	require.NoError(t, err)
	require.Equal(t, whole, same)
}

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
