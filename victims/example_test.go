package victims_test

import (
	"fmt"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// The units of a node, most important first: a pod of its own, then, as a whole, a
// group of mode All. Of the two, a preemptor of priority 50 may evict the group.
func Example() {
	low, high := int32(10), int32(100)
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n1"}, {Name: "n2"}},
		PodGroups: []cluster.PodGroup{{Name: "train", Mode: disruption.All, Priority: &low, MinCount: new(int32(2))}},
		Pods: []cluster.Pod{
			{Name: "train-0", Node: "n1", Group: "train", Priority: &low},
			{Name: "train-1", Node: "n2", Group: "train", Priority: &low},
			{Name: "db", Node: "n1", Priority: &high},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	show := func(list []victims.UnitID) {
		for _, u := range list {
			unit := units.Unit(u)
			fmt.Printf(" priority %d:", unit.Priority)
			for _, p := range unit.Pods {
				fmt.Printf(" %s", ix.Pod(p).Name)
			}
			fmt.Print(";")
		}
		fmt.Println()
	}
	n1 := ix.NodeByName("n1")
	fmt.Print("on n1:")
	show(units.On(n1))
	fmt.Print("below 50:")
	show(units.Potential(n1, 50))
	// Output:
	// on n1: priority 100: db; priority 10: train-0 train-1;
	// below 50: priority 10: train-0 train-1;
}
