// Command quickstart asks whom a pending pod has to evict from a cluster of two nodes.
package main

import (
	"fmt"
	"log"

	"github.com/preempt-go/preempt/preemption"
)

func main() {
	node := func(name string, cpuMilli int64) preemption.Node {
		return preemption.Node{Name: name, Allocatable: preemption.Resources{"cpu": cpuMilli}}
	}
	pod := func(name, node string, priority int32, cpuMilli int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: &priority, Requests: preemption.Resources{"cpu": cpuMilli}}
	}
	result, err := preemption.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}, &preemption.Snapshot{
		Nodes: []preemption.Node{node("n1", 4000), node("n2", 4000)},
		Pods: []preemption.Pod{
			pod("cache", "n1", 500, 2000), pod("batch-1", "n1", 10, 1000), pod("batch-2", "n1", 10, 1000),
			pod("db", "n2", 500, 3000), pod("log", "n2", 100, 1000), pod("web", "", 1000, 2000),
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("web", result.Message)
	for _, v := range result.Victims {
		fmt.Printf("evict %s of priority %d: it cannot stay on %v\n", v.Name, v.Priority, v.Reason)
	}
}
