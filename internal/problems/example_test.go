package problems_test

import (
	"errors"
	"fmt"

	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Of many complaints the first thousand are spelled out.
func Example() {
	var errs []error
	for i := range 1500 {
		pod := &cluster.Pod{Namespace: "ml", Name: fmt.Sprint("train-", i)}
		errs = append(errs, problems.Pod(pod, "Node", `"n1"`, "empty", nil))
	}
	err := problems.Join(errs)
	list := err.(interface{ Unwrap() []error }).Unwrap()
	fmt.Println(list[0])
	fmt.Println(len(list), list[len(list)-1])
	fmt.Println(errors.Is(list[len(list)-1], cluster.ErrInvalid), problems.Join(nil))
	// Output:
	// cluster: Pod "ml/train-0": Node: "n1" is not empty
	// 1001 cluster: invalid snapshot: 500 more problems
	// true <nil>
}
