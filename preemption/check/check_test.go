package check_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
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
			for ; made < models && (*long > 0 || made < 2 || evictions == 0 || complete == 0); made++ {
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

// borrowed is a team that wants its GPUs back: two of three workloads of the team that
// has borrowed them have to go.
func borrowed() *preemption.Snapshot {
	gpus := func(n int64) []preemption.ResourceGroup {
		return []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{
			{Flavor: "a100", Resources: []preemption.ResourceQuota{{Resource: "gpu", Nominal: n}}},
			{Flavor: "old", Resources: []preemption.ResourceQuota{{Resource: "gpu", Nominal: 0}}},
		}}}
	}
	runs := func(name, queue string, priority int32, count int32) preemption.Workload {
		return preemption.Workload{
			Name: name, Priority: priority, Admission: &preemption.Admission{ClusterQueue: queue},
			PodSets: []preemption.PodSet{{Name: "workers", Count: count, Requests: preemption.Resources{"gpu": 1}, Flavors: map[string]string{"gpu": "a100"}}},
		}
	}
	return &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}, {Name: "old"}},
		ClusterQueues: []preemption.ClusterQueue{
			{Name: "research", Cohort: "company", Groups: gpus(16), Preemption: preemption.QueuePreemption{ReclaimWithinCohort: preemption.AnyPriority}},
			{Name: "product", Cohort: "company", Groups: gpus(8)},
			{Name: "sales", Cohort: "company", Groups: gpus(2)},
		},
		LocalQueues: []preemption.LocalQueue{{Name: "lab", ClusterQueue: "research"}},
		Workloads: []preemption.Workload{
			runs("search", "product", 5, 8), runs("ads", "product", 3, 8), runs("draft", "product", 1, 8), runs("deck", "sales", 0, 2),
			{Name: "paper", Queue: "lab", PodSets: []preemption.PodSet{{Name: "workers", Count: 16, Requests: preemption.Resources{"gpu": 1}}}},
		},
	}
}

// TestAProofKnowsWhoUsesMoreThanThereIs: within the inner cohort nothing is left to ask for of memory, of which more is used than there is;
// so what the queue asks for does not fit there, and it is tried without borrowing first.
func TestAProofKnowsWhoUsesMoreThanThereIs(t *testing.T) {
	none := int64(0)
	group := func(cpu, mem int64, lent *int64) []preemption.ResourceGroup {
		return []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{{Flavor: "f", Resources: []preemption.ResourceQuota{
			{Resource: "cpu", Nominal: cpu}, {Resource: "mem", Nominal: mem, Lending: lent},
		}}}}}
	}
	runs := func(name, queue string, cpu, mem int64) preemption.Workload {
		return preemption.Workload{Name: name, Admission: &preemption.Admission{ClusterQueue: queue}, PodSets: []preemption.PodSet{{
			Name: "main", Count: 1, Requests: preemption.Resources{"cpu": cpu, "mem": mem}, Flavors: map[string]string{"cpu": "f", "mem": "f"},
		}}}
	}
	s := &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "f"}},
		Cohorts:         []preemption.Cohort{{Name: "outer"}, {Name: "inner", Parent: "outer", Groups: group(4, 0, nil)}},
		ClusterQueues: []preemption.ClusterQueue{
			{Name: "own", Cohort: "inner", Groups: group(2, 5, &none), Preemption: preemption.QueuePreemption{
				ReclaimWithinCohort: preemption.AnyPriority, WithinClusterQueue: preemption.LowerPriority,
			}},
			{Name: "beside", Cohort: "inner", Groups: group(0, 0, nil)}, {Name: "far", Cohort: "outer", Groups: group(0, 9, nil)},
		},
		LocalQueues: []preemption.LocalQueue{{Name: "lq", ClusterQueue: "own"}},
		Workloads: []preemption.Workload{
			runs("full", "beside", 0, 10), runs("mine", "own", 1, 1), runs("a", "far", 3, 1), runs("b", "far", 2, 1),
			{Name: "in", Queue: "lq", Priority: 1, PodSets: []preemption.PodSet{{Name: "main", Count: 1, Requests: preemption.Resources{"cpu": 2, "mem": 1}}}},
		},
	}
	o, p := preemption.Options{Search: preemption.Exact, Proof: true}, preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"}
	r, err := o.Preempt(p, s)
	require.NoError(t, err)
	require.NotNil(t, r.Proof, r.Message)
	require.Len(t, r.Proof.Nodes, 2)
	require.Empty(t, check.Verify(s, o, p, r))
}

