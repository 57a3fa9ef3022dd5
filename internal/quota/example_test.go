package quota_test

import (
	"fmt"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Two teams of ten GPUs each share what they do not use.
func Example() {
	gpus := func(n int64) []cluster.ResourceGroup {
		return []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
			Flavor: "a100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: n}},
		}}}}
	}
	ix, err := quota.NewIndex(&cluster.Snapshot{
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []cluster.ClusterQueue{
			{Name: "research", Cohort: "company", Groups: gpus(10)},
			{Name: "product", Cohort: "company", Groups: gpus(10)},
		},
	})
	if err != nil {
		panic(err)
	}
	usage := quota.NewTree(ix).NewUsage()
	research, product, gpu := ix.QueueByName("research"), ix.QueueByName("product"), ix.Column("a100", "gpu")

	usage.Add(research, []quota.ColumnAmount{{Column: gpu, Amount: 14}})
	fmt.Println("research borrows:", usage.Borrows(research, gpu, 0))
	share := usage.Share(research, quota.Exact)
	fmt.Println("share of research:", share.PerMille(), "in a thousand")
	fmt.Println("available to product:", usage.Available(product, gpu))
	// Output:
	// research borrows: true
	// share of research: 200 in a thousand
	// available to product: 6
}
