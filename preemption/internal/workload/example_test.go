package workload_test

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// job is a workload of count pods, which ask for a GPU each; of queue, if it holds quota.
func job(name, queue string, priority, count int32) cluster.Workload {
	w := cluster.Workload{
		Name: name, Queue: "team", Priority: priority,
		PodSets: []cluster.PodSet{{Name: "main", Count: count, Requests: cluster.Resources{"gpu": 1}}},
	}
	if queue != "" {
		w.Admission = &cluster.Admission{ClusterQueue: queue}
		w.PodSets[0].Flavors = map[string]string{"gpu": "a100"}
	}
	return w
}

// eight is a queue with quota of eight GPUs, whose workloads give way to more important ones.
func eight(jobs ...cluster.Workload) *cluster.Snapshot {
	return &cluster.Snapshot{
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []cluster.ClusterQueue{{
			Name: "research", Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "a100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 8}},
			}}}},
		}},
		LocalQueues: []cluster.LocalQueue{{Name: "team", ClusterQueue: "research"}},
		Workloads:   jobs,
	}
}

// Five more GPUs than are left: who is evicted, and what would be lacking without.
func Example() {
	s := eight(job("big", "research", 1, 4), job("small", "research", 2, 3), job("in", "", 9, 5))
	m, err := workload.New(s.QuotaObjects(), workload.Rules{})
	if err != nil {
		panic(err)
	}
	w, err := m.Find(cluster.Preemptor{Kind: cluster.KindWorkload, Name: "in"})
	if err != nil {
		panic(err)
	}
	q, _, err := m.QueueOf(w)
	if err != nil {
		panic(err)
	}
	plan := m.Plan(w, q, workload.Objective{}, false)
	for _, t := range plan.Taken {
		fmt.Println(t.Amount, t.Resource, "of", m.Index.FlavorName(m.Index.FlavorOf(t.Column)))
	}
	for _, v := range plan.Victims {
		fmt.Printf("%s goes (%s), or %d are missing\n", v.Workload.Name, v.Reason, v.Lack.Missing)
	}
	// Output:
	// 5 gpu of a100
	// big goes (InClusterQueue), or 4 are missing
}