func TestTamperedQuotaIsFound(t *testing.T) {
	snapshot, p := borrowed(), preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}
	answer := func() *preemption.Result {
		r, err := preemption.Preempt(p, snapshot)
		require.NoError(t, err)
		return r
	}
	require.Len(t, answer().Victims, 2)
	require.Empty(t, check.Verify(snapshot, preemption.Options{}, p, answer()))
	for name, tamper := range map[string]func(r *preemption.Result){
		"a victim is dropped":                  func(r *preemption.Result) { r.Victims = r.Victims[1:] },
		"a victim goes twice":                  func(r *preemption.Result) { r.Victims = append(r.Victims, r.Victims[0]) },
		"a victim more, of its own quota":      func(r *preemption.Result) { add(r, "search", "product", 5) },
		"one of a queue that borrows nothing":  func(r *preemption.Result) { r.Victims = r.Victims[:1]; add(r, "deck", "sales", 0) },
		"one who holds nothing":                func(r *preemption.Result) { add(r, "nobody", "product", 0) },
		"one without quota":                    func(r *preemption.Result) { r.Victims[0].Quota = nil },
		"the reason is another":                func(r *preemption.Result) { r.Victims[0].Quota.Reason = preemption.InClusterQueue },
		"the reason is one of fair sharing":    func(r *preemption.Result) { r.Victims[0].Quota.Reason = preemption.InCohortFairSharing },
		"the reason is one of borrowers":       func(r *preemption.Result) { r.Victims[0].Quota.Reason = preemption.InCohortReclaimWhileBorrowing },
		"the queue is another":                 func(r *preemption.Result) { r.Victims[0].Quota.ClusterQueue = "sales" },
		"the priority is another":              func(r *preemption.Result) { r.Victims[0].Quota.Priority++ },
		"it is called evicted":                 func(r *preemption.Result) { r.Victims[0].Quota.Evicted = true },
		"it is called to fit":                  func(r *preemption.Result) { r.Verdict, r.Victims = preemption.Fits, nil },
		"it is called not eligible":            func(r *preemption.Result) { r.Verdict = preemption.NotEligible },
		"nobody goes":                          func(r *preemption.Result) { r.Victims = nil },
		"the flavor is another":                func(r *preemption.Result) { r.Quota.Flavors[0].Flavor = "old" },
		"the flavor is not of the queue":       func(r *preemption.Result) { r.Quota.Flavors[0].Flavor = "h100" },
		"the amount is smaller":                func(r *preemption.Result) { r.Quota.Flavors[0].Amount-- },
		"the resource is another":              func(r *preemption.Result) { r.Quota.Flavors[0].Resource = "cpu" },
		"the pod set is another":               func(r *preemption.Result) { r.Quota.Flavors[0].PodSet = "masters" },
		"no flavor is told":                    func(r *preemption.Result) { r.Quota.Flavors = nil },
		"it is told that there is enough":      func(r *preemption.Result) { r.Quota.Flavors[0].Contested = false },
		"the ClusterQueue is another":          func(r *preemption.Result) { r.Quota.ClusterQueue = "product" },
		"fewer pods than it can start with":    func(r *preemption.Result) { r.Quota.Counts = []int32{15} },
		"counts for pod sets that are not its": func(r *preemption.Result) { r.Quota.Counts = []int32{16, 1} },
		"no quota is told":                     func(r *preemption.Result) { r.Quota = nil },
	} {
		r := answer()
		tamper(r)
		require.NotEmpty(t, check.Verify(snapshot, preemption.Options{}, p, r), name)
	}
}

// TestAnswersAboutOtherQuotaAreFound: what is true of one snapshot, where the rules of queues and flavors are others.
func TestAnswersAboutOtherQuotaAreFound(t *testing.T) {
	p := preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}
	taint := []cluster.Taint{{Key: "spot", Value: "yes", Effect: cluster.NoSchedule}}
	tolerated := func(t cluster.Toleration) func(s *preemption.Snapshot) {
		return func(s *preemption.Snapshot) {
			s.ResourceFlavors[0].NodeTaints, s.ResourceFlavors[0].Tolerations = taint, []cluster.Toleration{t}
		}
	}
	reclaim := func(policy cluster.QueuePolicy, own int64) func(s *preemption.Snapshot) {
		return func(s *preemption.Snapshot) {
			s.ClusterQueues[0].Preemption.ReclaimWithinCohort = policy
			s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal, s.ClusterQueues[2].Groups[0].Flavors[0].Resources[0].Nominal = own, 18-own
		}
	}
	for _, c := range []struct {
		change func(s *preemption.Snapshot)
		want   string // empty: the answer stays true
	}{
		{func(s *preemption.Snapshot) { s.ResourceFlavors[0].NodeTaints = taint }, "flavor a100 does not suit pod set 0"},
		{tolerated(cluster.Toleration{Key: "spot", Value: "yes"}), ""},
		{tolerated(cluster.Toleration{Key: "spot", Operator: cluster.TolerationExists, Effect: cluster.NoSchedule}), ""},
		{tolerated(cluster.Toleration{Key: "spot", Value: "no"}), "flavor a100 does not suit pod set 0"},
		{tolerated(cluster.Toleration{Key: "other", Value: "yes"}), "flavor a100 does not suit pod set 0"},
		{tolerated(cluster.Toleration{Key: "spot", Value: "yes", Effect: cluster.NoExecute}), "flavor a100 does not suit pod set 0"},
		{func(s *preemption.Snapshot) {
			s.ResourceFlavors[0].NodeLabels = map[string]string{"gpu": "a100"}
			s.Workloads[4].PodSets[0].NodeSelector = map[string]string{"gpu": "h100"}
		}, "flavor a100 does not suit pod set 0"},
		{func(s *preemption.Snapshot) { s.ClusterQueues[0].Stopped = true }, "it is admitted to nothing"},
		{reclaim(cluster.QueueNever, 16), "reclaimWithinCohort keeps it"},
		{reclaim(cluster.LowerPriority, 16), "reclaimWithinCohort keeps it"},
		{reclaim(cluster.ReclaimFromLowerPriority, 15), "research owns 15 gpu in flavor a100, and others go for 16"},
		{reclaim(cluster.ReclaimFromAny, 15), "research owns 15 gpu in flavor a100, and others go for 16"},
		{reclaim(cluster.ReclaimFromAny, 16), ""},
		{func(s *preemption.Snapshot) { s.ClusterQueues[1].Cohort = "another" }, "it is of another tree of queues"},
		{func(s *preemption.Snapshot) { s.ClusterQueues[1].Groups[0].Flavors[1].Flavor = "gone" }, "its queue is inactive"},
	} {
		s := borrowed()
		r, err := preemption.Preempt(p, s)
		require.NoError(t, err)
		c.change(s)
		problems := check.Verify(s, preemption.Options{}, p, r)
		if c.want == "" {
			require.Empty(t, problems)
			continue
		}
		require.Contains(t, fmt.Sprint(problems), c.want)
	}
}

func add(r *preemption.Result, name, queue string, priority int64) {
	r.Victims = append(r.Victims, preemption.Victim{
		Kind: preemption.KindWorkload, Name: name, Priority: int32(priority),
		Quota: &preemption.QuotaVictim{ClusterQueue: queue, Reason: preemption.InCohortReclamation, Priority: priority},
	})
}

