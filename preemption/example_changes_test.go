package preemption_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// verdict asks about pod "web".
func verdict(planner *preemption.Planner) preemption.Verdict {
	d, err := planner.Decide(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	must(err)
	return d.Verdict
}

// The pods of a class follow it.
func ExamplePlanner_SetPriorityClass() {
	planner := farm(preemption.Pod{Name: "web", Class: "high", Requests: cpus(4000)})
	must(planner.SetPriorityClass(preemption.PriorityClass{Name: "high", Value: 100}))
	fmt.Println(verdict(planner))
	must(planner.SetPriorityClass(preemption.PriorityClass{Name: "high", Value: -1}))
	fmt.Println(verdict(planner))
	must(planner.RemovePriorityClass("high"))
	_, err := planner.Decide(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	fmt.Println(err)
	// Output:
	// feasible
	// infeasible
	// cluster: Pod "web": Class: "high" is not a priority class of the snapshot
}

// A budget spares whom it covers as long as others will do.
func ExamplePlanner_SetBudget() {
	planner := farm(frontend(2000))
	must(planner.SetPod(preemption.Pod{Name: "batch-2", Node: "n1", Labels: map[string]string{"app": "etl"}, Requests: cpus(2000)}))
	victim := func() string {
		r, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
		must(err)
		return r.Victims[0].Name
	}
	must(planner.SetBudget(preemption.Budget{Name: "etl", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "etl"}}}))
	fmt.Println(victim())
	must(planner.RemoveBudget("", "etl"))
	fmt.Println(victim())
	// Output:
	// batch-1
	// batch-2
}

// Labels of a namespace decide where a term of affinity counts pods.
func ExamplePlanner_SetNamespace() {
	planner := farm(frontend(1000))
	must(planner.SetNode(preemption.Node{Name: "n3", Labels: map[string]string{"rack": "r3"}, Allocatable: cpus(4000)}))
	important := int32(1000)
	must(planner.SetPod(preemption.Pod{Namespace: "team", Name: "cache", Node: "n3", Priority: &important, Labels: map[string]string{"app": "cache"}}))
	web := frontend(1000)
	web.AntiAffinity = []cluster.AffinityTerm{{
		Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "cache"}}, TopologyKey: "rack",
		NamespaceSelector: &disruption.Selector{MatchLabels: map[string]string{"noisy": "true"}},
	}}
	web.RequiredNode = "n3"
	must(planner.SetPod(web))
	fmt.Println(verdict(planner))
	must(planner.SetNamespace(cluster.Namespace{Name: "team", Labels: map[string]string{"noisy": "true"}}))
	fmt.Println(verdict(planner))
	must(planner.RemoveNamespace("team"))
	fmt.Println(verdict(planner))
	// Output:
	// fits without preemption
	// infeasible
	// fits without preemption
}

// A tree of groups runs once enough of its groups do.
func ExamplePlanner_SetCompositePodGroup() {
	planner := farm()
	hundred, one, two := int32(100), int32(1), int32(2)
	for _, name := range []string{"prefill", "decode"} {
		must(planner.SetPodGroup(preemption.PodGroup{Name: name, Parent: "serving", Priority: &hundred, MinCount: &one}))
		must(planner.SetPod(preemption.Pod{Name: name + "-0", Group: name, Requests: cpus(2500)}))
	}
	ask := preemption.Preemptor{Kind: preemption.KindCompositePodGroup, Name: "serving"}
	for _, least := range []*int32{&one, &two} {
		must(planner.SetCompositePodGroup(cluster.CompositePodGroup{Name: "serving", Priority: &hundred, MinGroupCount: least}))
		r, err := planner.Preempt(ask)
		must(err)
		fmt.Println(r.Message)
	}
	must(planner.RemovePodGroup("", "decode"))
	must(planner.RemoveCompositePodGroup("", "serving"))
	_, err := planner.Preempt(ask)
	fmt.Println(err)
	// Output:
	// all 2 pods of serving fit in the cluster once 3 pods are evicted
	// all 2 pods of serving fit in the cluster once 3 pods are evicted
	// cluster: Preemptor "serving": Name: "serving" is not a CompositePodGroup of the snapshot
}

// team is a planner of a queue of 8 GPUs, of a cohort, with a workload that holds 6 of them and two that wait.
func team() *preemption.Planner {
	planner, err := preemption.NewPlanner(nil, preemption.Options{})
	must(err)
	must(planner.SetResourceFlavor(preemption.ResourceFlavor{Name: "a100"}))
	must(planner.SetClusterQueue(preemption.ClusterQueue{
		Name: "research", Cohort: "company", Groups: gpus(8), Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority},
	}))
	must(planner.SetLocalQueue(preemption.LocalQueue{Name: "lab", ClusterQueue: "research"}))
	for i, w := range []preemption.Workload{
		{Name: "old", Admission: &preemption.Admission{ClusterQueue: "research"}}, {Name: "urgent", Priority: 9}, {Name: "small", Priority: 5},
	} {
		w.Queue = "lab"
		w.PodSets = []preemption.PodSet{{Name: "workers", Count: []int32{6, 4, 2}[i], Requests: preemption.Resources{"gpu": 1}}}
		if w.Admission != nil {
			w.PodSets[0].Flavors = map[string]string{"gpu": "a100"}
		}
		must(planner.SetWorkload(w))
	}
	return planner
}

