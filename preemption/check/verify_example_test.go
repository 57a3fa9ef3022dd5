package check_test

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// An answer is true of the question that it was given to. Of another one, where the
// victim matters more by now and there is less room, it is not.
func ExampleVerify() {
	low, high := int32(10), int32(1000)
	cpu := func(milli int64) preemption.Resources { return preemption.Resources{cluster.CPU: milli} }
	snapshot := preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cpu(4000)}},
		Pods: []preemption.Pod{
			{Name: "batch", Node: "n1", Priority: &low, Requests: cpu(3000)},
			{Name: "web", Priority: &high, Requests: cpu(2000)},
		},
	}
	web := preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}
	result, err := preemption.Preempt(web, &snapshot)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Message, check.Verify(&snapshot, preemption.Options{}, web, result))

	snapshot.Pods[0].Priority = &high
	snapshot.Nodes[0].Allocatable = cpu(1500)
	for _, problem := range check.Verify(&snapshot, preemption.Options{}, web, result) {
		fmt.Println(problem)
	}
	// Output:
	// fits on n1 once 1 pod is evicted []
	// form: Pod /batch: its priority is 1000, not 10
	// form: Pod /batch: the priority or the start of its pod /batch is another
	// fits: Pod /web: it does not fit on n1: resource
	// eligible: Pod /batch: it may not be evicted: priority
	// score: highest priority is 1000, not 10
	// score: sum of priorities is 2147484648, not 2147483658
}
