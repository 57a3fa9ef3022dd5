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

// Raised is a priority as a term of a sum: raised by 2^31, so that each pod makes the sum
// larger, whatever its priority. It is at most 2^32-1: sums over 2^31 pods fit an int64.
//
// Source: kube-scheduler v1.36, pick one node for preemption: sum of priorities.
func Raised(priority int32) int64 { return int64(priority) + 1<<31 }
