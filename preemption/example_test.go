package preemption_test

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption"
)

// podOn is a pod that runs on a node, or waits for one.
func podOn(name, node string, priority int32, cpuMilli int64) preemption.Pod {
	return preemption.Pod{Name: name, Node: node, Priority: &priority, Requests: preemption.Resources{"cpu": cpuMilli}}
}

// fullCluster is a cluster of two full nodes in which web waits.
func fullCluster() *preemption.Snapshot {
	return &preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}},
			{Name: "n2", Allocatable: preemption.Resources{"cpu": 4000}},
		},
		Pods: []preemption.Pod{
			podOn("cache", "n1", 500, 2000), podOn("batch-1", "n1", 10, 1000), podOn("batch-2", "n1", 10, 1000),
			podOn("db", "n2", 500, 3000), podOn("log", "n2", 100, 1000),
			podOn("web", "", 1000, 2000),
		},
	}
}

var pendingWeb = preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}

func Example() {
	result, err := preemption.Preempt(pendingWeb, fullCluster())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Message)
	for _, v := range result.Victims {
		fmt.Printf("evict %s of priority %d: it cannot stay on %v\n", v.Name, v.Priority, v.Reason)
	}
	// Output:
	// fits on n1 once 2 pods are evicted
	// evict batch-1 of priority 10: it cannot stay on n1: cpu short by 1000
	// evict batch-2 of priority 10: it cannot stay on n1: cpu short by 1000
}

func ExamplePlanner_WhyNot() {
	planner, err := preemption.NewPlanner(fullCluster(), preemption.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, target := range []preemption.Target{preemption.NodeTarget("n2"), preemption.UnitTarget("cache")} {
		why, err := planner.WhyNot(pendingWeb, target)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(why.Text)
	}
	// Output:
	// evictions on n2 help, but highest priority: 500 against 10 on n1
	// cache may stay: the preemptor fits on n1 with it
}

// Options are data: a question can be kept, and asked again under other rules.
func ExampleOptions() {
	options := preemption.Options{Rules: preemption.Kubernetes136, Candidates: true}
	result, err := options.Preempt(pendingWeb, fullCluster())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Candidates {
		fmt.Print(c.Domain, ":")
		for _, criterion := range c.Score[:2] {
			fmt.Printf(" %s %d;", criterion.Name, criterion.Value)
		}
		fmt.Println()
	}
	// Output:
	// n1: violations 0; highest priority 10;
	// n2: violations 0; highest priority 500;
}

// A scheduler asks about one pod after the other, forks the model to try things out,
// and lets it follow what the cluster does.
func ExamplePlanner_Decide() {
	planner, err := preemption.NewPlanner(fullCluster(), preemption.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	decide := func(where string, planner *preemption.Planner) {
		d, err := planner.Decide(pendingWeb)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s on %s, %d pods go\n", where, d.Verdict, d.Domain, d.Pods)
	}
	decide("now", planner)
	fork := planner.Fork()
	if err := fork.Remove(preemption.PodRef{Name: "db"}); err != nil {
		fmt.Println(err)
		return
	}
	decide("without db", fork)
	decide("still", planner)
	// Output:
	// now: feasible on n1, 2 pods go
	// without db: fits without preemption on n2, 0 pods go
	// still: feasible on n1, 2 pods go
}