// TestQuotaThatFitsIsTold: an answer that evicts, or gives up, where there is room.
func TestQuotaThatFitsIsTold(t *testing.T) {
	snapshot, p := borrowed(), preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}
	r, err := preemption.Preempt(p, snapshot)
	require.NoError(t, err)
	snapshot.Workloads = snapshot.Workloads[3:]
	fits, err := preemption.Preempt(p, snapshot)
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, fits.Verdict)
	require.Empty(t, check.Verify(snapshot, preemption.Options{}, p, fits))
	require.NotEmpty(t, check.Verify(snapshot, preemption.Options{}, p, r))
	fits.Verdict, fits.Quota.Flavors = preemption.Infeasible, nil
	require.NotEmpty(t, check.Verify(snapshot, preemption.Options{}, p, fits))
}

// What is told of the least disruption of workloads is read: its criteria, and a bound beyond what was found, or
// beyond what one workload of the queue comes to.
func TestTamperedLeastOfWorkloadsIsFound(t *testing.T) {
	snapshot, p := borrowed(), preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}
	snapshot.ClusterQueues[0].Preemption.WithinClusterQueue = preemption.LowerPriority
	snapshot.Workloads[4].Priority = 9
	o := preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionUnits, preemption.CriterionLevels}}
	answer := func() *preemption.Result {
		r, err := o.Preempt(p, snapshot)
		require.NoError(t, err)
		return r
	}
	require.True(t, answer().Optimal)
	require.Empty(t, check.Verify(snapshot, o, p, answer()))
	for name, tamper := range map[string]func(r *preemption.Result){
		"a criterion is smaller":      func(r *preemption.Result) { r.Score[0].Value-- },
		"a level is missing":          func(r *preemption.Result) { r.Score = r.Score[:len(r.Score)-1] },
		"two stand in each other's":   func(r *preemption.Result) { r.Score[0], r.Score[1] = r.Score[1], r.Score[0] },
		"the bound has another":       func(r *preemption.Result) { r.Optimal, r.Bound = false, r.Score[1:2] },
		"the bound is larger":         func(r *preemption.Result) { r.Optimal, r.Bound = false, bound(r, r.Score[0].Value+1) },
		"it goes on where it differs": func(r *preemption.Result) { r.Optimal, r.Bound = false, append(bound(r, 0), r.Score[1]) },
		"optimal is no bound":         func(r *preemption.Result) { r.Bound = bound(r, 1) },
	} {
		r := answer()
		tamper(r)
		require.NotEmpty(t, check.Verify(snapshot, o, p, r), name)
	}
	r := answer()
	o.Search = ""
	require.NotEmpty(t, check.Verify(snapshot, o, p, r), "nobody has searched")

	o.Search, snapshot = preemption.Exact, borrowed()
	snapshot.ClusterQueues[0].Cohort, snapshot.ClusterQueues[0].Preemption = "", preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority}
	snapshot.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal = 24
	snapshot.Workloads = append(snapshot.Workloads[:3], snapshot.Workloads[4])
	for i := range snapshot.Workloads[:3] {
		snapshot.Workloads[i].Admission.ClusterQueue = "research"
	}
	snapshot.Workloads[3].PodSets[0].Count, snapshot.Workloads[3].Priority = 2, 9
	r = answer()
	require.Empty(t, check.Verify(snapshot, o, p, r))
	require.Equal(t, "draft", r.Victims[0].Name, "of the lowest priority")
	r.Victims[0].Name, r.Victims[0].Priority, r.Victims[0].Quota.Priority = "ads", 3, 3
	r.Score[2].Value, r.Score[3].Value = 1, 0
	r.Bound = r.Score
	problems := check.Verify(snapshot, o, p, r)
	require.Len(t, problems, 1)
	require.Equal(t, check.RuleBest, problems[0].Rule)
	require.Equal(t, "draft", problems[0].Name, "alone it would do, and is of less priority")
}

// bound is a bound of the first criterion alone.
func bound(r *preemption.Result, v int64) []preemption.Criterion {
	return []preemption.Criterion{{Name: r.Score[0].Name, Value: v}}
}

// A cohort beside the preemptor's queue that borrows one has given up enough once one of its workloads
// has gone, though both of its queues borrow.
func TestACohortThatGivesUpTooMuchIsFound(t *testing.T) {
	gpus := func(n int64) []preemption.ResourceGroup {
		return []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{{Flavor: "f", Resources: []preemption.ResourceQuota{{Resource: "gpu", Nominal: n}}}}}}
	}
	runs := func(name, queue string, n int32) preemption.Workload {
		return preemption.Workload{
			Name: name, Admission: &preemption.Admission{ClusterQueue: queue},
			PodSets: []preemption.PodSet{{Name: "main", Count: n, Requests: preemption.Resources{"gpu": 1}, Flavors: map[string]string{"gpu": "f"}}},
		}
	}
	snapshot := &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "f"}},
		Cohorts:         []preemption.Cohort{{Name: "all"}, {Name: "side", Parent: "all", Groups: gpus(3)}},
		ClusterQueues: []preemption.ClusterQueue{
			{
				Name: "own", Cohort: "all", Groups: gpus(4),
				Preemption: preemption.QueuePreemption{ReclaimWithinCohort: preemption.AnyPriority, BorrowWithinCohort: &cluster.BorrowWithinCohort{}},
			},
			{Name: "left", Cohort: "side", Groups: gpus(0)}, {Name: "right", Cohort: "side", Groups: gpus(0)},
		},
		LocalQueues: []preemption.LocalQueue{{Name: "lq", ClusterQueue: "own"}},
		Workloads:   []preemption.Workload{runs("l", "left", 2), runs("r", "right", 2), {Name: "in", Queue: "lq", Priority: 1}},
	}
	in := &snapshot.Workloads[2]
	in.PodSets = []preemption.PodSet{{Name: "main", Count: 4, Requests: preemption.Resources{"gpu": 1}}}
	p := preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"}
	r, err := preemption.Preempt(p, snapshot)
	require.NoError(t, err)
	require.Len(t, r.Victims, 1)
	require.Empty(t, check.Verify(snapshot, preemption.Options{}, p, r))
	more := r.Victims[0]
	more.Name, more.Quota = "l", &preemption.QuotaVictim{ClusterQueue: "left", Reason: more.Quota.Reason}
	if r.Victims[0].Name == "l" {
		more.Name, more.Quota.ClusterQueue = "r", "right"
	}
	in.PodSets[0].Count = 6
	r.Quota.Flavors[0].Amount = 6
	r.Victims = append(r.Victims, more)
	told := ""
	for _, problem := range check.Verify(snapshot, preemption.Options{}, p, r) {
		told += problem.Text + "\n"
	}
	require.Contains(t, told, "cohort side goes below what is its own")
}

