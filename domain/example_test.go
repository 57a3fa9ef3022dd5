package domain_test

import (
	"fmt"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// A trial tells whether a pod fits on a node, also with others gone.
func Example() {
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 4000}}},
		Pods:  []cluster.Pod{{Name: "batch", Node: "n1", Requests: cluster.Resources{cluster.CPU: 3000}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pod := &cluster.Pod{Name: "web", Requests: cluster.Resources{cluster.CPU: 2000}}
	member := domain.NewMember(ix, pod, cluster.NoPod)
	trial := domain.NewNodeTrial(ix, member, nil, domain.Nominees{Self: cluster.NoPod})

	trial.Reset(ix.NodeByName("n1"))
	why := trial.Fits()
	fmt.Println("as things are:", why.Check, ix.Resource(why.Resource), "short by", why.Missing)
	trial.Remove(ix.PodByName("", "batch"))
	fmt.Println("without batch:", trial.Fits().OK())
	// Output:
	// as things are: resource cpu short by 1000
	// without batch: true
}
