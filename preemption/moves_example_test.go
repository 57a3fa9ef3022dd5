package preemption_test

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Either of two pods would make room for one that wants a fast disk. One is small enough for a
// node that has room, the other would be left without a place. Upstream's criteria do not tell
// them apart, and the first node by name is taken.
func ExampleCriterionName_stranded() {
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	fast := map[string]string{"disk": "fast"}
	low, high := int32(0), int32(1_000)
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "a", Allocatable: cores(4), Labels: fast}, {Name: "b", Allocatable: cores(2), Labels: fast}, {Name: "c", Allocatable: cores(2)},
		},
		Pods: []preemption.Pod{
			{Namespace: "shop", Name: "large", Node: "a", Priority: &low, Requests: cores(3)},
			{Namespace: "shop", Name: "small", Node: "b", Priority: &low, Requests: cores(2)},
			{Namespace: "shop", Name: "web", Priority: &high, Requests: cores(2), NodeSelector: fast},
		},
	}
	web := preemption.Preemptor{Kind: cluster.KindPod, Namespace: "shop", Name: "web"}
	returns := func(*preemption.Pod) bool { return true } // who is evicted wants to run again
	for _, least := range [][]preemption.CriterionName{nil, {preemption.CriterionStranded, preemption.CriterionPods}} {
		planner, err := preemption.NewPlanner(&s, preemption.Options{Objective: least})
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := planner.Preempt(web)
		if err != nil {
			fmt.Println(err)
			return
		}
		after, err := cascade.Of(planner, r, cascade.Options{Returns: returns})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s goes, then %s %v\n", r.Victims[0].Name, after.Outcomes[1].Status, after.Outcomes[1].Places)
	}
	// Output:
	// large goes, then waits []
	// small goes, then fits [{{shop small} c}]
}