// TestQuotaThatBeginsBeyondTime is held from when that time is, as the answer tells it.
func TestQuotaThatBeginsBeyondTime(t *testing.T) {
	one := preemption.Resources{"cpu": 1000}
	s := &preemption.Snapshot{
		Time: time.Date(2026, 1, 2, 16, 0, 0, 0, time.UTC), Nodes: []preemption.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 9000}}},
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "f"}},
		ClusterQueues: []preemption.ClusterQueue{{
			Name: "q", Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority},
			Groups: []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{{Flavor: "f", Resources: []preemption.ResourceQuota{{Resource: "cpu", Nominal: 1000}}}}}},
		}},
		LocalQueues: []preemption.LocalQueue{{Name: "lq", ClusterQueue: "q"}},
		Workloads:   []preemption.Workload{{Name: "in", Queue: "lq", Priority: 1, PodSets: []preemption.PodSet{{Name: "main", Count: 1, Requests: one}}}},
	}
	p, o := preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"}, preemption.Options{Search: preemption.Improved}
	for _, started := range []time.Time{{}, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), s.Time.Add(-time.Hour)} {
		s.Pods = []preemption.Pod{{Name: "holds", Node: "n", Queue: "lq", Requests: one, Started: started}}
		r, err := o.Preempt(p, s)
		require.NoError(t, err)
		require.Len(t, r.Victims, 1)
		require.Empty(t, check.Verify(s, o, p, r), started)
	}
}

// forger makes one thing of a right answer untrue.
type forger struct {
	*rand.Rand
	q gen.Question
	o preemption.Options
	r *preemption.Result // its own copy
}

// running is a victim that is made of some pod that runs and is none yet; nil if there
// is none.
func (f *forger) running() *preemption.Victim {
	var list []preemption.Pod
	for _, p := range f.q.Snapshot.Pods {
		isVictim := func(v preemption.Victim) bool {
			return slices.ContainsFunc(v.Pods, func(x preemption.VictimPod) bool { return x.Namespace == p.Namespace && x.Name == p.Name })
		}
		if p.Node != "" && !slices.ContainsFunc(f.r.Victims, isVictim) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil
	}
	p := list[f.IntN(len(list))]
	v := preemption.Victim{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name, Reason: f.r.Victims[0].Reason}
	v.Pods = []preemption.VictimPod{{PodRef: preemption.PodRef{Namespace: p.Namespace, Name: p.Name}, Node: p.Node, Started: p.Started}}
	if p.Priority != nil {
		v.Priority, v.Pods[0].Priority = *p.Priority, *p.Priority
	}
	return &v
}

// otherNode is a node other than that; empty if there is none.
func (f *forger) otherNode(than string) string {
	for _, i := range f.Perm(len(f.q.Snapshot.Nodes)) {
		if name := f.q.Snapshot.Nodes[i].Name; name != than {
			return name
		}
	}
	return ""
}

// victim is one of the victims.
func (f *forger) victim() *preemption.Victim { return &f.r.Victims[f.IntN(len(f.r.Victims))] }

// by is what a number is changed by.
func (f *forger) by() int64 { return []int64{-1, 1, 1000}[f.IntN(3)] }

// bare takes away what the verdict of an answer that evicts nobody does not have.
func (f *forger) bare(v preemption.Verdict) bool {
	*f.r = preemption.Result{Verdict: v, Preemptor: f.r.Preemptor, Kept: f.r.Kept, Stats: f.r.Stats}
	return true
}

