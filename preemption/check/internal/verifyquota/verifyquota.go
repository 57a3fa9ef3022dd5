package verifyquota

import (
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
)

// Answer adds to l what is not true of the quota in r as the answer for p in s under o.
// It is asked about every preemptor: workloads, and pods and groups, in a queue or not.
func Answer(l *found.List, s *preemption.Snapshot, o preemption.Options, p *preemption.Preemptor, r *preemption.Result) {
}
