package verify

import (
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
)

// Answer adds to l what is not true of r as the answer for p, a pod or a group of pods,
// in s under o.
func Answer(l *found.List, s *preemption.Snapshot, o preemption.Options, p *preemption.Preemptor, r *preemption.Result) {
	switch r.Verdict {
	case preemption.Feasible, preemption.Fits, preemption.NotEligible, preemption.Waiting, preemption.Infeasible:
	default:
		l.Add(found.Form, "%q is no verdict", string(r.Verdict))
	}
}