// forgeries change an answer that evicts somebody, and say whether they could.
var forgeries = map[string]func(f *forger) bool{
	"a victim dropped": func(f *forger) bool {
		i := f.IntN(len(f.r.Victims))
		f.r.Victims = slices.Delete(f.r.Victims, i, i+1)
		return true
	},
	"a victim added": func(f *forger) bool {
		v := f.running()
		if v != nil {
			f.r.Victims = slices.Insert(f.r.Victims, f.IntN(len(f.r.Victims)+1), *v)
		}
		return v != nil
	},
	"a victim exchanged": func(f *forger) bool {
		v := f.running()
		if v != nil {
			*f.victim() = *v
		}
		return v != nil
	},
	"a victim twice": func(f *forger) bool {
		f.r.Victims = append(f.r.Victims, f.r.Victims[0])
		return true
	},
	"a pod of a victim dropped": func(f *forger) bool {
		v := f.victim()
		v.Pods = v.Pods[1:]
		return true
	},
	"victims in another order": func(f *forger) bool {
		slices.Reverse(f.r.Victims)
		return len(f.r.Victims) > 1
	},
	"a victim's priority": func(f *forger) bool { f.victim().Priority += int32(f.by()); return true },
	"a pod's priority":    func(f *forger) bool { f.victim().Pods[0].Priority += int32(f.by()); return true },
	"a pod's node":        func(f *forger) bool { v := f.victim(); v.Pods[0].Node = f.otherNode(v.Pods[0].Node); return true },
	"a pod's start": func(f *forger) bool {
		p := &f.victim().Pods[0]
		p.Started = p.Started.Add(1)
		return true
	},
	"a victim's cost":    func(f *forger) bool { f.victim().Cost += f.by(); return true },
	"a victim's mode":    func(f *forger) bool { f.victim().Mode += "x"; return true },
	"surplus":            func(f *forger) bool { v := f.victim(); v.Surplus = !v.Surplus; return true },
	"violates":           func(f *forger) bool { v := f.victim(); v.Violates = !v.Violates; return true },
	"a victim's budgets": func(f *forger) bool { v := f.victim(); v.Budgets = append(v.Budgets, "default/other"); return true },
	"a reason's check": func(f *forger) bool {
		f.victim().Reason.Check = "another"
		return !f.tied()
	},
	"a reason's number": func(f *forger) bool {
		v := f.victim()
		v.Reason.Missing += f.by()
		return v.Reason.Check == "resource" && !f.tied()
	},
	"a reason's node": func(f *forger) bool { v := f.victim(); v.Reason.Node += "x"; return true },
	"violations":      func(f *forger) bool { f.r.Violations += int(f.by()); return true },
	"overruns":        func(f *forger) bool { f.r.Overruns += f.by(); return true },
	"cost":            func(f *forger) bool { f.r.Cost += f.by(); return true },
	"score":           func(f *forger) bool { f.r.Score[f.IntN(len(f.r.Score))].Value += f.by(); return true },
	"a criterion":     func(f *forger) bool { f.r.Score = f.r.Score[1:]; return true },
	"a budget's room": func(f *forger) bool {
		if len(f.r.Budgets) > 0 {
			f.r.Budgets[0].Allowed += int32(f.by())
		}
		return len(f.r.Budgets) > 0
	},
	"a budget dropped": func(f *forger) bool {
		if len(f.r.Budgets) > 0 {
			f.r.Budgets = f.r.Budgets[1:]
		}
		return f.r.Budgets != nil
	},
	"a nomination cleared": func(f *forger) bool {
		f.r.Cleared = append(f.r.Cleared, preemption.PodRef{Namespace: "default", Name: "q9"})
		return true
	},
	"a nomination not cleared": func(f *forger) bool {
		had := len(f.r.Cleared) > 0
		f.r.Cleared = nil
		return had
	},
	"kept dropped": func(f *forger) bool {
		had := len(f.r.Kept) > 0
		f.r.Kept = nil
		return had
	},
	"kept for longer": func(f *forger) bool {
		if len(f.r.Kept) > 0 {
			f.r.Kept[f.IntN(len(f.r.Kept))].Seconds += f.by()
		}
		return len(f.r.Kept) > 0
	},
	"a nomination moved": func(f *forger) bool {
		n := &f.r.Nominations[f.IntN(len(f.r.Nominations))]
		n.Node = f.otherNode(n.Node)
		return n.Node != ""
	},
	"a nomination dropped": func(f *forger) bool {
		f.r.Nominations = f.r.Nominations[1:]
		return !f.gang() || !f.tied() // where members are tied, fewer of them are true as well
	},
	"a nomination twice": func(f *forger) bool {
		f.r.Nominations = append(f.r.Nominations, f.r.Nominations[0])
		return true
	},
	"another domain": func(f *forger) bool { f.r.Domain = f.otherNode(f.r.Domain); return true },
	"no domain":      func(f *forger) bool { f.r.Domain = ""; return true },
	"a candidate dropped": func(f *forger) bool {
		if len(f.r.Candidates) < 1 || f.o.Sampling != nil || f.gang() && len(f.r.Candidates) > 1 {
			return false
		}
		i := f.IntN(len(f.r.Candidates))
		f.r.Candidates = slices.Delete(f.r.Candidates, i, i+1)
		return f.complete() || i < len(f.r.Candidates) && f.r.Candidates[i].Domain == f.r.Domain
	},
	"a candidate's victim dropped": func(f *forger) bool {
		if len(f.r.Candidates) == 0 {
			return false
		}
		c := &f.r.Candidates[f.IntN(len(f.r.Candidates))]
		c.Victims = c.Victims[1:]
		return true
	},
	"a candidate's score": func(f *forger) bool {
		if len(f.r.Candidates) == 0 {
			return false
		}
		f.r.Candidates[f.IntN(len(f.r.Candidates))].Score[2].Value--
		return true
	},
	"another best": func(f *forger) bool {
		if len(f.r.Candidates) == 0 || f.gang() {
			return false
		}
		c := &f.r.Candidates[f.IntN(len(f.r.Candidates))]
		c.Best = !c.Best
		return true
	},
	"called none": func(f *forger) bool { f.r.Verdict = "none"; return true },
	"called fits": func(f *forger) bool { f.r.Verdict = preemption.Fits; return true },
	"called fits, barely": func(f *forger) bool {
		n, d := f.r.Nominations, f.r.Domain
		f.bare(preemption.Fits)
		f.r.Nominations, f.r.Domain = n, d
		return true
	},
	"called infeasible":   func(f *forger) bool { return f.bare(preemption.Infeasible) && !f.gang() && f.complete() },
	"called not eligible": func(f *forger) bool { return f.bare(preemption.NotEligible) },
	"called waiting":      func(f *forger) bool { return f.bare(preemption.Waiting) },
	"a gang called hopeless": func(f *forger) bool {
		return f.bare(preemption.Infeasible) && f.gang() && f.complete() && f.r.Stats.Exact
	},
	"hooks": func(f *forger) bool { f.r.Stats.Hooks = true; return true },
}

