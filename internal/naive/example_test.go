package naive_test

import (
	"fmt"

	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func Example() {
	low, high := int32(1), int32(100)
	snapshot := cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 1000}}},
		Pods:  []cluster.Pod{{Name: "batch", Node: "n1", Priority: &low, Requests: cluster.Resources{cluster.CPU: 800}}},
	}
	web := cluster.Pod{Name: "web", Priority: &high, Requests: cluster.Resources{cluster.CPU: 500}}
	answer, err := naive.Preempt(naive.Options{}, cluster.Preemptor{Kind: cluster.KindPod, Pods: []cluster.Pod{web}}, &snapshot)
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Verdict, answer.Chosen)
	for _, u := range answer.Candidates[answer.Chosen].Victims {
		fmt.Println(u.Name, u.Reason.Check, u.Reason.Resources)
	}
	// Output:
	// feasible n1
	// batch resource map[cpu:300]
}
