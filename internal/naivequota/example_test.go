package naivequota_test

import (
	"fmt"

	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func Example() {
	s := &cluster.Snapshot{
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "default"}},
		ClusterQueues: []cluster.ClusterQueue{{
			Name: "q", Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "default", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 4}},
			}}}},
		}},
		LocalQueues: []cluster.LocalQueue{{Name: "lq", ClusterQueue: "q"}},
		Workloads: []cluster.Workload{
			{Name: "low", Admission: &cluster.Admission{ClusterQueue: "q"}, PodSets: []cluster.PodSet{{
				Name: "main", Count: 3, Requests: cluster.Resources{"cpu": 1}, Flavors: map[string]string{"cpu": "default"},
			}}},
			{Name: "high", Queue: "lq", Priority: 1, PodSets: []cluster.PodSet{{
				Name: "main", Count: 1, Requests: cluster.Resources{"cpu": 2},
			}}},
		},
	}
	fmt.Println(naivequota.Ask(s, "", "high", naivequota.Options{}))
	// Output: {preempt map[main/cpu:default] 0 map[/low:InClusterQueue] []}
}