// emptyForgeries change an answer that evicts nobody.
var emptyForgeries = map[string]func(f *forger) bool{
	"infeasible called not eligible": func(f *forger) bool {
		return f.r.Verdict == preemption.Infeasible && f.bare(preemption.NotEligible)
	},
	"infeasible called waiting": func(f *forger) bool {
		return f.r.Verdict == preemption.Infeasible && f.bare(preemption.Waiting)
	},
	"not eligible called infeasible": func(f *forger) bool {
		return f.r.Verdict == preemption.NotEligible && f.bare(preemption.Infeasible)
	},
	"not eligible called waiting": func(f *forger) bool {
		return f.r.Verdict == preemption.NotEligible && f.bare(preemption.Waiting)
	},
	"waiting called infeasible": func(f *forger) bool {
		return f.r.Verdict == preemption.Waiting && f.bare(preemption.Infeasible)
	},
	"waiting, a nomination dropped": func(f *forger) bool {
		had := f.r.Verdict == preemption.Waiting && len(f.r.Nominations) > 0
		f.r.Nominations = nil
		return had
	},
	"fits called infeasible": func(f *forger) bool {
		return f.r.Verdict == preemption.Fits && !f.gang() && f.bare(preemption.Infeasible)
	},
	"a gang that fits called infeasible": func(f *forger) bool {
		return f.r.Verdict == preemption.Fits && f.gang() && f.bare(preemption.Infeasible)
	},
	"a lone pod that fits moved": func(f *forger) bool {
		if f.r.Verdict != preemption.Fits || f.gang() {
			return false
		}
		f.r.Domain = f.otherNode(f.r.Domain)
		f.r.Nominations[0].Node = f.r.Domain
		return f.r.Domain != ""
	},
	"called fits, somewhere": func(f *forger) bool {
		if f.r.Verdict == preemption.Fits || len(f.q.Snapshot.Nodes) == 0 || f.gang() {
			return false
		}
		ref := preemption.PodRef{Namespace: f.q.Preemptor.Namespace, Name: f.q.Preemptor.Name}
		if len(f.q.Preemptor.Pods) > 0 {
			ref = preemption.PodRef{Namespace: f.q.Preemptor.Pods[0].Namespace, Name: f.q.Preemptor.Pods[0].Name}
		}
		f.bare(preemption.Fits)
		f.r.Domain = f.otherNode("")
		f.r.Nominations = []preemption.Nomination{{Pod: ref, Node: f.r.Domain}}
		return true
	},
	"nearest elsewhere": func(f *forger) bool {
		if f.r.Nearest == nil {
			return false
		}
		f.r.Nearest.Domain = "nowhere"
		return true
	},
	"nearest by nothing": func(f *forger) bool {
		if f.r.Nearest == nil || len(f.r.Nearest.Relaxations) == 0 {
			return false
		}
		f.r.Nearest.Relaxations = nil
		return true
	},
	"a victim of nobody": func(f *forger) bool {
		f.r.Victims = []preemption.Victim{{Kind: cluster.KindPod, Name: "x"}}
		return true
	},
}

// oneSided are those that can't be told for certain in a pass: whether a gang has a place.
var oneSided = []string{"a gang called hopeless", "a gang that fits called infeasible"}

func (f *forger) gang() bool {
	return f.q.Preemptor.Group != nil || f.q.Preemptor.Name != "" && f.q.Preemptor.Kind != cluster.KindPod
}

// complete: nothing bounds or guides the choice but the rules.
func (f *forger) complete() bool { return !f.o.HardBudgets.All && f.o.Limits == (preemption.Limits{}) }

// tied: members of a gang, or who runs, have wishes about other pods: the reasons of its
// victims are not read then.
func (f *forger) tied() bool {
	ties := func(p preemption.Pod) bool {
		return len(p.Affinity)+len(p.AntiAffinity)+len(p.Spread)+len(p.Tokens)+len(p.Devices) > 0
	}
	return slices.ContainsFunc(f.q.Snapshot.Pods, ties) || slices.ContainsFunc(f.q.Preemptor.Pods, ties)
}

// trueAllTheSame says whether a moved nomination gives another true answer: by the plain
// model the gang fits there, too, with the same victims.
func (f *forger) trueAllTheSame() bool {
	if f.tied() || !f.complete() || !f.gang() {
		return false
	}
	g, err := naive.NewGang(naive.GangOptions{Rules: string(f.o.Rules)}, f.q.Preemptor, &f.q.Snapshot)
	if err != nil {
		return false
	}
	places, gone := naive.Places{}, map[naive.PodKey]bool{}
	for _, n := range f.r.Nominations {
		places[naive.PodKey{Namespace: n.Pod.Namespace, Name: n.Pod.Name}] = n.Node
	}
	for _, v := range f.r.Victims {
		for _, p := range v.Pods {
			gone[naive.PodKey{Namespace: p.Namespace, Name: p.Name}] = true
		}
	}
	_, st := g.Misfit(places, gone)
	return st.OK() && g.Useful(places)
}