// The heads of queues, each with those before it accounted: quota that is held for the first
// is none for the second, until it is released.
func ExamplePlanner_Cycle() {
	planner := team()
	small, urgent := preemption.Preemptor{Kind: preemption.KindWorkload, Name: "small"}, preemption.Preemptor{Kind: preemption.KindWorkload, Name: "urgent"}
	results, err := planner.Cycle([]preemption.Preemptor{small, urgent})
	must(err)
	for _, r := range results {
		fmt.Printf("%s: %s\n", r.Preemptor.Name, r.Message)
	}
	must(planner.Apply(results[0]))
	fmt.Println("held for", planner.Snapshot().QuotaHolds[0].Name)
	must(planner.Release("", "urgent"))
	fmt.Println("held:", len(planner.Snapshot().QuotaHolds))
	// Output:
	// urgent: fits the quota of research once 1 workload is evicted
	// small: fits the quota of research without preemption
	// held for urgent
	// held: 0
}

// Quota is changed as pods and nodes are; what becomes of who asks is told.
func ExamplePlanner_SetClusterQueue() {
	planner := team()
	ask := func() {
		r, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindWorkload, Name: "urgent"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Message)
	}
	ask()
	smaller := []preemption.PodSet{{Name: "workers", Count: 2, Requests: preemption.Resources{"gpu": 1}}}
	must(planner.SetWorkload(preemption.Workload{Name: "urgent", Queue: "lab", Priority: 9, PodSets: smaller}))
	ask()
	must(planner.SetClusterQueue(preemption.ClusterQueue{Name: "research", Cohort: "company", Groups: gpus(6)}))
	ask()
	must(planner.SetCohort(preemption.Cohort{Name: "company", Groups: gpus(2)})) // which the queue may borrow
	ask()
	must(planner.SetResourceFlavor(preemption.ResourceFlavor{Name: "a100", NodeTaints: []cluster.Taint{{Key: "spot", Effect: cluster.NoSchedule}}}))
	ask()
	must(planner.SetLocalQueue(preemption.LocalQueue{Name: "lab", ClusterQueue: "research", Stopped: true}))
	ask()
	must(planner.RemoveLocalQueue("", "lab"))
	ask()
	must(planner.RemoveClusterQueue("research"))
	must(planner.RemoveCohort("company"))
	must(planner.RemoveResourceFlavor("a100"))
	must(planner.RemoveWorkload("", "urgent"))
	ask()
	// Output:
	// fits the quota of research once 1 workload is evicted
	// fits the quota of research without preemption
	// no evictions help: research has no quota for it
	// fits the quota of research without preemption
	// no evictions help: research has no quota for it
	// its LocalQueue is stopped
	// cluster: Workload "urgent": Queue: "lab" is not a LocalQueue of its namespace
	// cluster: Preemptor "urgent": Name: "urgent" is not a workload of the snapshot
}

// Whoever has to wait before it may evict others is asked again at that moment.
func ExamplePlanner_WakeAt() {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	web := frontend(4000)
	web.Created = noon
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time:  noon.Add(time.Second),
		Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(4000)}},
		Pods:  []preemption.Pod{{Name: "batch", Node: "n1", Requests: cpus(4000)}, web},
	}, preemption.Options{WaitSeconds: 60})
	must(err)
	d, err := planner.Park(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	must(err)
	fmt.Println(d.Verdict, planner.WakeAt().Format(time.TimeOnly), len(planner.Wake()))
	must(planner.SetTime(planner.WakeAt()))
	fmt.Println(planner.Wake()[0].Name, verdict(planner))
	// Output:
	// not eligible 12:01:00 0
	// web feasible
}

// A plan that is given up leaves its room to others.
func ExamplePlanner_Withdraw() {
	planner := farm(frontend(3000))
	plan, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	must(err)
	must(planner.Evict(plan))
	must(planner.SetPod(preemption.Pod{Name: "next", Requests: cpus(2000)}))
	next := preemption.Preemptor{Kind: preemption.KindPod, Name: "next"}
	for range 2 {
		d, err := planner.Decide(next)
		must(err)
		fmt.Println(d.Verdict)
		if d.Verdict != preemption.Fits {
			must(planner.Withdraw(preemption.PodRef{Name: "web"}))
		}
	}
	// Output:
	// infeasible
	// fits without preemption
}

// A question that nobody waits for any more returns the context's error, and leaves nothing behind.
func ExamplePlanner_DecideContext() {
	planner := farm(frontend(3000))
	web := preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, preempt := planner.PreemptContext(ctx, web)
	_, all := planner.PreemptAllContext(ctx, []preemption.Preemptor{web})
	_, decide := planner.DecideContext(ctx, web)
	_, why := planner.WhyNotContext(ctx, web, preemption.NodeTarget("n2"))
	for _, err := range []error{preempt, all, decide, why} {
		fmt.Println(errors.Is(err, context.Canceled))
	}
	// Output:
	// true
	// true
	// true
	// true
}
