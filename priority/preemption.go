package priority

import "fmt"

// CheckPreemptionPriority checks the pair of a workload's priority as a preemptor
// and its priority as a victim. The latter may not be lower: the error is a
// [FieldError] with ErrPreemptionPriority.
//
// The reason: otherwise two workloads of high priority and low preemption priority
// could evict each other in turn for ever. With the rule, if y evicts x, then
// priority(y) > preemption(x) >= priority(x), and as preemption(y) >= priority(y),
// x cannot evict y back.
//
// Source: KEP-5710 (early text), preemption priority.
func CheckPreemptionPriority(priority, preemption int32) error {
	if preemption >= priority {
		return nil
	}
	return &FieldError{
		Field: "preemptionPriority", Value: fmt.Sprint(preemption),
		Want: fmt.Sprintf("at least the priority, %d", priority), Err: ErrPreemptionPriority,
	}
}