func TestForgedAnswersAreFound(t *testing.T) {
	t.Parallel()
	n := questions() * 3 / 5
	made, found, same := map[string]int{}, map[string]int{}, map[string]int{}
	for seed := range uint64(n) {
		q, o := randomQuestion(seed)
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil || len(check.Verify(&q.Snapshot, o, q.Preemptor, r)) > 0 {
			continue // TestRandomAnswersAreTrue tells of it
		}
		text, err := json.Marshal(r)
		require.NoError(t, err)
		list := forgeries
		if r.Verdict != preemption.Feasible {
			list = emptyForgeries
		}
		for _, kind := range slices.Sorted(maps.Keys(list)) {
			f := &forger{Rand: rand.New(rand.NewPCG(seed, 2)), q: q, o: o, r: &preemption.Result{}}
			require.NoError(t, json.Unmarshal(text, f.r))
			if !list[kind](f) {
				continue
			}
			if forged, err := json.Marshal(f.r); err != nil || string(forged) == string(text) {
				continue // nothing has changed
			}
			made[kind]++
			switch {
			case len(check.Verify(&q.Snapshot, o, q.Preemptor, f.r)) > 0:
				found[kind]++
			case kind == "a nomination moved" && f.trueAllTheSame():
				made[kind]--
				same[kind]++
			case slices.Contains(oneSided, kind):
			default:
				if made[kind]-found[kind] < 3 {
					t.Errorf("seed %d (%s, kind %d, options %d): %s: not found; %s", seed, o.Rules, seed/6%8, seed/48%5, kind, r.Message)
				}
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(made)) {
		t.Logf("%-36s %6d of %6d found; %d gave another true answer", kind, found[kind], made[kind], same[kind])
	}
	for _, kind := range oneSided {
		require.Greater(t, 100*found[kind], 90*made[kind], kind)
	}
	for kind := range maps.Keys(forgeries) {
		require.Positive(t, made[kind], kind)
	}
	for kind := range maps.Keys(emptyForgeries) {
		require.Positive(t, made[kind], kind)
	}
}

// TestForgedListsOfFreeNodesAreFound: of where a pod, and a gang, fits as things are.
func TestForgedListsOfFreeNodesAreFound(t *testing.T) {
	node := func(name string, cpu int64) preemption.Node {
		return preemption.Node{Name: name, Labels: map[string]string{"rack": name}, Allocatable: preemption.Resources{"cpu": cpu}}
	}
	pod := preemption.Pod{Name: "p", Requests: preemption.Resources{"cpu": 2}}
	lone := preemption.Preemptor{Pods: []preemption.Pod{pod}}
	gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "g", Topology: []cluster.TopologyConstraint{{Key: "rack"}}}, Pods: lone.Pods}
	s := &preemption.Snapshot{Nodes: []preemption.Node{node("a", 2), node("b", 2), node("c", 1), node("d", 2)}}
	o := preemption.Options{Candidates: true}
	for want, c := range map[string]struct {
		asked preemption.Preemptor
		forge func(r *preemption.Result)
	}{
		"they are not in order of name":                     {lone, func(r *preemption.Result) { slices.Reverse(r.Candidates) }},
		"nobody has to go, and it tells of victims":         {lone, func(r *preemption.Result) { r.Candidates[1].Violations = 1 }},
		"it fits there, and that is not listed":             {lone, func(r *preemption.Result) { r.Candidates = r.Candidates[:2] }},
		"4 nodes are listed, and it fits on 3":              {lone, func(r *preemption.Result) { r.Candidates = append(r.Candidates, preemption.Candidate{Domain: "e"}) }},
		"whether it is as good as a is true":                {lone, func(r *preemption.Result) { r.Candidates[1].Best = false }},
		"a, which was chosen, is not among the best":        {lone, func(r *preemption.Result) { r.Candidates[0].Best = false }},
		"the members fit in rack=d, and that is not listed": {gang, func(r *preemption.Result) { r.Candidates = r.Candidates[:2] }},
		"they are not regions of one round":                 {gang, func(r *preemption.Result) { r.Candidates = append(r.Candidates, preemption.Candidate{Domain: "e"}) }},
	} {
		r, err := o.Preempt(c.asked, s)
		require.NoError(t, err)
		require.Empty(t, check.Verify(s, o, c.asked, r))
		require.Len(t, r.Candidates, 3)
		c.forge(r)
		problems := check.Verify(s, o, c.asked, r)
		require.NotEmpty(t, problems, want)
		require.Contains(t, fmt.Sprint(problems), want)
	}
	require.Contains(t, fmt.Sprint(check.Verify(s, o, lone, nil)), "there is no answer")
	r, err := preemption.Options{}.Preempt(lone, s)
	require.NoError(t, err)
	r.Candidates = []preemption.Candidate{{Domain: "a", Best: true}}
	require.Contains(t, fmt.Sprint(check.Verify(s, preemption.Options{}, lone, r)), "candidates are for who gets a place")
}

// TestForgedNearestChangesAreFound: of what would have to change for a pod that fits nowhere.
func TestForgedNearestChangesAreFound(t *testing.T) {
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", NodeSelector: map[string]string{"disk": "ssd"}, Requests: preemption.Resources{"cpu": 2, "gpu": 1}}}}
	s := &preemption.Snapshot{Nodes: []preemption.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 1}}}}
	for want, forge := range map[string]func(list []preemption.Relaxation) []preemption.Relaxation{
		"nothing would have to change":      func([]preemption.Relaxation) []preemption.Relaxation { return nil },
		`there is no node "m"`:              func(l []preemption.Relaxation) []preemption.Relaxation { l[0].Node = "m"; return l },
		"resource cpu by 0":                 func(l []preemption.Relaxation) []preemption.Relaxation { l[1].Amount = 0; return l },
		"node affinity  by 1":               func(l []preemption.Relaxation) []preemption.Relaxation { l[0].Amount = 1; return l },
		"they are not in order of kind and": func(l []preemption.Relaxation) []preemption.Relaxation { slices.Reverse(l); return l },
		"the priority 0 is none that is": func([]preemption.Relaxation) []preemption.Relaxation {
			return []preemption.Relaxation{{Kind: preemption.RelaxPriority}}
		},
	} {
		r, err := preemption.Preempt(p, s)
		require.NoError(t, err)
		require.Empty(t, check.Verify(s, preemption.Options{}, p, r))
		require.Len(t, r.Nearest.Relaxations, 3, "%v", r.Nearest.Relaxations)
		r.Nearest.Relaxations = forge(r.Nearest.Relaxations)
		require.Contains(t, fmt.Sprint(check.Verify(s, preemption.Options{}, p, r)), want)
	}
}

var errHook = errors.New("the hook has had enough")

// fuse panics when it has been called so many times.
type fuse struct{ left int }

func (f *fuse) burn() {
	if f.left--; f.left == 0 {
		panic(errHook)
	}
}

// tired is a constraint that lets everybody in, until it has had enough.
type tired struct{ *fuse }

func (tired) Name() domain.Check { return "tired" }

func (c tired) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	c.burn()
	return c, nil
}

