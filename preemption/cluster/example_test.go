package cluster_test

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// A snapshot is checked as a whole: every problem is reported, in a fixed order.
func Example() {
	_, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n1"}, {Name: "n1"}},
		Pods:  []cluster.Pod{{Namespace: "shop", Name: "web", Requests: cluster.Resources{cluster.CPU: -500}}},
	})
	fmt.Println(err)

	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 4000}}},
		Pods:  []cluster.Pod{{Namespace: "shop", Name: "web", Node: "gone"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ix.NumNodes(), "node,", ix.NumPods(), "pod,", len(ix.Warnings()), "warning:", ix.Warnings()[0].Text)
	// Output:
	// cluster: Node "n1": Name: "n1" is not unique
	// cluster: Pod "shop/web": Requests[cpu]: -500 is not >= 0
	// 1 node, 1 pod, 1 warning: no such node: the pod counts for budgets and groups only
}
