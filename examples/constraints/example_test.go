package constraints_test

import (
	"fmt"
	"log"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/examples/constraints"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func ask(c domain.Constraint, s *preemption.Snapshot) {
	options := preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{c}}}
	result, err := options.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "new"}, s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("new", result.Message)
	for _, v := range result.Victims {
		fmt.Printf("evict %s: it cannot stay on %v\n", v.Name, v.Reason)
	}
}

// Both nodes have room for the new pod, but all three seats are taken: two by b.
func ExampleLicences() {
	const annotation = "licences.example.com/solver"
	pod := func(name, node string, priority int32, seats string) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: &priority, Annotations: map[string]string{annotation: seats}}
	}
	ask(constraints.Licences{Product: "solver", Annotation: annotation, Seats: 3}, &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1"}, {Name: "n2"}},
		Pods:  []preemption.Pod{pod("a", "n1", 5, "1"), pod("b", "n2", 5, "2"), pod("new", "", 10, "2")},
	})
	// Output:
	// new fits on n2 once 1 pod is evicted
	// evict b: it cannot stay on n2: licence solver
}

// A rack may draw 1000 W. Both nodes are in one rack that draws 900 W already;
// n2 gives up less important pods than n1.
func ExamplePower() {
	const annotation = "power.example.com/watts"
	pod := func(name, node string, priority int32, watts string) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: &priority, Annotations: map[string]string{annotation: watts}}
	}
	rack := map[string]string{"rack": "r1"}
	ask(constraints.Power{RackLabel: "rack", Annotation: annotation, Watts: 1000}, &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Labels: rack}, {Name: "n2", Labels: rack}},
		Pods: []preemption.Pod{
			pod("a", "n1", 5, "300"), pod("b", "n2", 4, "500"), pod("c", "n2", 3, "100"), pod("new", "", 10, "400"),
		},
	})
	// Output:
	// new fits on n2 once 1 pod is evicted
	// evict b: it cannot stay on n2: power r1
}
