package onepod

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// sample is upstream's search, with one worker: from an offset on, until enough
// candidates are found and one of them violates no budget.
//
// Source: kube-scheduler v1.36, dry run of preemption.
func (s *Search) sample() {
	var potential []cluster.NodeID
	for n := range s.q.Index.Nodes() {
		if !s.Status[n].Unresolvable {
			potential = append(potential, n)
		} else {
			s.prune(n)
		}
	}
	wanted := s.q.Sampling.Wanted(len(potential))
	var harmless, violating []Candidate
	for i := range potential {
		n := potential[(i+int(s.q.Sampling.Offset))%len(potential)]
		c, why := s.try(n)
		if s.Status[n] = why; !why.OK() {
			continue
		}
		c.Victims = slices.Clone(c.Victims)
		list := &harmless
		if c.Score.Violations > 0 {
			list = &violating
		}
		if len(*list) < wanted {
			*list = append(*list, c)
		}
		if len(harmless) > 0 && len(harmless)+len(violating) >= wanted {
			for j := i + 1; j < len(potential); j++ {
				s.Status[potential[(j+int(s.q.Sampling.Offset))%len(potential)]] = domain.Reason{Check: ask.NotSampled}
			}
			break
		}
	}
	for _, c := range append(harmless, violating...) {
		s.consider(c)
	}
}
