package priority_test

import (
	"fmt"

	"github.com/preempt-go/preempt/priority"
)

// Objects without a class get the default one; one class waits ahead of others but
// evicts nobody.
func Example() {
	classes, err := priority.NewClasses([]priority.Class{
		{Name: "standard", Value: 100, GlobalDefault: true},
		{Name: "patient", Value: 500, Policy: priority.Never},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"", "patient", "system-node-critical", "gold"} {
		e, err := classes.Resolve(priority.Spec{Class: name})
		fmt.Printf("%q: %d %s %v\n", name, e.Priority, e.Policy, err)
	}
	// Output:
	// "": 100 PreemptLowerPriority <nil>
	// "patient": 500 Never <nil>
	// "system-node-critical": 2000001000 PreemptLowerPriority <nil>
	// "gold": 0 PreemptLowerPriority priority: class "gold": priorityClass: "gold" is not a known class
}

// A new object may leave its priority to its class but not contradict it.
func ExampleClasses_Admit() {
	classes, err := priority.NewClasses([]priority.Class{{Name: "patient", Value: 500, Policy: priority.Never}})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := classes.Admit(priority.Spec{Class: "patient"})
	fmt.Println(*s.Priority, s.Policy, err)

	_, err = classes.Admit(priority.Spec{Class: "patient", Policy: priority.PreemptLowerPriority})
	fmt.Println(err)
	// Output:
	// 500 Never <nil>
	// priority: class "patient": preemptionPolicy: PreemptLowerPriority is not Never, as the class says
}
