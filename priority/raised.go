package priority

// Raised is a priority as a term of a sum: raised by 2^31, so that each pod makes the sum
// larger, whatever its priority. It is at most 2^32-1: sums over 2^31 pods fit an int64.
//
// Source: kube-scheduler v1.36, pick one node for preemption: sum of priorities.
func Raised(priority int32) int64 { return int64(priority) + 1<<31 }