func (c tired) Remove(cluster.PodID, cluster.NodeID)    { c.burn() }
func (c tired) Return(cluster.PodID, cluster.NodeID)    { c.burn() }
func (c tired) Place(domain.MemberID, cluster.NodeID)   { c.burn() }
func (c tired) Unplace(domain.MemberID, cluster.NodeID) { c.burn() }
func (c tired) Clone() domain.State                     { return c }

func (c tired) Fits(domain.MemberID, cluster.NodeID) domain.Reason {
	c.burn()
	return domain.Reason{}
}

func (c tired) Scope() domain.Scope {
	c.burn()
	return domain.Scope{NodeLocal: true, Monotone: true}
}

// TestAHookThatPanicsIsTheProblem: whenever it does, and nothing else is said then.
func TestAHookThatPanicsIsTheProblem(t *testing.T) {
	low, high := int32(1), int32(9)
	cpu := preemption.Resources{cluster.CPU: 1}
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "a", Allocatable: cpu}, {Name: "b", Allocatable: cpu}},
		Pods: []preemption.Pod{
			{Name: "p", Node: "a", Priority: &low, Requests: cpu}, {Name: "q", Node: "b", Priority: &low, Requests: cpu},
			{Name: "web", Priority: &high, Requests: cpu},
		},
	}
	web := preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}
	f := &fuse{}
	for name, hooks := range map[string]*preemption.Hooks{
		"Constraints": {Constraints: []domain.Constraint{tired{f}}},
		"Filter":      {Filter: func(*preemption.Pod, *preemption.Node) bool { f.burn(); return true }},
	} {
		o := preemption.Options{Hooks: hooks}
		f.left = 0
		r, err := o.Preempt(web, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
		panics := 0
		for f.left = 1; ; panics++ {
			burns := f.left
			problems := check.Verify(s, o, web, r)
			if f.left > 0 { // it was called less often
				require.Empty(t, problems)
				break
			}
			require.Len(t, problems, 1)
			require.Equal(t, check.RuleHook, problems[0].Rule)
			var hook *preemption.HookError
			require.ErrorAs(t, problems[0].Err, &hook)
			require.ErrorIs(t, hook, errHook)
			require.Equal(t, name, hook.Hook)
			require.Contains(t, string(hook.Stack), "burn")
			f.left = burns + 1
		}
		require.Greater(t, panics, 2, name)
	}
}

// TestForgedMovesAreFound: where room is made by moves alone, what is said of where they go is read, move by move.
func TestForgedMovesAreFound(t *testing.T) {
	t.Parallel()
	levels := []int32{1, 5, 100}
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	pod := func(name, node string, level *int32, size int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: level, Requests: cores(size)}
	}
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: cores(5)}, {Name: "n2", Allocatable: cores(3)}, {Name: "n3", Allocatable: cores(1)},
			{Name: "n4", Allocatable: cores(1)}, {Name: "n5", Allocatable: cores(1)},
		},
		Pods: []preemption.Pod{
			pod("a", "n1", &levels[1], 3), pod("b", "n1", &levels[0], 1), pod("c", "n2", &levels[0], 1), pod("d", "n3", &levels[0], 1), pod("web", "", &levels[2], 5),
		},
	}
	o, web := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}, Chain: 1}, preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}
	r, err := o.Preempt(web, &s)
	require.NoError(t, err)
	move := func(name, node string) preemption.Nomination {
		return preemption.Nomination{Pod: preemption.PodRef{Name: name}, Node: node}
	}
	true1 := []preemption.Nomination{move("b", "n4"), move("a", "n2"), move("c", "n5")}
	verified := func(o preemption.Options, moves []preemption.Nomination) []check.Problem {
		forged := *r
		forged.Moves = moves
		return check.Verify(&s, o, web, &forged)
	}
	require.Empty(t, verified(o, r.Moves), r.Moves)
	require.Empty(t, verified(o, true1))
	require.Empty(t, verified(o, []preemption.Nomination{move("a", "n2"), move("c", "n4"), move("b", "n5")}), "in any order in which each fits")
	for name, moves := range map[string][]preemption.Nomination{
		"none":                              nil,
		"a victim dropped":                  true1[1:],
		"who moves for another dropped":     true1[:2],
		"twice":                             append(true1[:2:2], move("b", "n4"), move("c", "n5")),
		"to where there is no room":         {move("b", "n4"), move("a", "n5"), move("c", "n5")},
		"to the same room":                  {move("b", "n4"), move("a", "n2"), move("c", "n4")},
		"to the preemptor's room":           {move("b", "n4"), move("a", "n2"), move("c", "n1")},
		"to where it comes from":            {move("b", "n4"), move("a", "n2"), move("c", "n2")},
		"back beside the preemptor":         {move("b", "n1"), move("a", "n2"), move("c", "n5")},
		"to nowhere":                        {move("b", "n9"), move("a", "n2"), move("c", "n5")},
		"nobody":                            append(true1[:3:3], move("x", "n9")),
		"the preemptor":                     append(true1[:3:3], move("web", "n1")),
		"who moves for nobody":              append([]preemption.Nomination{move("d", "n5")}, true1...),
		"before whom it moves for":          {move("c", "n5"), move("b", "n4"), move("a", "n2")},
		"for one who may not move it":       {move("a", "n2"), move("c", "n5"), move("b", "n3"), move("d", "n4")},
		"for one who moves for another one": {move("b", "n4"), move("a", "n2"), move("c", "n3"), move("d", "n5")},
	} {
		require.NotEmpty(t, verified(o, moves), name)
	}
	o.Chain = 0
	require.NotEmpty(t, verified(o, true1), "nobody moves for another")
	o.Chain, o.NoCascade = 1, true
	require.NotEmpty(t, verified(o, true1), "nobody moves for another")
	require.NotEmpty(t, verified(preemption.Options{}, true1), "nobody asked for it")
}
