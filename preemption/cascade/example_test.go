package cascade_test

import (
	"fmt"
	"log"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// A pod of priority 100 evicts one of 50, which evicts one of 10, which has to wait.
func Example() {
	pod := func(name, node string, priority int32, cpu int64) preemption.Pod {
		return preemption.Pod{
			Namespace: "shop", Name: name, Node: node, Priority: &priority, Requests: preemption.Resources{cluster.CPU: cpu},
			Owner: &cluster.Owner{Kind: "ReplicaSet", Name: name},
		}
	}
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 4_000, cluster.Pods: 10}},
			{Name: "n2", Allocatable: preemption.Resources{cluster.CPU: 2_000, cluster.Pods: 10}},
		},
		Pods: []preemption.Pod{pod("web", "n1", 50, 2_000), pod("cache", "n1", 50, 2_000), pod("batch", "n2", 10, 2_000)},
	}, preemption.Options{})
	if err != nil {
		log.Fatal(err)
	}
	r, err := planner.Preempt(preemption.Preemptor{Pods: []preemption.Pod{pod("db", "", 100, 4_000)}})
	if err != nil {
		log.Fatal(err)
	}
	c, err := cascade.Of(planner, r, cascade.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range c.Outcomes {
		fmt.Printf("%d %s %s\n", o.Depth, o.Who(), o.Status)
	}
	fmt.Printf("%+v\n", c.Sum())
	// Output:
	// 0 pod shop/db preempts
	// 1 pod shop/cache preempts
	// 1 pod shop/web waits
	// 2 pod shop/batch waits
	// {Evicted:3 Moved:1 Waiting:2 Gone:0 NotAsked:0 Depth:2}
}
