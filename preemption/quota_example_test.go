package preemption_test

import (
	"fmt"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// gpus is quota of a number of GPUs of one kind.
func gpus(n int64) []preemption.ResourceGroup {
	return []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{{
		Flavor: "a100", Resources: []preemption.ResourceQuota{{Resource: "gpu", Nominal: n}},
	}}}}
}

// A team reclaims GPUs that another one has borrowed.
func Example_quota() {
	training := func(name, queue string, priority int32) preemption.Workload {
		return preemption.Workload{
			Name: name, Priority: priority, Admission: &preemption.Admission{ClusterQueue: queue},
			PodSets: []preemption.PodSet{{Name: "workers", Count: 8, Requests: preemption.Resources{"gpu": 1}, Flavors: map[string]string{"gpu": "a100"}}},
		}
	}
	snapshot := &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []preemption.ClusterQueue{
			{
				Name: "research", Cohort: "company", Groups: gpus(16),
				Preemption: preemption.QueuePreemption{ReclaimWithinCohort: preemption.AnyPriority},
			},
			{Name: "product", Cohort: "company", Groups: gpus(8)},
		},
		LocalQueues: []preemption.LocalQueue{{Name: "lab", ClusterQueue: "research"}},
		Workloads: []preemption.Workload{
			training("search", "product", 5), training("ads", "product", 3), training("draft", "product", 1),
			{Name: "paper", Queue: "lab", PodSets: []preemption.PodSet{{Name: "workers", Count: 16, Requests: preemption.Resources{"gpu": 1}}}},
		},
	}
	result, err := preemption.Preempt(preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}, snapshot)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Message)
	for _, v := range result.Victims {
		fmt.Println("evict", v.Name, "of", v.Quota.ClusterQueue, "by", v.Quota.Reason)
	}
	// Output:
	// fits the quota of research once 2 workloads are evicted
	// evict ads of product by InCohortReclamation
	// evict draft of product by InCohortReclamation
}

// A pod of a queue needs a GPU and quota for it: the node rule alone would take the
// least important pod, which holds what its own team owns.
func Example_quotaAndNodes() {
	pod := func(name, node, queue string, priority int32) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Queue: queue, Priority: &priority, Requests: preemption.Resources{"gpu": 1}}
	}
	snapshot := &preemption.Snapshot{
		Nodes:           []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"gpu": 3}}},
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []preemption.ClusterQueue{
			{
				Name: "research", Cohort: "company", Groups: gpus(2),
				Preemption: preemption.QueuePreemption{ReclaimWithinCohort: preemption.AnyPriority},
			},
			{Name: "product", Cohort: "company", Groups: gpus(1)},
			{Name: "sales", Cohort: "company", Groups: gpus(0)},
		},
		LocalQueues: []preemption.LocalQueue{
			{Name: "research", ClusterQueue: "research"}, {Name: "product", ClusterQueue: "product"}, {Name: "sales", ClusterQueue: "sales"},
		},
		Pods: []preemption.Pod{
			pod("web", "n1", "product", 0), pod("slides", "n1", "sales", 9), pod("paper-1", "n1", "research", 1),
			pod("paper-2", "", "research", 1),
		},
	}
	result, err := preemption.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "paper-2"}, snapshot)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Message)
	for _, v := range result.Victims {
		fmt.Println("evict", v.Name, "of", v.Quota.ClusterQueue)
	}
	// Output:
	// fits in n1 and in the quota of research once 1 unit is evicted
	// evict slides of sales
}

// Two GPUs are needed. Kueue's pass takes the youngest of equal workloads until there is room, and two
// of one GPU go; one of two would do, and the search lets it go.
func ExampleOptions_searchForQuota() {
	running := func(name string, gpus int32, hour int) preemption.Workload {
		return preemption.Workload{
			Name: name, Admission: &preemption.Admission{ClusterQueue: "research", Reserved: time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC)},
			PodSets: []preemption.PodSet{{Name: "workers", Count: gpus, Requests: preemption.Resources{"gpu": 1}, Flavors: map[string]string{"gpu": "a100"}}},
		}
	}
	snapshot := &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []preemption.ClusterQueue{
			{Name: "research", Groups: gpus(4), Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority}},
		},
		LocalQueues: []preemption.LocalQueue{{Name: "lab", ClusterQueue: "research"}},
		Workloads: []preemption.Workload{
			running("sweep", 2, 8), running("draft", 1, 9), running("test", 1, 10),
			{Name: "paper", Queue: "lab", Priority: 5, PodSets: []preemption.PodSet{{Name: "workers", Count: 2, Requests: preemption.Resources{"gpu": 1}}}},
		},
	}
	for _, options := range []preemption.Options{{}, {Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionUnits}}} {
		result, err := options.Preempt(preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}, snapshot)
		if err != nil {
			panic(err)
		}
		fmt.Println(result.Message)
		for _, v := range result.Victims {
			fmt.Println("evict", v.Name)
		}
		fmt.Println("nothing is better:", result.Optimal)
	}
	// Output:
	// fits the quota of research once 2 workloads are evicted
	// evict draft
	// evict test
	// nothing is better: false
	// fits the quota of research once 1 workload is evicted
	// evict sweep
	// nothing is better: true
}
