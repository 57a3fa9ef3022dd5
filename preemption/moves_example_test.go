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

// Room for a pod that wants a whole node is made by moves alone. On a either pod finds another place, but not both at once; those
// on b do: the answer says where each goes.
func ExampleLimits() {
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	low, high := int32(0), int32(1_000)
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "a", Allocatable: cores(4)}, {Name: "b", Allocatable: cores(4)}, {Name: "c", Allocatable: cores(2)}, {Name: "d", Allocatable: cores(1)},
		},
		Pods: []preemption.Pod{
			{Namespace: "shop", Name: "a1", Node: "a", Priority: &low, Requests: cores(2)},
			{Namespace: "shop", Name: "a2", Node: "a", Priority: &low, Requests: cores(2)},
			{Namespace: "shop", Name: "b1", Node: "b", Priority: &low, Requests: cores(1)},
			{Namespace: "shop", Name: "b2", Node: "b", Priority: &low, Requests: cores(2)},
			{Namespace: "shop", Name: "web", Priority: &high, Requests: cores(4)},
		},
	}
	r, err := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}}.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "shop", Name: "web"}, &s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Message)
	for _, m := range r.Moves {
		fmt.Println(m.Pod.Name, "moves to", m.Node)
	}
	for _, x := range r.Rejected {
		fmt.Println("elsewhere:", x.Reason)
	}
	// Output:
	// fits on b once 2 pods are evicted
	// b2 moves to c
	// b1 moves to d
	// elsewhere: not enough cpu
	// elsewhere: the victims have other places one by one, not together
}

// Either of two pods would make room for one that wants a fast disk, and neither fits elsewhere as things stand. With Chain, batch
// does: cron, which is in its way and less important, moves in turn. The trace says what becomes of each.
func ExampleOptions_chain() {
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	disk := func(kind string) map[string]string { return map[string]string{"disk": kind} }
	low, mid, high := int32(0), int32(10), int32(1_000)
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "a", Allocatable: cores(2), Labels: disk("fast")}, {Name: "b", Allocatable: cores(2), Labels: disk("fast")},
			{Name: "c", Allocatable: cores(2), Labels: disk("slow")}, {Name: "d", Allocatable: cores(1)},
		},
		Pods: []preemption.Pod{
			{Namespace: "shop", Name: "db", Node: "a", Priority: &low, Requests: cores(2), NodeSelector: disk("fast")},
			{Namespace: "shop", Name: "batch", Node: "b", Priority: &mid, Requests: cores(2)},
			{Namespace: "shop", Name: "cron", Node: "c", Priority: &low, Requests: cores(1)},
			{Namespace: "shop", Name: "web", Priority: &high, Requests: cores(2), NodeSelector: disk("fast")},
		},
	}
	web := preemption.Preemptor{Kind: cluster.KindPod, Namespace: "shop", Name: "web"}
	for chain := range 2 {
		r, err := preemption.Options{
			Objective: []preemption.CriterionName{preemption.CriterionStranded, preemption.CriterionHighest}, Chain: chain, Explain: true,
		}.Preempt(web, &s)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Victims[0].Name, "goes")
		for _, d := range r.Trace {
			for _, step := range d.Steps {
				if step.Action == "score" {
					fmt.Println(" ", d.Domain, step.Text)
				}
			}
		}
	}
	// Output:
	// db goes
	//   a score pods without a place 1, highest priority 0; shop/db has no other place
	//   b score pods without a place 1, highest priority 10; shop/batch would evict others in turn
	// batch goes
	//   a score pods without a place 1, highest priority 0; shop/db has no other place
	//   b score pods without a place 0, highest priority 10; shop/batch can move after 1 other move
}
