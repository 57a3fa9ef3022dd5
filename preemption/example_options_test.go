package preemption_test

import (
	"fmt"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
)

// shown asks about s under o, and prints what is answered and who goes.
func shown(o preemption.Options, of preemption.Preemptor, s *preemption.Snapshot) {
	r, err := o.Preempt(of, s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(r.Message)
	for _, v := range r.Victims {
		fmt.Print(" ", v.Name)
	}
	fmt.Println()
}

// What keeps victims, or the preemptor itself, from what the rules would do.
func ExampleOptions_whoStays() {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	web := frontend(4000)
	web.Evictions = []time.Time{noon.Add(-time.Hour)}
	s := &preemption.Snapshot{
		Time:  noon,
		Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(4000)}},
		Pods: []preemption.Pod{
			web,
			{Name: "old", Node: "n1", Labels: map[string]string{"app": "db"}, Started: noon.Add(-time.Hour), Requests: cpus(2000)},
			{Name: "young", Node: "n1", Started: noon.Add(-time.Minute), Requests: cpus(2000)},
		},
		Budgets: []preemption.Budget{{Name: "db", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "db"}}}},
	}
	ask := preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}
	shown(preemption.Options{}, ask, s)
	shown(preemption.Options{HardBudgets: preemption.HardBudgets{All: true}}, ask, s)
	shown(preemption.Options{Limits: preemption.Limits{Pods: 1}}, ask, s)
	shown(preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 600}}, ask, s)
	shown(preemption.Options{NoCascade: true}, ask, s)
	s.Pods[2].Class = "batch" // which is not there
	shown(preemption.Options{Strict: true}, ask, s)
	// Output:
	// fits on n1 once 2 pods are evicted old young
	// no evictions help
	// no evictions help
	// no evictions help
	// it was evicted itself, and evicts nobody in turn
	// cluster: Pod "young": Class: batch is not accepted under Strict (no such priority class)
}

// Who goes, among those who may.
func ExampleOptions_whoGoes() {
	one, two := int32(1), int32(2)
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Labels: map[string]string{"host": "n1"}, Allocatable: cpus(4000)},
			{Name: "n2", Labels: map[string]string{"host": "n2"}, Allocatable: cpus(4000)},
		},
		PodGroups: []preemption.PodGroup{{Name: "gang", MinCount: &two, Priority: &two}},
		Pods: []preemption.Pod{
			frontend(3000),
			{Name: "agent", Node: "n1", Priority: &one, RequiredNode: "n1", Started: noon, Requests: cpus(2000)},
			{Name: "batch", Node: "n1", Priority: &one, Started: noon.Add(-time.Hour), Requests: cpus(1500)},
			{Name: "member", Node: "n2", Priority: &two, Group: "gang", Requests: cpus(4000)}, // the other one is gone
		},
	}
	ask := preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}
	shown(preemption.Options{}, ask, s)
	shown(preemption.Options{BrokenGroupsFree: true}, ask, s)
	exactly := preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionPods}, Search: preemption.Exact, SearchSteps: 10_000}
	shown(exactly, ask, s)
	s.Pods[0].Requests, s.Pods[0].RequiredNode = cpus(2000), "n1"
	shown(preemption.Options{}, ask, s)
	shown(preemption.Options{PreferMovable: true}, ask, s)
	// Output:
	// fits on n1 once 2 pods are evicted batch agent
	// fits on n2 once 1 pod is evicted member
	// fits on n2 once 1 pod is evicted member
	// fits on n1 once 1 pod is evicted agent
	// fits on n1 once 1 pod is evicted batch
}

// For how many members of a gang room is made, and at whose cost.
func ExampleOptions_gangs() {
	hundred, one, ten := int32(100), int32(1), int32(10)
	s := &preemption.Snapshot{
		Nodes:     []preemption.Node{{Name: "n1", Allocatable: cpus(2000)}, {Name: "n2", Allocatable: cpus(2000)}},
		PodGroups: []preemption.PodGroup{{Name: "gang", MinCount: &one, Priority: &hundred}},
		Pods: []preemption.Pod{
			{Name: "m0", Group: "gang", Requests: cpus(2000)}, {Name: "m1", Group: "gang", Requests: cpus(2000)},
			{Name: "a", Node: "n1", Priority: &one, Requests: cpus(1000)}, {Name: "b", Node: "n1", Priority: &one, Requests: cpus(1000)},
			{Name: "c", Node: "n2", Priority: &ten, Requests: cpus(2000)},
		},
	}
	ask := preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "gang"}
	shown(preemption.Options{Members: preemption.AllThatFit}, ask, s)
	shown(preemption.Options{Members: preemption.MinCount}, ask, s)
	s.Pods[4].Priority = &one
	shown(preemption.Options{Members: preemption.MinCount, LowestLevel: true, RepeatReprieve: preemption.On}, ask, s)
	// Output:
	// all 2 pods of gang fit in the cluster once 3 pods are evicted c a b
	// 1 of 2 pods of gang fits in the cluster once 2 pods are evicted a b
	// 1 of 2 pods of gang fits in the cluster once 1 pod is evicted c
}
